"""Packs with images are done again as they were done: from turn to turn, up to an error, with images beside them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import katapi
from katapi.packs.replay import Replay, Verdict
from katapi.runtime.budget.policy import Allotment, Misfit, Order, Section
from katapi.runtime.images.given import Images
from katapi.runtime.json_types import Json, JsonObject
from katapi.runtime.stages import Stage
from tests.images.shown import A, B, C, image, model, request, said, text, user
from tests.images.test_packs import photo

MODEL = model()
OK = MODEL.encode("ok")
FILE: Json = {"type": "image", "path": "screen.png"}
ADDRESS: Json = {"type": "image", "url": "https://a.b/c"}


def replayed(what: katapi.Execution | katapi.ModelInput) -> Replay:
    return katapi.replay(katapi.read_pack(katapi.pack_bytes(katapi.pack_of(MODEL, what))), MODEL)


def differing(replay: Replay) -> list[tuple[str, str]]:
    return [(row.stage.value, row.why) for row in replay.stages if row.verdict is Verdict.DIFFERS]


def new(*parts: Json) -> list[JsonObject]:
    """A message of the user that goes on with a conversation."""
    message = user(*parts)
    assert isinstance(message, dict)
    return [message]


# ---- conversations that go on


def test_a_file_that_changed_between_two_turns_is_in_the_pack_twice(tmp_path: Path) -> None:
    images = Images(folder=tmp_path)
    (tmp_path / "screen.png").write_bytes(A)
    first = MODEL.assemble(request(user(FILE, text("what?"))), images=images)
    (tmp_path / "screen.png").write_bytes(C)
    grown = MODEL.extend(first, OK, new(FILE, text("and now?")), images=images)
    assert [one.data for one in grown.record.media] == [A, C]
    assert [one.tokens for one in grown.images] == [4, 8]
    assert differing(replayed(grown)) == []


def test_an_address_that_gave_something_else_in_the_next_turn_is_in_the_pack_twice() -> None:
    answers = iter((A, B))
    images = Images(fetch=lambda address: next(answers))
    first = MODEL.assemble(request(user(ADDRESS, ADDRESS, text("what?"))), images=images)
    grown = MODEL.extend(first, OK, new(ADDRESS), images=images)
    assert [one.given.data for one in grown.images] == [A, A, B]
    assert [one.data for one in grown.record.media] == [A, B]
    assert differing(replayed(grown)) == []


def test_each_turn_may_have_a_way_of_its_own() -> None:
    rotated = photo(95, orientation=6)
    first = MODEL.assemble(request(user(image())), images=Images(attached=[rotated], load="load_image"))
    grown = MODEL.extend(first, OK, new(image()), images=Images(attached=[rotated]))
    assert [one.record.way for one in grown.images] == ["load_image", "pil"]
    assert differing(replayed(grown)) == []


def test_attached_images_are_numbered_through_the_whole_conversation() -> None:
    budget = katapi.Budget("last@1", 30, 0, (Allotment(Section.HISTORY, Order.NEWEST_FIRST, Misfit.SKIP),))
    raw = request(user(image(), text("x " * 10)), said("a " * 20), user(image(), text("go on")))
    within = MODEL.assemble(raw, budget, images=Images(attached=[B, C]))
    assert [one["name"] for one in within.record.images] == ["1"], "its number among all that came in"
    grown = MODEL.extend(within, OK, new(image(), image(A), image()), images=Images(attached=[A, B]))
    attached = [one for one in grown.record.images if one["from"] == "attached"]
    assert [one["name"] for one in attached] == ["0", "1", "2"]
    assert [one.data for one in grown.record.media] == [C, A, B]
    assert differing(replayed(grown)) == []
    assert differing(replayed(katapi.execute(MODEL, within.request))) == []


# ---- executions that failed


Case = Callable[[Path], tuple[bytes, Images]]


def damaged_file(tmp_path: Path) -> tuple[bytes, Images]:
    (tmp_path / "screen.png").write_bytes(A)
    (tmp_path / "bad.png").write_bytes(B[:-30])
    return request(user(FILE, {"type": "image", "path": "bad.png"})), Images(folder=tmp_path)


def missing_file(tmp_path: Path) -> tuple[bytes, Images]:
    (tmp_path / "screen.png").write_bytes(A)
    return request(user(FILE, {"type": "image", "path": "none.png"})), Images(folder=tmp_path)


def refused_address(tmp_path: Path) -> tuple[bytes, Images]:
    return request(user(image(A), ADDRESS)), Images()


def failing_fetch(tmp_path: Path) -> tuple[bytes, Images]:
    def fetch(address: str) -> bytes:
        raise OSError("no route\n\x1b[2J")

    return request(user(ADDRESS)), Images(fetch=fetch)


def no_image_at_the_address(tmp_path: Path) -> tuple[bytes, Images]:
    return request(user(ADDRESS)), Images(fetch=lambda address: b"<html>")


def damaged_attachment(tmp_path: Path) -> tuple[bytes, Images]:
    return request(user(FILE, image())), Images(attached=[B[:-30]], fetch=None, folder=_with_screen(tmp_path))


def _with_screen(tmp_path: Path) -> Path:
    (tmp_path / "screen.png").write_bytes(A)
    return tmp_path


CASES = [
    (damaged_file, "M107"),
    (missing_file, "M123"),
    (refused_address, "M122"),
    (failing_fetch, "M124"),
    (no_image_at_the_address, "M103"),
    (damaged_attachment, "M107"),
]


@pytest.mark.parametrize(("case", "code"), CASES)
def test_an_execution_that_failed_at_an_image_fails_again_in_the_same_way(
    case: Case, code: str, tmp_path: Path
) -> None:
    raw, images = case(tmp_path)
    done = katapi.execute(MODEL, raw, images=images)
    assert done.error is not None
    assert done.error.code == code
    assert done.error.message.isprintable()
    for path in tmp_path.iterdir():
        path.unlink()
    replay = replayed(done)
    assert differing(replay) == []
    assert replay.stages[-1].why == f"{code}, as it was then"


def test_what_an_execution_that_failed_had_got_is_asked_once_and_in_its_pack(tmp_path: Path) -> None:
    asked: list[str] = []

    def fetch(address: str) -> bytes:
        asked.append(address)
        if len(asked) > 1:
            raise OSError("it is gone")
        return B

    folder = _with_screen(tmp_path)
    raw = request(user(ADDRESS, FILE, image()), said("x " * 50))
    small = katapi.Budget("small@1", 8, 0, ())
    done = katapi.execute(MODEL, raw, small, images=Images(attached=[C], fetch=fetch, folder=folder))
    assert done.error is not None
    assert done.error.code == "B100"
    assert asked == ["https://a.b/c"]
    assert [(one.kind, one.data) for one in done.record.media] == [("attached", C), ("address", B), ("file", A)]
    (tmp_path / "screen.png").unlink()
    assert differing(replayed(done)) == []
    typed = MODEL.assemble(request(user(image())), images=Images(attached=[C])).request
    failed = katapi.execute(MODEL, typed, small)
    assert [one.data for one in failed.record.media] == [C]
    assert differing(replayed(failed)) == []


def test_the_way_of_images_that_a_policy_left_out_is_in_the_pack() -> None:
    last = katapi.Budget("last@1", 20, 0, (Allotment(Section.HISTORY, Order.NEWEST_FIRST, Misfit.SKIP),))
    raw = request(user(image(), text("x " * 10)), said("a " * 20), user(text("go on")))
    x = MODEL.assemble(raw, last, images=Images(attached=[B], load="load_image"))
    assert x.images == ()
    pack = katapi.read_pack(katapi.pack_bytes(katapi.pack_of(MODEL, x)))
    assert pack.load == "load_image"
    again = katapi.replay(pack, MODEL)
    assert differing(again) == []
    assert again.execution is not None
    assert again.execution.record.load == "load_image"


# ---- packs without the bytes


def test_a_pack_that_has_digests_of_images_says_so_and_replays_with_the_files(tmp_path: Path) -> None:
    raw = request(user(image(), FILE, image()))
    done = katapi.execute(MODEL, raw, images=Images(attached=[B, C], folder=_with_screen(tmp_path)))
    pack = katapi.read_pack(katapi.pack_bytes(katapi.pack_of(MODEL, done, embed_images=False)))
    first = katapi.replay(pack, MODEL).first
    assert first is not None
    assert first.stage is Stage.IMAGES
    assert "the pack has the digest of this image, and not its bytes" in first.why
    assert "messages[0].content[2]" in katapi.replay(pack, MODEL, [A, B]).stages[3].why
    assert differing(katapi.replay(pack, MODEL, [C, A, b"another", B])) == []


@pytest.mark.parametrize("how", ["digests", "placeholders"])
def test_a_redacted_pack_of_attached_images_alone_replays(how: str) -> None:
    done = katapi.execute(MODEL, request(user(image(), text("what?"))), images=Images(attached=[B]))
    pack = katapi.pack_of(MODEL, done, redact="digests" if how == "digests" else "placeholders")
    replay = katapi.replay(katapi.read_pack(katapi.pack_bytes(pack)), MODEL)
    assert differing(replay) == []
    [row] = [row for row in replay.stages if row.stage is Stage.IMAGES]
    assert (row.verdict, row.why) == (Verdict.UNCHECKED, "the images are redacted")


# ---- another pipeline


def test_another_pipeline_is_named_as_the_cause() -> None:
    own, other = MODEL, katapi.load("qwen3-vl")
    raw = request(user(image(B)))
    pack = katapi.read_pack(katapi.pack_bytes(katapi.pack_of(own, katapi.execute(own, raw))))
    first = katapi.replay(pack, other).first
    assert first is not None
    assert first.why == "other: images[0], the declaration of its pipeline (qwen2_vl@1 then, qwen3_vl@1 now)"
    diff = katapi.diff(pack, katapi.pack_of(other, katapi.execute(other, raw)))
    assert diff.first is not None
    assert diff.first.difference is not None
    assert diff.first.difference.where == "images[0].record.pipeline"
    assert "re-encoded" not in str(diff)


def test_an_image_without_a_pipeline_is_not_re_encoded() -> None:
    blind = replace(MODEL, _shown=None)
    raw = request(user(image(B)))
    diff = katapi.diff(*(katapi.pack_of(one, katapi.execute(one, raw)) for one in (MODEL, blind)))
    assert diff.first is not None
    assert diff.first.stage is Stage.IMAGES
    assert "re-encoded" not in str(diff)
