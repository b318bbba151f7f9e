"""What arrives of a file is what the oracle works out, in every way in which an image can come in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from katapi import MediaError
from katapi.oracle.arrivals import arrived as by_the_oracle
from katapi.runtime.images.arrival import Arrival
from katapi.testing_images import DEEP_MODES, MODES, PictureFile, declared, red_for_blue
from tests.images.pictures import Bytes, arrived

WAYS = [
    Arrival(orientation=orientation, alpha=alpha, key=key, icc=icc, depth=depth)  # type: ignore[arg-type]  # literals
    for orientation, alpha, key, icc, depth in product(
        ("ignore", "apply"), ("drop", (10, 130, 250)), (None, (255, 255, 255)), ("ignore", "convert"), ("clip", "scale")
    )
]


IMAGE = declared(__file__, "spec/images/qwen_vl.kata")["qwen2_vl"]


def expected_of(data: bytes, way: Arrival) -> Bytes:
    return by_the_oracle(replace(IMAGE, ways={"here": way}), "here", data)


def outcome(work: Callable[[bytes, Arrival], Bytes], data: bytes, way: Arrival) -> Bytes | str:
    """The pixels, or the code of the error."""
    try:
        return work(data, way)
    except MediaError as error:
        return error.code


@pytest.mark.parametrize("mode", [*MODES, *DEEP_MODES])
@pytest.mark.parametrize("profile", [b"", red_for_blue()], ids=["plain", "profile"])
def test_the_oracle_agrees(mode: str, profile: bytes) -> None:
    for seed, way in enumerate(WAYS):
        data = PictureFile(40 + seed, 50, mode, 1 + seed % 8, seed, profile).data()
        expected = outcome(expected_of, data, way)
        found = outcome(arrived, data, way)
        assert isinstance(found, str) == isinstance(expected, str), (way, found, expected)
        assert np.array_equal(found, expected), way
