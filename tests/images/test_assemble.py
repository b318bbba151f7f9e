"""Images of a request: their placeholders among the ids, their tensors, and what a caller must allow."""

from __future__ import annotations

import gc
import hashlib
import json
import os
import weakref
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import katapi
from katapi.runtime.images.picture import Picture
from katapi.runtime.images.pieces import Piece, control
from katapi.runtime.images.pieces import text as piece_text
from katapi.runtime.images.plan import Plan
from katapi.runtime.json_types import Json
from katapi.runtime.origins import ImageOrigin
from katapi.runtime.stages import Stage
from tests.images.shown import PAD, A, B, C, image, model, png, request, said, showing, text, user

MODEL = model()
TALK = request(user(text("see "), image(A), image()), said("ok"), user(image(), text("?")))
ATTACHED = katapi.Images(attached=[B, C])


def refused(raw: bytes, images: katapi.Images | None = None) -> katapi.MediaError:
    with pytest.raises(katapi.MediaError) as caught:
        MODEL.assemble(raw, images=images)
    return caught.value


def test_each_image_has_its_placeholder_in_its_place() -> None:
    x = MODEL.assemble(TALK, images=ATTACHED)
    ids = x.input_ids
    assert [image.path for image in x.images] == [(*("messages", m, "content"), p) for m, p in ((0, 1), (0, 2), (2, 0))]
    assert [image.tokens for image in x.images] == [4, 6, 8]
    for one in x.images:
        first, end = one.span
        assert (ids[first:end] == PAD).all()
        assert end - first == one.tokens
        assert ids[first - 1] == 151652
        assert ids[end] == 151653
    assert (ids == PAD).sum() == sum(one.tokens for one in x.images)
    assert [image.given.kind for image in x.images] == ["request", "attached", "attached"]


def test_its_tensors_are_those_of_the_pipeline() -> None:
    x = MODEL.assemble(TALK, images=ATTACHED)
    expected = katapi.image_pipeline("qwen2_vl").process(A, B, C)
    found = x.pixel_inputs()
    assert list(found) == list(expected.arrays)
    for name, array in expected.arrays.items():
        assert np.array_equal(found[name], array)
        assert found[name].dtype == array.dtype
    assert len(found["pixel_values"]) == 4 * (x.input_ids == PAD).sum()


def test_origins_tell_the_image_and_the_row() -> None:
    x = MODEL.assemble(TALK, images=ATTACHED)
    third = x.images[2]
    first, end = third.span
    path = ("messages", 2, "content", 0)
    rows = [ImageOrigin(2, path, (("row", row),)) for row in (0, 0, 1, 1, 2, 2, 3, 3)]
    assert [origin.image for origin in x.origins[first:end]] == rows
    assert {origin.message for origin in x.origins[first:end]} == {2}
    outside = [at for at in range(len(x)) if not any(one.span[0] <= at < one.span[1] for one in x.images)]
    assert all(x.origins[at].image is None for at in outside)
    assert not any(x.sampled[slice(*one.span)].any() for one in x.images)


def test_text_that_spells_a_placeholder_stays_text() -> None:
    x = MODEL.assemble(request(user(text("<|image_pad|><|vision_start|>"), image(A))))
    assert (x.input_ids == PAD).sum() == 4


def test_without_bytes_the_block_is_printed() -> None:
    raw = request(user(text("see "), image(), image()))
    plain, own = katapi.load("qwen3-vl").render(raw), MODEL.assemble(raw)
    assert own.rendered == plain
    assert own.images == ()
    assert own.pixel_inputs() == {}
    assert own.record.images == ()
    assert MODEL.render(TALK).text.count("<|image_pad|>") == 3


def test_a_model_without_a_pipeline_prints_blocks() -> None:
    blind = replace(MODEL, _shown=None)
    raw = request(user(image(A), {"type": "image", "url": "https://a.b/c"}))
    assert blind.assemble(raw).images == ()
    assert blind.assemble(raw).text == blind.render(raw).text
    with pytest.raises(katapi.MediaError) as caught:
        blind.assemble(request(user(image())), images=katapi.Images(attached=[A]))
    assert caught.value.code == "M127"


@pytest.mark.parametrize("attached", [[B], [B, C, A]])
def test_as_many_are_attached_as_parts_have_no_source(attached: list[bytes]) -> None:
    error = refused(TALK, katapi.Images(attached=attached))
    assert error.code == "M120"
    assert error.where == ("messages[2].content[0]" if len(attached) == 1 else "attached[2]")


def test_some_with_bytes_and_some_without_is_an_error() -> None:
    error = refused(TALK)
    assert (error.code, error.where) == ("M121", "messages[0].content[2]")


def test_an_image_that_cannot_be_read_is_told_by_its_part() -> None:
    error = refused(request(user(text("a"), image(b"no image"))))
    assert error.where == "messages[0].content[1]"
    assert error.code in {f"M10{number}" for number in range(10)}
    damaged = refused(request(user(image(png(300, 300)[:-40]))))
    assert damaged.where == "messages[0].content[0]"


def test_a_media_type_that_lies_is_an_error() -> None:
    part = {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": ""}}
    part["source"]["data"] = json.loads(json.dumps(image(A)))["image_url"]["url"].partition(",")[2]  # type: ignore[index]  # a literal
    assert refused(request(user(part))).where == "messages[0].content[0]"  # type: ignore[arg-type]  # JSON is invariant


# ---- addresses and files


def test_an_address_needs_a_fetch_function_whose_result_is_recorded() -> None:
    raw = request(user({"type": "image_url", "image_url": {"url": "https://a.b/c.png"}}))
    error = refused(raw)
    assert error.code == "M122"
    assert "fetch" in error.help
    asked: list[str] = []

    def fetch(address: str) -> bytes:
        asked.append(address)
        return A

    x = MODEL.assemble(raw, images=katapi.Images(fetch=fetch))
    assert asked == ["https://a.b/c.png"]
    [entry] = x.record.images
    assert (entry["from"], entry["name"], entry["size"]) == ("address", "https://a.b/c.png", len(A))
    assert entry["sha256"] == hashlib.sha256(A).hexdigest()


def test_the_bytes_of_an_image_are_hashed_once_for_a_record(monkeypatch: pytest.MonkeyPatch) -> None:
    digest = f"{0:064}"
    monkeypatch.setattr("katapi.runtime.images.pipeline.digest_of_file", lambda data: f"sha256:{digest}")
    [entry] = MODEL.assemble(request(user(image(A)))).record.images
    assert entry["sha256"] == digest, "both entries are one digest"


def test_pixels_go_with_the_last_that_refers_to_their_input() -> None:
    gc.collect()
    gc.disable()
    try:
        x = MODEL.assemble(request(user(image(A))))
        processed = weakref.ref(x.images[0].given.processed)
        assert x.record.images
        assert x.pixel_inputs()
        del x
        assert processed() is None, "a cycle keeps the arrays"
    finally:
        gc.enable()


@pytest.mark.parametrize("answer", ["text", None, OSError("no route")])
def test_a_fetch_function_that_gives_no_bytes_is_told(answer: object) -> None:
    def fetch(address: str) -> bytes:
        if isinstance(answer, OSError):
            raise answer
        return answer  # type: ignore[return-value]  # what is tested

    raw = request(user({"type": "image", "url": "https://a.b/c.png"}))
    assert refused(raw, katapi.Images(fetch=fetch)).code == "M124"


def test_a_file_is_read_from_the_folder_alone(tmp_path: Path) -> None:
    folder = tmp_path / "allowed"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "a.png").write_bytes(A)
    (tmp_path / "b.png").write_bytes(B)
    (folder / "out").symlink_to(tmp_path / "b.png")
    (folder / "in").symlink_to(folder / "deep" / "a.png")
    (folder / "circle").symlink_to(folder / "circle")
    with (folder / "long.png").open("wb") as file:
        file.truncate(1 << 40)  # more than any memory, and nothing on the disk
    os.mkfifo(folder / "pipe")
    images = katapi.Images(folder=folder)

    def ask(path: str) -> bytes:
        return request(user({"type": "image", "image": path}))

    for path in ("deep/a.png", str(folder / "deep" / "a.png"), (folder / "deep" / "a.png").as_uri(), "in"):
        x = MODEL.assemble(ask(path), images=images)
        assert (x.images[0].given.kind, x.images[0].given.data) == ("file", A)
    for path in ("../b.png", "deep/../../b.png", "deep/../deep/a.png", str(tmp_path / "b.png"), "out"):
        assert refused(ask(path), images).code == "M123", path
    too_long = refused(ask("long.png"), images)
    assert (too_long.code, too_long.where) == ("M102", "messages[0].content[0]")
    for path in ("deep", "nowhere.png", "pipe", "circle"):
        assert refused(ask(path), images).code == "M123", path
    assert refused(ask("deep/a.png")).code == "M123"


def test_another_way_of_arriving_can_be_chosen() -> None:
    x = MODEL.assemble(request(user(image(A))), images=katapi.Images(load="load_image"))
    assert x.images[0].record.way == "load_image"


# ---- what a template does with them


def test_an_image_that_the_template_does_not_print_is_an_error() -> None:
    glm = showing("glm-4.5v", lambda: katapi.image_pipeline("qwen2_vl"))
    with pytest.raises(katapi.MediaError) as caught:
        glm.assemble(request(user(image(A))))
    assert caught.value.code == "M126", "the vocabulary of GLM has no <|image_pad|>"
    assert caught.value.where == "messages[0].content[0]"


def test_a_placeholder_with_texts_in_it() -> None:
    def rows(_: Plan, source: Picture) -> Iterable[Piece]:
        for row in range(source.height // 28):
            yield piece_text(" and" if row else "first", row=row)
            yield control("<|image_pad|>", source.width // 28, row=row)
        yield piece_text(" end")

    own = model(rows)
    x = own.assemble(request(user(text("see "), image(A), text("it"))))
    assert x.text.split("user\n")[1].startswith(
        "see <|vision_start|>first<|image_pad|><|image_pad|> and<|image_pad|><|image_pad|> end<|vision_end|>it"
    )
    [one] = x.images
    inside = [x.origins[at] for at in range(*one.span)]
    assert all(origin.image is not None and origin.image.index == 0 for origin in inside)
    assert {origin.kind for origin in inside} == {"control", "literal"}
    assert [origin.image.indices for origin in inside if origin.image][-1] == ()
    assert one.tokens == 4


def test_a_typed_request_is_not_changed_by_its_images() -> None:
    typed = MODEL.decode_request(TALK)
    x = MODEL.assemble(typed, images=ATTACHED)
    y = MODEL.assemble(typed, images=katapi.Images(attached=[C, B]))
    assert [one.tokens for one in x.images] == [4, 6, 8]
    assert [one.tokens for one in y.images] == [4, 8, 6]
    assert typed == MODEL.decode_request(TALK)
    assert MODEL.assemble(x.request).input_ids.tolist() == x.input_ids.tolist()


def test_an_execution_that_fails_at_an_image_has_a_record() -> None:
    done = katapi.execute(MODEL, TALK, images=ATTACHED)
    assert done.input is not None
    stage = done.record.stages[Stage.IMAGES]
    assert len(stage["images"]) == 3  # type: ignore[arg-type]  # a list
    failed = katapi.execute(MODEL, TALK)
    assert failed.error is not None
    assert failed.error.code == "M121"
    assert [*failed.record.stages][-1] is Stage.BUDGET


@pytest.mark.parametrize("attached", [A, "abc", iter([A]), [None], ["a.png"], [Path("a.png")], [5]])
def test_what_is_no_list_of_the_bytes_of_images_is_told_at_once(attached: object) -> None:
    with pytest.raises(TypeError, match="bytes"):
        katapi.Images(attached=attached)  # type: ignore[arg-type]  # what is tested


def test_other_arguments_that_are_none_are_told_at_once() -> None:
    with pytest.raises(ValueError, match="folder"):
        katapi.Images(folder="")
    with pytest.raises(TypeError, match=r"katapi\.Images, not a list"):
        MODEL.assemble(TALK, images=[A])  # type: ignore[arg-type]  # what is tested


def test_bytes_that_can_change_are_taken_as_they_are() -> None:
    data = bytearray(A)
    x = MODEL.assemble(request(user(image())), images=katapi.Images(attached=[data]))  # type: ignore[list-item]  # what is tested
    data[:] = B
    assert x.images[0].given.data == A
    assert [one.data for one in x.record.media] == [A]


def test_a_file_that_several_parts_name_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.png").write_bytes(A)
    opened: list[str] = []
    own = os.open

    def counted(path: str, flags: int) -> int:
        opened.append(str(path))
        return own(path, flags)

    monkeypatch.setattr("katapi.runtime.images.given.os.open", counted)
    part: Json = {"type": "image", "path": "a.png"}
    assert len(MODEL.assemble(request(user(part, part)), images=katapi.Images(folder=tmp_path)).images) == 2
    assert len(opened) == 1


def test_a_file_that_says_of_no_length_is_not_read_further_than_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.png").write_bytes(A)
    pipeline = katapi.image_pipeline("qwen2_vl")
    reading = replace(pipeline.reading, limits=replace(pipeline.reading.limits, bytes=len(A) - 20))
    short = showing("qwen3-vl", lambda: replace(pipeline, reading=reading))
    empty = os.stat_result((*os.stat(tmp_path)[:6], 0, *os.stat(tmp_path)[7:10]))
    monkeypatch.setattr("katapi.runtime.images.given.stat.S_ISREG", lambda mode: True)
    monkeypatch.setattr("katapi.runtime.images.given.os.fstat", lambda number: empty)
    with pytest.raises(katapi.MediaError) as caught:
        short.assemble(request(user({"type": "image", "path": "a.png"})), images=katapi.Images(folder=tmp_path))
    assert caught.value.code == "M102"
    assert f"{len(A) - 19}" in caught.value.message, "no more of it was read"
