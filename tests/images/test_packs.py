"""Packs of executions with images: what is in them, that they replay, and where two of them part."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

import katapi
from katapi.inspecting.from_pack import view_of_pack
from katapi.packs.archive import read_archive
from katapi.packs.replay import Verdict
from katapi.runtime.budget.policy import Allotment, Misfit, Order, Section
from katapi.runtime.images.given import Images
from katapi.runtime.stages import Failure, Stage
from tests.images.shown import A, B, C, image, model, png, request, said, text, url, user

MODEL = model()
TALK = request(user(text("see "), image(A), image()), said("ok"), user(image(), text("?")))


def executed(raw: bytes, images: Images | None = None, policy: katapi.Budget | None = None) -> katapi.Execution:
    return katapi.execute(MODEL, raw, policy, images=images)


def packed(raw: bytes, images: Images | None = None) -> katapi.Pack:
    return katapi.read_pack(katapi.pack_bytes(katapi.pack_of(MODEL, executed(raw, images))))


def photo(quality: int, orientation: int | None = None) -> bytes:
    """A photograph, more or less compressed, perhaps with a note that it is to be rotated."""
    picture = Image.linear_gradient("L").resize((84, 56)).convert("RGB")
    exif = picture.getexif()
    if orientation is not None:
        exif[0x0112] = orientation
    out = io.BytesIO()
    picture.save(out, "JPEG", quality=quality, exif=exif)
    return out.getvalue()


def test_images_beside_the_request_are_in_the_pack() -> None:
    pack = packed(TALK, Images(attached=[B, C]))
    assert [(one.kind, one.name, one.data) for one in pack.media] == [("attached", "0", B), ("attached", "1", C)]
    files = read_archive(katapi.pack_bytes(pack))
    assert sum(name.startswith("media/") for name in files) == 2
    images = pack.stages[Stage.IMAGES]["images"]
    assert isinstance(images, list)
    assert [one["path"] for one in images if isinstance(one, dict)] == [[*path] for path in PATHS]
    slim = katapi.pack_of(MODEL, executed(TALK, Images(attached=[B, C])), embed_images=False)
    assert [one.data for one in slim.media] == [None, None]


def test_images_that_are_not_those_of_the_record_are_refused() -> None:
    pack = packed(request(user(image())), Images(attached=[A]))
    [own] = pack.media
    other = own._replace(data=B, sha256=hashlib.sha256(B).hexdigest())
    for media in ((other,), (own._replace(name="1"),), ()):
        with pytest.raises(katapi.ReplayError) as caught:
            katapi.read_pack(katapi.pack_bytes(replace(pack, media=media)))
        assert (caught.value.code, caught.value.where) == ("Y103", "stages/images.json")


Case = Callable[[Path], tuple[bytes, Images]]
PATHS = [("messages", 0, "content", 1), ("messages", 0, "content", 2), ("messages", 2, "content", 0)]


def by_file(tmp_path: Path) -> tuple[bytes, Images]:
    (tmp_path / "b.png").write_bytes(B)
    return request(user({"type": "image", "path": "b.png"}, image(A))), Images(folder=tmp_path)


def by_address(tmp_path: Path) -> tuple[bytes, Images]:
    raw = request(user({"type": "image", "url": "https://a.b/c"}, text("?"), {"type": "image", "url": "https://a.b/c"}))
    return raw, Images(fetch=lambda address: C)


def attached(tmp_path: Path) -> tuple[bytes, Images]:
    return TALK, Images(attached=[B, C], load="load_image")


@pytest.mark.parametrize("case", [by_file, by_address, attached])
def test_an_execution_with_images_replays(case: Case, tmp_path: Path) -> None:
    raw, images = case(tmp_path)
    pack = packed(raw, images)
    replay = katapi.replay(pack, MODEL)
    assert replay.agrees, [row for row in replay.stages if row.verdict is not Verdict.AGREES]
    assert {row.verdict for row in replay.stages} == {Verdict.AGREES}
    slim = katapi.pack_of(MODEL, executed(raw, images), embed_images=False)
    assert not katapi.replay(slim, MODEL).agrees


def test_a_budget_and_a_conversation_with_images_replay() -> None:
    raw = request(user(image(), text("a " * 20)), said("b"), user(image()))
    budget = katapi.Budget("last@1", 40, 0, (Allotment(Section.HISTORY, Order.NEWEST_FIRST, Misfit.SKIP),))
    pack = katapi.read_pack(katapi.pack_bytes(katapi.pack_of(MODEL, executed(raw, Images(attached=[C, A]), budget))))
    assert len(pack.media) == 2, "also the one that was left out"
    assert katapi.replay(pack, MODEL).agrees
    first = MODEL.assemble(request(user(image())), images=Images(attached=[A]))
    new = [one for one in [user(image(), text("and?"), image())] if isinstance(one, dict)]
    grown = MODEL.extend(first, MODEL.encode("A square."), new, images=Images(attached=[B, C]))
    again = katapi.replay(katapi.read_pack(katapi.pack_bytes(katapi.pack_of(MODEL, grown))), MODEL)
    assert again.agrees, again.first


@pytest.mark.parametrize(
    ("one", "other"),
    [(photo(95), photo(60)), (photo(95), photo(95, orientation=6)), (png(84, 56), photo(95))],
    ids=["compressed", "rotated", "another format"],
)
def test_a_re_encoded_or_rotated_image_is_the_first_difference(one: bytes, other: bytes) -> None:
    raw = request(user(text("what?"), image()))
    diff = katapi.diff(packed(raw, Images(attached=[one])), packed(raw, Images(attached=[other])))
    assert diff.first is not None
    assert diff.first.stage is Stage.IMAGES
    assert Failure.IMAGE in diff.first.stage.failures
    assert "images[0]" in str(diff.first)
    assert "what the model received is the same" not in str(diff)


def test_a_diff_says_what_is_the_same_beside_the_images() -> None:
    first, second = (packed(request(user(image(png(84, 56, (colour, 0, 0)))))) for colour in (1, 2))
    diff = katapi.diff(first, second)
    assert "  what the model received beside the images is the same: ids, mask and positions" in str(diff).splitlines()


def test_a_replay_says_whether_the_decoder_gave_other_pixels(monkeypatch: pytest.MonkeyPatch) -> None:
    pack = packed(request(user(image())), Images(attached=[photo(95)]))
    monkeypatch.setattr("katapi.runtime.images.pipeline.digest_of_pixels", lambda pixels: f"sha256:{0:064}")
    row = katapi.replay(pack, MODEL).first
    assert row is not None
    assert row.stage is Stage.IMAGES
    assert row.why.startswith("other: images[0], what is decoded of the same file")


def _digests(pack: katapi.Pack) -> Iterator[bytes]:
    """The digests that would tell a guess of an image: of its bytes, its pixels and its arrays."""
    for data in (A, B, C):
        yield hashlib.sha256(data).hexdigest().encode()
        seen = katapi.image_pipeline("qwen2_vl").process(data).images[0].record
        for digest in (seen.pixels, *(digest for _, digest in seen.arrays)):
            yield digest.encode()
    assert pack.digests[Stage.IMAGES] is None


def test_a_redacted_pack_has_neither_images_nor_their_names(tmp_path: Path) -> None:
    for case in (by_file, by_address, attached):
        raw, images = case(tmp_path)
        for how in ("digests", "placeholders"):
            pack = katapi.pack_of(MODEL, executed(raw, images), redact=how)
            data = katapi.pack_bytes(pack)
            whole = b"".join(read_archive(data).values())
            digests = [*_digests(pack)] if how == "placeholders" else []
            for secret in (b"b.png", b"a.b/c", url(A).encode()[30:60], B, C, *digests):
                assert secret not in whole
            assert katapi.replay(katapi.read_pack(data), MODEL).agrees


def test_the_page_of_a_pack_shows_each_image_with_its_tokens() -> None:
    execution = executed(TALK, Images(attached=[B, C]))
    assert execution.input is not None
    page = view_of_pack(katapi.pack_of(MODEL, execution), MODEL).execution
    assert [one.tokens for one in page.images] == [one.span for one in execution.input.images]
    sections = dict(page.budget.sections)
    assert sections["history"] >= 4 + 6, "the tokens of the images of the first message are of the history"
    assert json.dumps([one.facts[-1].text for one in page.images]) == '["4", "6", "8"]'


def test_a_failed_execution_keeps_its_images() -> None:
    execution = executed(request(user(image())), Images(attached=[A, B]))
    assert execution.error is not None
    pack = katapi.pack_of(MODEL, execution)
    assert [one.data for one in pack.media] == [A, B]
    assert katapi.replay(katapi.read_pack(katapi.pack_bytes(pack)), MODEL).agrees
