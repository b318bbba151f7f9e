"""The videos of Qwen: what transformers' processors make of drawn films, case by case (`tools/video_vectors.py`)."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import NotRequired, TypedDict

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import katapi
from katapi.oracle.reels import printed
from katapi.runtime.images.pieces import spelled
from tools.video_vectors import Drawn, drawn

_FILE = Path(__file__).parent.parent / "vectors" / "videos" / "qwen.json"


class Case(TypedDict):
    """What came out of a film."""

    pipeline: str
    film: dict[str, float]
    error: NotRequired[str]
    grid: list[list[int]]
    shape: list[int]
    sha256: str
    frames: list[int]
    seconds_per_grid: float
    placeholder: NotRequired[dict[str, object]]


CASES: list[Case] = json.loads(_FILE.read_text("utf-8"))["cases"]


def _film(case: Case) -> tuple[Drawn, katapi.Frames]:
    told = case["film"]
    film = Drawn(int(told["frames"]), int(told["height"]), int(told["width"]), told["fps"])
    return film, katapi.Frames(files=[drawn(film, index) for index in range(film.frames)], fps=film.fps)


def _named(case: Case) -> str:
    return f"{case['pipeline']}-{'-'.join(map(str, case['film'].values()))}"


@given(st.one_of(st.floats(0, 1e6), st.floats(allow_nan=False, allow_infinity=False)), st.integers(0, 9))
@example(0.25, 1)
@example(0.35, 1)
@example(2.675, 2)
def test_numbers_are_printed_as_python_prints_them(number: float, digits: int) -> None:
    assert printed(number, digits) == f"{number:.{digits}f}"


@pytest.mark.parametrize("case", CASES, ids=_named)
def test_films_give_what_the_official_processor_gives(case: Case) -> None:
    film, frames = _film(case)
    names = [case["pipeline"]]
    if case["pipeline"].startswith("qwen2_vl"):
        names.append(case["pipeline"].replace("qwen2_vl", "qwen2_5_vl"))
    for name in names:
        pipeline = katapi.video_pipeline(name)
        if case.get("error") == "IndexError":  # of frames of which one is behind the film: it is left out here
            (made,) = pipeline.process(frames).videos
            assert len(made.sampled) == len({*made.sampled}) == 2 * made.arrays["video_grid_thw"][0, 0]
            assert max(made.sampled) < film.frames
            continue
        if "error" in case:
            with pytest.raises(katapi.MediaError) as raised:
                pipeline.process(frames)
            assert raised.value.code == "M109"
            continue
        (made,) = pipeline.process(frames).videos
        values = made.arrays["pixel_values_videos"]
        assert made.arrays["video_grid_thw"].tolist() == case["grid"]
        assert list(values.shape) == case["shape"]
        assert list(made.sampled) == case.get("frames", list(range(film.frames)))
        assert hashlib.sha256(np.ascontiguousarray(values, "<f4").tobytes()).hexdigest() == case["sha256"]
        if "second_per_grid_ts" in made.arrays:
            assert made.arrays["second_per_grid_ts"].tolist() == [case["seconds_per_grid"]]
        assert made.tokens == np.prod(case["grid"]) // 4
        if "placeholder" in case:
            text = spelled(made.placeholder)
            digest = hashlib.sha256(text.encode()).hexdigest()
            assert case["placeholder"] == {"length": len(text), "sha256": digest}
        measured = pipeline.measure(frames)
        assert (measured.tokens, measured.placeholder) == (made.tokens, made.placeholder)
        assert measured.shapes == {key: array.shape for key, array in made.arrays.items()}
