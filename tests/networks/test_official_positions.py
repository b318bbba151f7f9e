"""Katapi's positions of images and videos are those of transformers' `get_rope_index`, padding and deltas included."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest

import katapi
from katapi import VISION_LAYOUTS, Padding, Sample, VisionLayout
from katapi.runtime.tensors.mrope import Grid
from tests.networks.official_positions import official_positions

pytestmark = pytest.mark.networks

FAMILIES = ("qwen2_vl", "qwen2_5_vl", "qwen3_vl", "qwen3_5")
START, END = 5, 6
"""Ids of text around each image."""


class Drawn(NamedTuple):
    """An input drawn at random."""

    ids: list[int]
    images: list[Grid]
    videos: list[Grid]
    seconds: list[float]


def drawn(layout: VisionLayout, random: np.random.Generator, *, longest: int) -> Drawn:
    """Texts, images and videos of up to `longest` steps, in any order."""
    found = Drawn([], [], [], [])
    for _ in range(random.integers(0, 5)):
        found.ids.extend(random.integers(10, 1000, random.integers(1, 6)).tolist())
        height, width = (2 * random.integers(1, 9, 2)).tolist()
        if random.integers(0, 2):
            found.images.append((1, height, width))
            found.ids.extend(_spans(layout.image_id, 1, height * width // 4))
        else:
            steps = int(random.integers(1, longest + 1))
            found.videos.append((steps, height, width))
            if layout.video == "frames":
                found.ids.extend(_spans(layout.video_id, steps, height * width // 4))
            else:
                found.ids.extend(_spans(layout.video_id, 1, steps * height * width // 4))
    found.ids.extend(random.integers(10, 1000, random.integers(1, 6)).tolist())
    if layout.video == "seconds":
        found.seconds.extend(random.choice([0.1, 0.4, 0.5, 1.0, 1.7, 2.0], len(found.videos)).tolist())
    return found


def _spans(placeholder: int, count: int, length: int) -> list[int]:
    return [START, *[placeholder] * length, END] * count


def equal(family: str, layout: VisionLayout, inputs: Sequence[Drawn], padding: Padding) -> bool:
    """Whether both give the same positions for a batch."""
    batch = katapi.batch([Sample.of(x.ids) for x in inputs], padding)
    found = batch.mrope_positions(
        layout, [x.images for x in inputs], [x.videos for x in inputs], [x.seconds for x in inputs]
    )
    official = official_positions(
        family,
        layout,
        batch.input_ids,
        batch.attention_mask,
        [grid for x in inputs for grid in x.images],
        [grid for x in inputs for grid in x.videos],
        [interval for x in inputs for interval in x.seconds],
    )
    return np.array_equal(found.position_ids, official.position_ids) and np.array_equal(
        found.rope_deltas[:, None], official.rope_deltas
    )


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("padding", ["left", "right"])
def test_positions_are_those_of_transformers(family: str, padding: Padding) -> None:
    layout = replace(VISION_LAYOUTS[family], behind="side")
    random = np.random.default_rng(9)
    for _ in range(40):
        inputs = [drawn(layout, random, longest=12) for _ in range(3)]
        assert equal(family, layout, inputs, padding)


@pytest.mark.parametrize("family", FAMILIES)
def test_text_goes_on_where_transformers_has_it_but_behind_videos_longer_than_their_sides(family: str) -> None:
    layout = VISION_LAYOUTS[family]
    random = np.random.default_rng(3)
    for _ in range(40):
        inputs = [drawn(layout, random, longest=1) for _ in range(3)]
        assert equal(family, layout, inputs, "left")
    long = Drawn(
        [1, *_spans(layout.video_id, *((8, 1) if layout.video == "frames" else (1, 8))), 2], [], [(8, 2, 2)], []
    )
    if layout.video == "seconds":
        long.seconds.append(1.0)
    assert equal(family, layout, [long], "left") is (layout.video == "frames")


@pytest.mark.parametrize("seconds", [0.1, 0.3, 1 / 3, 0.7, 1 / 30 * 2, 2 / 23.976, 2 / 29.97])
def test_seconds_are_cut_off_as_single_precision_cuts_them(seconds: float) -> None:
    layout = replace(VISION_LAYOUTS["qwen2_5_vl"], behind="side", tokens_per_second=25)
    video = Drawn([1, *_spans(layout.video_id, 1, 600), 2], [], [(600, 2, 2)], [seconds])
    assert equal("qwen2_5_vl", layout, [video], "left")
