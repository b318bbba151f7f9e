"""Positions of images and videos: those of transformers, in vectors; `tests/networks` compares more of them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypedDict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import katapi
from katapi import VISION_LAYOUTS, MediaError, Padding, Sample
from katapi.runtime.tensors.mrope import Grid

VECTORS = Path(__file__).parents[1] / "vectors" / "images" / "mrope.jsonl.gz"
QWEN2_VL, QWEN2_5_VL, QWEN3_VL = (VISION_LAYOUTS[name] for name in ("qwen2_vl", "qwen2_5_vl", "qwen3_vl"))
IMAGE, VIDEO = QWEN3_VL.image_id, QWEN3_VL.video_id


class Case(TypedDict):
    """What transformers gave for one sequence."""

    family: str
    case: str
    pad_side: Padding | None
    spatial_merge_size: int
    image_token_id: int
    input_ids: list[int]
    attention_mask: list[int] | None
    image_grid_thw: list[Grid]
    position_ids_thw: list[list[int]]
    rope_delta: int


CASES: list[Case] = [json.loads(line) for line in gzip.decompress(VECTORS.read_bytes()).splitlines()]


def named(case: Case) -> str:
    return f"{case['family']}-{case['case']}-{case['pad_side']}"


def real_ids(case: Case) -> list[int]:
    mask = case["attention_mask"] or [1] * len(case["input_ids"])
    return [token for token, real in zip(case["input_ids"], mask, strict=True) if real]


@pytest.mark.parametrize("case", CASES, ids=named)
def test_positions_are_those_of_the_vectors(case: Case) -> None:
    layout = VISION_LAYOUTS[case["family"]]
    assert (layout.image_id, layout.merge) == (case["image_token_id"], case["spatial_merge_size"])
    ids, grids, side = real_ids(case), case["image_grid_thw"], case["pad_side"]
    one = katapi.mrope_positions(ids, layout, grids)
    assert one.rope_delta == case["rope_delta"]
    if side is None:
        assert one.position_ids.tolist() == case["position_ids_thw"]
        return
    batch = katapi.batch([Sample.of(ids), Sample.of([1] * len(case["input_ids"]))], side, pad_id=151643)
    found = batch.mrope_positions(layout, [grids, []])
    assert batch.input_ids[0].tolist() == case["input_ids"]
    assert batch.attention_mask[0].tolist() == case["attention_mask"]
    assert found.position_ids[:, 0].tolist() == case["position_ids_thw"]
    assert found.rope_deltas.tolist() == [case["rope_delta"], 0]


def test_all_cases_are_here() -> None:
    assert len(CASES) == 25
    assert {case["family"] for case in CASES} == {"qwen2_vl", "qwen2_5_vl", "qwen3_vl"}
    assert {case["pad_side"] for case in CASES} == {None, "left", "right"}


@given(lengths=st.lists(st.integers(1, 9), min_size=1, max_size=5), padding=st.sampled_from(["left", "right"]))
def test_text_has_its_index_in_all_three_rows(lengths: list[int], padding: Padding) -> None:
    samples = [Sample.of([7] * length) for length in lengths]
    batch, row = katapi.batch(samples, padding), katapi.pack(samples)
    for found, plain in (
        (batch.mrope_positions(QWEN3_VL), batch.position_ids),
        (row.mrope_positions(QWEN3_VL), row.position_ids),
    ):
        assert found.position_ids.tolist() == [plain.tolist()] * 3
        assert found.rope_deltas.tolist() == [0] * len(lengths)
        assert found.position_ids.dtype == found.rope_deltas.dtype == np.int64
        assert found.position_ids.flags.c_contiguous


def test_a_packed_row_begins_anew_with_each_sample() -> None:
    cases = [case for case in CASES if case["family"] == "qwen2_5_vl"]
    row = katapi.pack([Sample.of(real_ids(case)) for case in cases])
    found = row.mrope_positions(QWEN2_5_VL, [case["image_grid_thw"] for case in cases])
    assert found.rope_deltas.tolist() == [case["rope_delta"] for case in cases]
    for index, case in enumerate(cases):
        alone = katapi.mrope_positions(real_ids(case), QWEN2_5_VL, case["image_grid_thw"])
        start, end = row.cu_seqlens[index : index + 2]
        assert found.position_ids[:, start:end].tolist() == alone.position_ids.tolist()


def rows(*parts: Sequence[tuple[int, int, int]]) -> list[list[int]]:
    """The three rows of positions, from the positions of tokens one by one."""
    return [list(row) for row in zip(*(token for part in parts for token in part), strict=True)]


def test_a_video_in_steps_in_seconds_and_in_frames() -> None:
    video: Grid = (3, 2, 4)  # two tokens a step
    ids = [1, *[VIDEO] * 6, 2]
    steps = katapi.mrope_positions(ids, QWEN2_VL, videos=[video])
    one = [(1, 1, 1), (1, 1, 2), (2, 1, 1), (2, 1, 2), (3, 1, 1), (3, 1, 2)]
    assert steps.position_ids.tolist() == rows([(0, 0, 0)], one, [(4, 4, 4)])
    assert steps.rope_delta == -3
    timed = katapi.mrope_positions(ids, QWEN2_5_VL, videos=[video], seconds=[1.3])  # 2.6 positions a step
    two = [(1, 1, 1), (1, 1, 2), (3, 1, 1), (3, 1, 2), (6, 1, 1), (6, 1, 2)]
    assert timed.position_ids.tolist() == rows([(0, 0, 0)], two, [(7, 7, 7)])
    assert timed.rope_delta == 0
    frames = katapi.mrope_positions([1, *[VIDEO, VIDEO, 9] * 3], QWEN3_VL, videos=[video])
    three = [[(at, at, at), (at, at, at + 1), (at + 2, at + 2, at + 2)] for at in (1, 4, 7)]
    assert frames.position_ids.tolist() == rows([(0, 0, 0)], *three)


def test_text_behind_a_long_video_as_transformers_has_it_since_5_3() -> None:
    ids = [1, *[VIDEO] * 6, 2]
    found = katapi.mrope_positions(ids, replace(QWEN2_VL, behind="side"), videos=[(3, 2, 4)])
    assert found.position_ids[:, -1].tolist() == [3, 3, 3]
    assert found.rope_delta == -4


def test_pictures_side_by_side_are_told_apart_by_their_grids() -> None:
    found = katapi.mrope_positions([IMAGE] * 3, QWEN3_VL, [(1, 2, 2), (1, 4, 2)])
    assert found.position_ids.tolist() == rows([(0, 0, 0), (1, 1, 1), (1, 2, 1)])


def test_nothing_has_no_positions() -> None:
    found = katapi.mrope_positions([], QWEN3_VL)
    assert found.position_ids.shape == (3, 0)
    assert found.rope_delta == 0


@pytest.mark.parametrize(
    ("ids", "images", "videos", "code", "where", "says"),
    [
        ([IMAGE], [(1, 3, 2)], [], "M110", "image 0", "1 × 3 × 2"),
        ([IMAGE], [(2, 2)], [], "M110", "image 0", "2 × 2 patches"),
        ([IMAGE], [(1, 2, 2), (0, 2, 2)], [], "M110", "image 1", "0 × 2 × 2"),
        ([IMAGE], [(1, 4, 2)], [], "M111", "image 0", "1 placeholder at index 0 is not that of image 0, whose"),
        (
            [1, IMAGE, IMAGE, 1],
            [(1, 2, 2), (1, 4, 2)],
            [],
            "M111",
            "image 1",
            "2 placeholders .* are not those of image 0, whose .* and image 1, whose",
        ),
        (
            [VIDEO, 1, VIDEO, VIDEO],
            [],
            [(2, 2, 2)],
            "M112",
            "videos",
            "1 placeholder at index 3 is that of no video",
        ),
        ([IMAGE, 1, IMAGE], [(1, 2, 2)], [], "M112", "images", "at index 2 is that of no image"),
        ([1], [(1, 2, 2)], [], "M112", "image 0", "nothing in the ids stands for image 0"),
        ([VIDEO], [], [(2, 2, 2)], "M112", "video 0, frame 1", "nothing in the ids stands for video 0, frame 1"),
        ([IMAGE], [], [(1, 2, 2)], "M112", "images", "1 placeholder at index 0 is that of no image"),
    ],
)
def test_grids_that_do_not_fit(
    ids: list[int], images: list[Grid], videos: list[Grid], code: str, where: str, says: str
) -> None:
    with pytest.raises(MediaError, match=says) as caught:
        katapi.mrope_positions(ids, QWEN3_VL, images, videos)
    assert (caught.value.code, caught.value.where) == (code, where)
    with pytest.raises(MediaError) as caught:
        katapi.batch([Sample.of([1]), Sample.of(ids)]).mrope_positions(QWEN3_VL, [[], images], [[], videos])
    assert (caught.value.code, caught.value.where) == (code, f"sample 1, {where}")


def test_seconds_are_for_the_layout_that_takes_them() -> None:
    for layout, seconds in ((QWEN2_5_VL, []), (QWEN2_5_VL, [1.0, 2.0]), (QWEN2_VL, [1.0]), (QWEN3_VL, [1.0])):
        with pytest.raises(MediaError) as caught:
            katapi.mrope_positions([VIDEO], layout, videos=[(1, 2, 2)], seconds=seconds)
        assert (caught.value.code, caught.value.where) == ("M113", "seconds")


def test_grids_for_another_number_of_samples() -> None:
    with pytest.raises(MediaError, match="images for 1 samples, and 2 samples") as caught:
        katapi.batch([Sample.of([1]), Sample.of([1])]).mrope_positions(QWEN3_VL, [[]])
    assert (caught.value.code, caught.value.where) == ("M112", "images")


def test_an_input_whose_image_is_one_placeholder_yet_is_refused() -> None:
    """What a template prints: the image pipeline repeats the placeholder."""
    request = b'{"messages": [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "What?"}]}]}'
    x = katapi.load("qwen3-vl").assemble(request)
    with pytest.raises(MediaError, match=r"1 placeholder at index 4 is not that of image 0, .* has 6 tokens"):
        katapi.mrope_positions(x.input_ids, QWEN3_VL, [(1, 4, 6)])


def test_grids_may_be_an_array() -> None:
    ids = [1, *[IMAGE] * 6, 2]
    grids: list[list[Grid]] = np.array([[[1, 4, 6]], [[1, 4, 6]]])  # type: ignore[assignment]  # as processors give it
    batch = katapi.batch([Sample.of(ids)] * 2)
    assert batch.mrope_positions(QWEN3_VL, grids).rope_deltas.tolist() == [-3, -3]


def test_a_layout_is_no_name() -> None:
    with pytest.raises(TypeError, match=r"layout is one of katapi\.VISION_LAYOUTS, not a str"):
        katapi.mrope_positions([1], "qwen3_vl")  # type: ignore[arg-type]
