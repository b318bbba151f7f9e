"""Qwen2.5-VL with images and a video: a sample in a batch gives what the sample alone gives."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

import katapi
from katapi import VISION_LAYOUTS, Batch, PackedBatch, Padding, Sample
from katapi.runtime.tensors.mrope import Grid
from tests.networks.networks import Attention, Network, pixels, qwen2_5_vl
from tests.networks.test_networks import DIFFERENT, TOLERANCE, Logits, difference, mask_of

pytestmark = pytest.mark.networks

LAYOUT = VISION_LAYOUTS["qwen2_5_vl"]
ROWS = 151_936

Media = dict[str, NDArray[np.float32] | NDArray[np.int64]]


class Seen(NamedTuple):
    """A sample with what it shows."""

    sample: Sample
    images: list[Grid]
    videos: list[Grid]
    seconds: list[float]


def seen(request: str, images: list[Grid], videos: list[Grid], seconds: list[float]) -> Seen:
    """A conversation of Qwen3-VL, whose vocabulary is the same, with as many placeholders as the grids have tokens."""
    ids = katapi.load("qwen3-vl").assemble(request.encode()).input_ids
    shown = (ids == LAYOUT.image_id) | (ids == LAYOUT.video_id)
    repeats = np.ones_like(ids)
    repeats[shown] = [time * height * width // 4 for time, height, width in (*images, *videos)]
    return Seen(Sample.of(np.repeat(ids, repeats)), images, videos, seconds)


SEEN = [
    seen(
        """{"messages": [{"role": "user", "content": [
            {"type": "text", "text": "One "}, {"type": "image"}, {"type": "text", "text": " two "}, {"type": "image"}
        ]}]}""",
        [(1, 4, 6), (1, 8, 2)],
        [],
        [],
    ),
    seen("""{"messages": [{"role": "user", "content": "No picture."}]}""", [], [], []),
    seen(
        """{"messages": [{"role": "user", "content": [
            {"type": "image"}, {"type": "video"}, {"type": "text", "text": "What moves?"}
        ]}]}""",
        [(1, 4, 4)],
        [(3, 4, 4)],
        [1.5],
    ),
]
SAMPLES = [x.sample for x in SEEN]
GRIDS = [x.images for x in SEEN], [x.videos for x in SEEN], [x.seconds for x in SEEN]


def media_of(places: list[int]) -> Media:
    """What the vision tower gets for some samples."""
    found: Media = {}
    for name, grid_name, part in (
        ("pixel_values", "image_grid_thw", GRIDS[0]),
        ("pixel_values_videos", "video_grid_thw", GRIDS[1]),
    ):
        if grids := [grid for place in places for grid in part[place]]:
            found[name] = np.concatenate([pixels(part[place], place) for place in places])
            found[grid_name] = np.array(grids)
    return found


ALL = media_of([0, 1, 2])


@pytest.fixture(params=["eager", "sdpa"])
def network(request: pytest.FixtureRequest) -> Network:
    attention: Attention = request.param
    return qwen2_5_vl(ROWS, attention)


@pytest.fixture
def alone(network: Network) -> Logits:
    found = []
    for place, (sample, images, videos, seconds) in enumerate(SEEN):
        positions = katapi.mrope_positions(sample.input_ids, LAYOUT, images, videos, seconds).position_ids
        ids = np.array(sample.input_ids)[None]
        found.append(network.logits(ids, position_ids=positions[:, None], **media_of([place]))[0])
    return found


def padded(network: Network, batch: Batch, **changed: NDArray[np.int64]) -> Logits:
    positions = batch.mrope_positions(LAYOUT, *GRIDS).position_ids
    inputs = {"attention_mask": batch.attention_mask, "position_ids": positions, **changed}
    return batch.unpad(network.logits(batch.input_ids, **inputs, **ALL))


def packed(network: Network, row: PackedBatch, mask: NDArray[np.bool_], positions: NDArray[np.int64]) -> Logits:
    ids = row.input_ids[None]
    logits = network.logits(ids, attention_mask=mask_of(mask), position_ids=positions[:, None], **ALL)
    return row.unpack(logits[0])


@pytest.mark.parametrize("padding", ["left", "right"])
def test_a_padded_sample_gives_the_logits_of_the_sample_alone(
    network: Network, alone: Logits, padding: Padding
) -> None:
    assert difference(padded(network, katapi.batch(SAMPLES, padding)), alone) < TOLERANCE


def test_a_packed_sample_gives_the_logits_of_the_sample_alone(network: Network, alone: Logits) -> None:
    row = katapi.pack(SAMPLES)
    positions = row.mrope_positions(LAYOUT, *GRIDS).position_ids
    assert difference(packed(network, row, row.attention_mask(), positions), alone) < TOLERANCE
    joined = np.tril(np.ones_like(row.attention_mask()))
    assert difference(packed(network, row, joined, positions), alone) > DIFFERENT


@pytest.mark.parametrize("padding", ["left", "right"])
def test_positions_of_text_in_the_place_of_those_of_images_are_noticed(
    network: Network, alone: Logits, padding: Padding
) -> None:
    batch = katapi.batch(SAMPLES, padding)
    flat = np.stack([batch.position_ids] * 3)
    assert difference(padded(network, batch, position_ids=flat), alone) > DIFFERENT


@pytest.mark.parametrize("padding", ["left", "right"])
def test_rows_and_columns_in_each_others_place_are_noticed(network: Network, alone: Logits, padding: Padding) -> None:
    batch = katapi.batch(SAMPLES, padding)
    positions = batch.mrope_positions(LAYOUT, *GRIDS).position_ids[[0, 2, 1]]
    assert difference(padded(network, batch, position_ids=positions), alone) > DIFFERENT


def test_a_mask_that_shows_the_padding_is_noticed(network: Network, alone: Logits) -> None:
    batch = katapi.batch(SAMPLES, "left")
    mask = np.ones_like(batch.attention_mask)
    assert difference(padded(network, batch, attention_mask=mask), alone) > DIFFERENT


def test_the_next_token_goes_on_at_the_delta() -> None:
    """A token behind a sample has the position that the sample with it has there."""
    deltas = katapi.batch(SAMPLES).mrope_positions(LAYOUT, *GRIDS).rope_deltas
    for x, delta in zip(SEEN, deltas.tolist(), strict=True):
        ids = [*x.sample.input_ids.tolist(), 1]
        longer = katapi.mrope_positions(ids, LAYOUT, x.images, x.videos, x.seconds).position_ids
        assert longer[:, -1].tolist() == [len(x.sample) + delta] * 3
