"""Films of a request: how frames are given, what is refused, and what of them stands in ids, tensors and records."""

from __future__ import annotations

import base64
import io
import json
import struct
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import PIL.Image
import pytest
from numpy.typing import NDArray

import katapi
from katapi.oracle.request import canonical
from katapi.runtime.images.delays import delays_of
from katapi.runtime.images.film import Film, frames_at
from katapi.runtime.images.picture import Size, Trace
from katapi.runtime.images.pieces import spelled
from katapi.runtime.images.videos import ProcessedVideo
from katapi.runtime.json_types import JsonObject
from katapi.runtime.stages import Stage
from tests.specs import ROOT, program_of
from tools.video_vectors import Drawn, drawn

FILM = Drawn(9, 48, 70, 3.0)
PIXELS = [drawn(FILM, index) for index in range(FILM.frames)]
PIPELINE = katapi.video_pipeline("qwen3_vl_video")
MODEL = katapi.load("qwen3-vl")
PROGRAM = program_of(ROOT / "spec" / "models" / "qwen3-vl.kata", "qwen3-vl")
SECONDS = ("<0.3 seconds>", "<1.3 seconds>", "<2.3 seconds>")


def png(pixels: NDArray[np.uint8]) -> bytes:
    file = io.BytesIO()
    PIL.Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()


FILES = [png(one) for one in PIXELS]
FRAMES = katapi.Frames(files=FILES, fps=FILM.fps)


def animated(form: str, delays: Sequence[float] = (300, 200, *[400] * 7), /, **settings: object) -> bytes:
    file = io.BytesIO()
    first, *others = [PIL.Image.fromarray(one) for one in PIXELS]
    first.save(file, form, save_all=True, append_images=others, duration=[*delays], **settings)
    return file.getvalue()


def one(film: bytes | katapi.Frames) -> ProcessedVideo:
    [made] = PIPELINE.process(film).videos
    return made


def request(*parts: JsonObject) -> bytes:
    return json.dumps({"messages": [{"role": "user", "content": [*parts]}]}).encode()


def url(data: bytes, media_type: str = "image/png") -> str:
    return f"data:{media_type};base64," + base64.b64encode(data).decode()


# ---- films


def test_files_pixels_and_times_give_the_same() -> None:
    expected = one(FRAMES)
    whole = katapi.Frames(files=np.stack(PIXELS), fps=FILM.fps)
    rising = [index / FILM.fps for index in range(FILM.frames)]
    for given in (katapi.Frames(files=PIXELS, fps=FILM.fps), katapi.Frames(files=FILES, times=rising), whole):
        made = one(given)
        assert (made.sampled, made.placeholder) == (expected.sampled, expected.placeholder)
        assert made.arrays["pixel_values_videos"].tobytes() == expected.arrays["pixel_values_videos"].tobytes()


@pytest.mark.parametrize(("form", "settings"), [("PNG", {}), ("WEBP", {"lossless": True, "exact": True}), ("GIF", {})])
def test_an_animation_has_the_times_of_its_file(form: str, settings: dict[str, object]) -> None:
    made = one(animated(form, **settings))
    assert made.footage.times == [0.0, 0.3, 0.5, 0.9, 1.3, 1.7, 2.1, 2.5, 2.9]
    assert made.footage.fps == 30 / 11
    assert made.sampled == (0, 2, 3, 5, 6, 8)
    assert spelled(made.placeholder).startswith("<0.2 seconds><|vision_start|>")
    if form != "GIF":  # which has 256 colours
        frames = one(katapi.Frames(files=PIXELS, fps=30 / 11))
        assert made.arrays["pixel_values_videos"].tobytes() == frames.arrays["pixel_values_videos"].tobytes()


def test_an_animated_png_may_have_a_picture_that_is_no_frame() -> None:
    file = io.BytesIO()
    cover, first, *others = [PIL.Image.fromarray(one) for one in (PIXELS[5], *PIXELS)]
    cover.save(file, "PNG", save_all=True, append_images=[first, *others], duration=333, default_image=True)
    made = one(file.getvalue())
    assert len(made.footage.times) == FILM.frames
    assert np.array_equal(np.asarray(made.footage.frame(3)), PIXELS[3])


def test_no_more_frames_are_asked_for_than_are_taken() -> None:
    class Lazy(list[NDArray[np.uint8]]):
        asked: set[int]

        def __getitem__(self, index: object) -> NDArray[np.uint8]:  # type: ignore[override]  # one frame at a time
            assert isinstance(index, int)
            self.asked.add(index)
            return PIXELS[index % 9]

        def __len__(self) -> int:
            return 900

    files = Lazy()
    files.asked = set()
    made = one(katapi.Frames(files=files, fps=300.0))
    assert len(made.sampled) == 6
    assert files.asked == {0, *made.sampled}
    files.asked = set()
    assert PIPELINE.measure(katapi.Frames(files=files, fps=300.0)).placeholder == made.placeholder
    assert files.asked == {0}


def test_a_function_takes_other_films_apart() -> None:
    data = b"\0\0\0\x20ftypisom and the rest"
    [made] = PIPELINE.process(data, decode=lambda film: FRAMES if film == data else katapi.Frames(files=[])).videos
    assert made.placeholder == one(FRAMES).placeholder
    film = made.record.as_json()["film"]
    assert isinstance(film, dict)
    assert film["from"] == "decode"


REFUSED: list[tuple[bytes | katapi.Frames, str]] = [
    (b"", "M101"),
    (b"\0\0\0\x20ftypisom", "M114"),
    (b"PK\x03\x04", "M114"),
    (katapi.Frames(files=[], fps=2.0), "M114"),
    (katapi.Frames(files=FILES), "M115"),
    (katapi.Frames(files=FILES, fps=1.0, times=[0.0]), "M115"),
    (katapi.Frames(files=FILES, fps=0.0), "M115"),
    (katapi.Frames(files=FILES, fps=float("nan")), "M115"),
    (katapi.Frames(files=FILES, times=[0.0] * 9), "M115"),
    (FILES[0], "M115"),
    (katapi.Frames(files=[*PIXELS[:8], PIXELS[8][1:]], fps=3.0), "M116"),
    (katapi.Frames(files=[*FILES[:8], FILES[8][:-30]], fps=3.0), "M107"),
    (katapi.Frames(files=[b"GIF"], fps=3.0), "M103"),
    (katapi.Frames(files=[PIXELS[0][..., :1]] * 4, fps=3.0), "M108"),
    (katapi.Frames(files=FILES[:1], fps=3.0), "M109"),
    (animated("PNG")[:-400], "M107"),
]


@pytest.mark.parametrize(
    ("film", "code"), REFUSED, ids=[f"{number}-{code}" for number, (_, code) in enumerate(REFUSED)]
)
def test_what_is_refused_says_so_with_its_place(film: bytes | katapi.Frames, code: str) -> None:
    with pytest.raises(katapi.MediaError) as raised:
        PIPELINE.process(FRAMES, film)
    assert (raised.value.code, raised.value.where) == (code, "videos[1]")
    assert raised.value.help


def test_a_film_has_its_frames_and_no_others() -> None:
    film = Film(Size(8, 8), 2.0, [0.0, 0.5, 1.0], Trace(1000))
    assert [picture.size for picture in frames_at(film, [2, 0])] == [Size(8, 8)] * 2
    assert film.taken == [2, 0]
    for index in (-1, 3):
        with pytest.raises(katapi.MediaError) as raised:
            frames_at(film, [index])
        assert raised.value.code == "M109"


def test_a_delay_of_a_png_is_a_fraction_of_hundredths_by_default() -> None:
    told = b"".join(
        struct.pack(">I4s20xHHxxI", 26, b"fcTL", above, below, 0) for above, below in ((7, 0), (7, 10), (1, 3), (0, 1))
    )
    assert delays_of(b"\x89PNG\r\n\x1a\n" + told, "png") == [
        Fraction(7, 100),
        Fraction(7, 10),
        Fraction(1, 3),
        Fraction(0),
    ]


def test_several_films_are_joined_in_their_order() -> None:
    gif = animated("GIF")
    both = PIPELINE.process(FRAMES, gif)
    apart = [one(FRAMES), one(gif)]
    for name in ("pixel_values_videos", "video_grid_thw"):
        assert both.arrays[name].tobytes() == np.concatenate([made.arrays[name] for made in apart]).tobytes()
    assert both.tokens == sum(made.tokens for made in apart)


# ---- requests


FORMS: list[JsonObject] = [
    {"type": "video", "video": [url(file) for file in FILES], "fps": 3},
    {"type": "video", "video": [f"{index}.png" for index in range(9)], "fps": 3.0},
    {"type": "video", "video": "film.png"},
    {"type": "video", "path": "film.png"},
    {"type": "video", "url": "https://example.org/film"},
    {"type": "video_url", "video_url": {"url": url(animated("PNG", [1000 / 3] * 9))}},
    {"type": "video_url", "video_url": url(animated("PNG", [1000 / 3] * 9))},
    {"type": "video", "base64": base64.b64encode(animated("PNG", [1000 / 3] * 9)).decode()},
    {"type": "video"},
]


@pytest.mark.parametrize("part", FORMS, ids=range(len(FORMS)))
def test_each_form_gives_the_ids_of_the_film_and_replays(part: JsonObject, tmp_path: Path) -> None:
    film = animated("PNG", [1000 / 3] * 9)
    for index, file in enumerate(FILES):
        (tmp_path / f"{index}.png").write_bytes(file)
    (tmp_path / "film.png").write_bytes(film)
    films = [film] if len(part) == 1 else []
    images = katapi.Images(films=films, folder=tmp_path, fetch=lambda address: film)
    raw = request(part, {"type": "text", "text": "<|video_pad|>"})
    x = MODEL.assemble(raw, images=images)
    text = "".join(f"{time}<|vision_start|>{'<|video_pad|>' * 4}<|vision_end|>" for time in SECONDS)
    assert f"<|vision_start|>{text}<|vision_end|><|video_pad|><|im_end|>" in x.text
    [video] = x.videos
    assert (video.tokens, video.sampled, video.path) == (12, (0, 2, 3, 5, 6, 8), ("messages", 0, "content", 0))
    pads = [at for at, token in enumerate(x.input_ids.tolist()) if token == 151656]
    assert video.span[0] < pads[0]
    assert pads[-1] == video.span[1] - 2
    assert len(pads) == 12  # and none of the text that spells one
    origins = [x.origins[at].video for at in pads]
    assert [origin.indices if origin else () for origin in origins] == [(("group", at // 4),) for at in range(12)]
    assert all(x.origins[at].image is None for at in range(len(x.input_ids)))
    assert x.pixel_inputs()["pixel_values_videos"].shape == (48, 1536)
    pack = katapi.read_pack(katapi.pack_bytes(katapi.pack_of(MODEL, katapi.execute(MODEL, raw, images=images))))
    replayed = katapi.replay(pack, MODEL)
    assert all(stage.recorded == stage.replayed for stage in replayed.stages), replayed


def test_frames_and_a_film_that_is_taken_apart_replay() -> None:
    raw = request({"type": "video"}, {"type": "image"}, {"type": "video"})
    images = katapi.Images(
        films=[katapi.Frames(files=PIXELS, fps=3.0), b"a film"], attached=[FILES[0]], decode=lambda data: FRAMES
    )
    x = MODEL.assemble(raw, images=images)
    assert [video.index for video in x.videos] == [0, 1]
    assert [image.index for image in x.images] == [0]
    pack = katapi.read_pack(katapi.pack_bytes(katapi.pack_of(MODEL, x)))
    replayed = katapi.replay(pack, MODEL)
    assert all(stage.recorded == stage.replayed for stage in replayed.stages), replayed
    seen = pack.stages[Stage.IMAGES]["images"]
    assert isinstance(seen, list | tuple)
    assert len(seen) == 3


def test_positions_take_the_grids_of_what_was_assembled() -> None:
    raw = request({"type": "image"}, {"type": "video"})
    x = MODEL.assemble(raw, images=katapi.Images(films=[FRAMES], attached=[FILES[0]]))
    layout = katapi.VISION_LAYOUTS["qwen3_vl"]
    found = katapi.batch([x]).mrope_positions(layout)
    told = katapi.batch([x]).mrope_positions(layout, images=[[(1, 14, 20)]], videos=[[(3, 4, 4)]])
    assert x.pixel_inputs()["image_grid_thw"].tolist() == [[1, 14, 20]]
    assert found.position_ids.tolist() == told.position_ids.tolist()
    assert katapi.pack([x]).mrope_positions(layout).position_ids.tolist() == found.position_ids[:, 0].tolist()


def test_a_film_is_kept_or_left_out_with_its_message() -> None:
    ask = {"role": "user", "content": [{"type": "video"}]}
    talk = [ask, {"role": "assistant", "content": "A film."}, {"role": "user", "content": "Go on."}]
    raw = json.dumps({"messages": talk}).encode()
    images = katapi.Images(films=[FRAMES])
    whole = MODEL.assemble(raw, images=images)
    assert len(whole.videos) == 1
    kept = MODEL.assemble(raw, "tail4k", images=images)
    assert kept.input_ids.tolist() == whole.input_ids.tolist()


FAULTS: list[tuple[JsonObject, str, str]] = [
    ({"type": "video", "video": []}, "R116", "messages[0].content[0].video"),
    ({"type": "video", "video": "a.gif", "fps": 2}, "R116", "messages[0].content[0].fps"),
    ({"type": "video", "video": ["a.png"], "fps": 0}, "R116", "messages[0].content[0].fps"),
    ({"type": "video", "video": ["a.png"], "fps": True}, "R113", "messages[0].content[0].fps"),
    ({"type": "video", "video": ["data:image/png;base64,a"]}, "R116", "messages[0].content[0].video[0]"),
    ({"type": "video", "video": "a.gif", "path": "b.gif"}, "R117", "messages[0].content[0].path"),
    ({"type": "video", "video": 3}, "R113", "messages[0].content[0].video"),
    ({"type": "video", "film": "a.gif"}, "R111", "messages[0].content[0].film"),
]


@pytest.mark.parametrize(("part", "code", "where"), FAULTS)
def test_a_part_that_says_of_no_video_is_refused(part: JsonObject, code: str, where: str) -> None:
    with pytest.raises(katapi.RequestError) as raised:
        MODEL.decode_request(request(part))
    assert (raised.value.code, raised.value.where) == (code, where)
    with pytest.raises(katapi.RequestError) as raised:
        canonical(PROGRAM, json.loads(request(part)))
    assert raised.value.code == code


@pytest.mark.parametrize("part", FORMS, ids=range(len(FORMS)))
def test_the_oracle_takes_each_form(part: JsonObject) -> None:
    canonical(PROGRAM, json.loads(request(part)))


GIVEN: list[tuple[list[JsonObject], katapi.Images, str]] = [
    ([{"type": "video"}, {"type": "video"}], katapi.Images(films=[FRAMES]), "M120"),
    ([{"type": "video"}], katapi.Images(attached=FILES[:1]), "M120"),
    ([{"type": "video"}, {"type": "image"}], katapi.Images(films=[FRAMES]), "M121"),
    ([{"type": "video", "video": [url(FILES[0])] * 4}], katapi.Images(), "M115"),
    ([{"type": "video", "video": "film.gif"}], katapi.Images(), "M123"),
    ([{"type": "video", "video": "https://example.org/a.mp4"}], katapi.Images(), "M122"),
    ([{"type": "video", "video": url(b"\0\0\0\x20ftypisom", "video/mp4")}], katapi.Images(), "M114"),
]


@pytest.mark.parametrize(("parts", "images", "code"), GIVEN)
def test_films_and_parts_agree_or_it_is_an_error(parts: list[JsonObject], images: katapi.Images, code: str) -> None:
    with pytest.raises(katapi.MediaError) as raised:
        MODEL.assemble(request(*parts), images=images)
    assert raised.value.code == code


def test_a_model_without_a_pipeline_takes_no_films() -> None:
    with pytest.raises(katapi.MediaError) as raised:
        katapi.load("gemma3").assemble(b'{"messages": []}', images=katapi.Images(films=[FRAMES]))
    assert raised.value.code == "M127"


def test_names_are_listed() -> None:
    assert "qwen3_vl_video" in katapi.video_pipelines()
    assert "qwen3_vl_video" not in katapi.image_pipelines()
    with pytest.raises(katapi.ArtifactError) as raised:
        katapi.video_pipeline("qwen3_vl")
    assert raised.value.code == "A141"
