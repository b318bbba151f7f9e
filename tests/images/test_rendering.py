"""Placeholders in a template: the generated code prints what the oracle prints, and prints each image once."""

from __future__ import annotations

import json
from random import Random

import pytest

import katapi
from katapi.oracle.render import plain, render
from katapi.oracle.request import canonical
from katapi.runtime.images.given import GivenImage
from katapi.runtime.images.part import Carries
from katapi.runtime.images.pieces import Piece
from katapi.runtime.images.placeholder import Placeholder, pieces_of
from katapi.runtime.images.placing import parts_of, with_parts
from katapi.runtime.json_types import Json
from katapi.runtime.printed import rendering_of
from katapi.runtime.segments import Path
from tests.images.shown import png, url
from tests.specs import PASS, model_of, program_of

SPEC = PASS / "images.kata"
PROGRAM = program_of(SPEC)
MODEL = model_of(SPEC)
assert MODEL._shown is not None
CONTROLS = MODEL._shown.controls
GIVEN = GivenImage(b"", None, "attached", "0", katapi.image_pipeline("qwen2_vl"), "")


def part(random: Random) -> Json:
    kind = random.choice(("text", "image", "image_url", "icon"))
    if kind == "text":
        return {"type": "text", "text": random.choice(("a", "<pad>", ""))}
    if kind == "icon":
        return {"type": "icon", "bare": random.random() < 0.5}
    return {"type": kind, "title": random.choice((None, "a", "b"))}


def talk(random: Random) -> Json:
    messages: list[Json] = []
    if random.random() < 0.5:
        messages.append({"role": "system", "cover": [{} for _ in range(random.randrange(3))]})
    for _ in range(random.randrange(4)):
        messages.append({"role": "user", "content": [part(random) for _ in range(random.randrange(4))]})
        messages.append({"role": "assistant", "content": "a"})
        shots: list[Json] = [{"type": "image", "title": "b"} for _ in range(random.randrange(3))]
        messages.append({"role": "tool", "shots": shots})
    return {"messages": messages}


def placeholder(random: Random) -> tuple[Piece, ...]:
    pieces = [Piece("<row>", True), Piece("<pad>", True, 3), Piece("ab", False), Piece("<pad>", False, 2)]
    return tuple(random.choice(pieces) for _ in range(random.randrange(1, 5)))


@pytest.mark.parametrize("seed", range(60))
def test_generated_code_and_oracle_print_placeholders_alike(seed: int) -> None:
    random = Random(seed)
    value = talk(random)
    typed = MODEL.decode_request(json.dumps(value).encode())
    shown = {path: placeholder(random) for path, _ in parts_of(typed) if random.random() < 0.7}

    def given(path: Path, one: Carries) -> Carries:
        if path not in shown:
            return one
        return one.with_placeholder(Placeholder(GIVEN, pieces_of(shown[path], CONTROLS, "")))

    printed = MODEL._render(with_parts(typed, (), given))
    flat = {
        path: [(one.spelling, one.control) for one in pieces for _ in range(one.count)]
        for path, pieces in shown.items()
    }
    expected = render(PROGRAM, canonical(PROGRAM, value), flat)
    found = rendering_of(printed)
    assert plain(found) == plain(expected)
    assert found.sampled == expected.sampled


def test_an_image_that_the_template_leaves_out_is_an_error() -> None:
    def shot(data: bytes | None) -> Json:
        return {"type": "image"} if data is None else {"type": "image", "image": url(data)}

    def raw(*shots: bytes) -> bytes:
        return json.dumps({"messages": [{"role": "tool", "shots": [shot(one) for one in shots]}]}).encode()

    one = MODEL.assemble(raw(png(16, 24)))
    assert one.text.startswith("<row><pad><pad><row><pad><pad><row><pad><pad>")
    with pytest.raises(katapi.MediaError) as caught:
        MODEL.assemble(raw(png(8, 8), png(16, 8)))
    assert (caught.value.code, caught.value.where) == ("M125", "messages[0].shots[1]")
