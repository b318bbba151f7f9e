"""Resizing in numpy beside torch and OpenCV themselves: the same bits for pictures of any size."""

from __future__ import annotations

import os

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from katapi.runtime.images.cubic import opencv_cubic, torch_bicubic
from katapi.runtime.images.resampling import Kernel, resize_bytes

os.environ["OPENCV_IPP"] = "avx2"  # OpenCV reads it when it is imported: IPP has other code for AVX-512, of other bits

import cv2

pytestmark = pytest.mark.networks

without_avx2 = pytest.mark.skipif(
    torch.backends.cpu.get_cpu_capability() not in ("AVX2", "AVX512"), reason="torch runs other code without AVX2"
)
without_ipp = pytest.mark.skipif(
    not cv2.ipp.useIPP() or "AVX2" not in cv2.ipp.getIppVersion(), reason="this OpenCV has no IPP for AVX2"
)

small, large = st.integers(1, 60), st.integers(1, 700)
lengths = small | large
seeds = st.integers(0, 2**32 - 1)


def drawn(height: int, width: int, seed: int) -> NDArray[np.uint8]:
    """Planes of random pixels; every second one of black and white alone."""
    planes = np.random.default_rng(seed).integers(0, 256, (3, height, width), np.uint8)
    return np.where(planes > 127, 255, 0).astype(np.uint8) if seed % 2 else planes


@without_avx2
@given(height=lengths, width=lengths, to_height=lengths, to_width=lengths, kernel=st.sampled_from(Kernel), seed=seeds)
@settings(deadline=None)
def test_bytes(height: int, width: int, to_height: int, to_width: int, kernel: Kernel, seed: int) -> None:
    planes = drawn(height, width, seed)
    assume((to_height, to_width) != (1, 1))  # torch fails on a result of one pixel
    expected = torch.nn.functional.interpolate(
        torch.from_numpy(planes)[None], size=(to_height, to_width), mode=kernel.value, antialias=True
    )
    assert np.array_equal(resize_bytes(planes, to_height, to_width, kernel), expected.numpy()[0])


@without_avx2
@given(height=lengths, width=lengths, to_height=lengths, to_width=lengths, seed=seeds)
@settings(deadline=None)
def test_torch_bicubic(height: int, width: int, to_height: int, to_width: int, seed: int) -> None:
    planes = (drawn(height, width, seed).astype(np.float32) - np.float32(127.5)) / np.float32(127.5)
    expected = torch.nn.functional.interpolate(
        torch.from_numpy(planes)[None], size=(to_height, to_width), mode="bicubic"
    )
    assert np.array_equal(torch_bicubic(planes, to_height, to_width), expected.numpy()[0])


@without_ipp
@given(height=lengths, width=lengths, to_height=lengths, to_width=lengths, seed=seeds)
@settings(deadline=None)
def test_opencv_cubic(height: int, width: int, to_height: int, to_width: int, seed: int) -> None:
    pixels = np.ascontiguousarray(drawn(height, width, seed).transpose(1, 2, 0)).astype(np.float32)
    expected = cv2.resize(pixels, (to_width, to_height), interpolation=cv2.INTER_CUBIC)
    assert np.array_equal(opencv_cubic(pixels, to_height, to_width), expected)
