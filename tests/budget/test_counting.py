"""A count is that of encoding, whatever was counted before, and most of it is not encoded again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest

from katapi.runtime.assembly import assemble_ids
from katapi.runtime.budget.counting import TokenCounter
from katapi.runtime.printed import Fixed, Printed, fixed
from katapi.runtime.segments import NOWHERE, Content, ControlSegment, ControlToken, Literal, LiteralSegment, Strips
from katapi.runtime.tokenization.interface import Tokenizer
from tests.specs import model_named


class Mark(ControlToken):
    PLAIN = 0, "<p>"
    BEFORE = 1, "<b>", Strips.BEFORE
    BEHIND = 2, "<e>", Strips.BEHIND
    BOTH = 3, "<s>", Strips.BOTH


PROSE = ["The quick brown fox jumps over the lazy dog. " * 3, "It isn't so, is it? He said: 12 345 times! " * 3]
TEXTS = [
    "",
    "a",
    " ",
    "\n\n",
    "b c ",
    *PROSE,
    "  and now for something else, with space at both ends and in between  ",
    "\n\n\nlines\n\n and more lines, as many as there are in a text of this length\n\n",
    "中文测试，你好。" * 8,
    "x" * 70,
    "e\u0301" * 30,
    " " * 60,
    "1" * 60 + " end",
    "word " + "y" * 60 + " word",
    ">>>\n" + "word" * 15 + ">\n>",
]


def text(content: str) -> Printed:
    return Content(content), ("messages", 0, "content"), 0


def mark(token: Mark, before: str = "", behind: str = "") -> Fixed:
    """A control token, with texts that the template prints around it."""
    return fixed(
        LiteralSegment(Literal(before), NOWHERE),
        ControlSegment(token, NOWHERE),
        LiteralSegment(Literal(behind), NOWHERE),
    )


def some(random: Random) -> list[Printed]:
    """What may be printed: runs of several texts between control tokens that strip or do not."""
    out: list[Printed] = []
    for _ in range(random.randrange(12)):
        if random.random() < 0.3:
            around = random.choice(["", " ", "\n", TEXTS[5]]), random.choice(["", " ", "\n", TEXTS[6]])
            out.append(mark(random.choice([*Mark]), *around))
        elif random.random() < 0.2:
            out.append(fixed(LiteralSegment(Literal(random.choice(TEXTS)), NOWHERE)))
        else:
            out.append(text(random.choice(TEXTS)))
    return out


@pytest.mark.parametrize("name", ["qwen3", "mistral-v3", "gpt-oss"])
def test_a_count_is_that_of_encoding(name: str) -> None:
    tokenizer = model_named(name).tokenizer
    for seed in range(12):
        random, counter = Random(seed), TokenCounter(tokenizer)
        for _ in range(30):
            printed = some(random)
            assert counter.count(printed) == len(assemble_ids(printed, tokenizer)[0]), printed


class Encoded:
    """Notes the texts that are encoded."""

    def __init__(self, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
        self.texts: list[str] = []
        count, encode_part = tokenizer.count, tokenizer.encode_part

        def noted(one: str, first: bool = True) -> int:
            self.texts.append(one)
            return count(one, first)

        def noted_part(one: str) -> list[int]:
            self.texts.append(one)
            return encode_part(one)

        monkeypatch.setattr(tokenizer, "count", noted)
        monkeypatch.setattr(tokenizer, "encode_part", noted_part)

    def taken(self) -> list[str]:
        """The texts since the last time."""
        found, self.texts = self.texts, []
        return found


def test_what_was_counted_is_not_encoded_again(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = model_named("qwen3").tokenizer
    encoded, counter = Encoded(tokenizer, monkeypatch), TokenCounter(tokenizer)
    one, other = PROSE
    opening = mark(Mark.PLAIN, behind="user\n")

    def count(printed: Sequence[Printed]) -> list[str]:
        counter.count(printed)
        return encoded.taken()

    assert count([text("a"), text("b")]) == ["ab"]
    assert count([text("a"), text("b")]) == []
    assert count([text(one), text(other)]) == [one + other]
    assert count([text(one), text(other)]) == []
    parted = count([text(other), text(one)])  # each is cut, and their insides are encoded once
    inside = [whole[start:end] for whole in PROSE for start, end in [tokenizer.cuts(whole) or (0, 0)]]
    assert set(inside) <= {*parted}
    assert all(len(part) > 100 for part in inside)
    assert sum(map(len, parted)) == len(one + other)
    assert count([text(one), text(one), text(other)]) == ["The", " dog. The", " dog. It", " times! "]
    assert count([text(other), text(one), text(one), text(other)]) == []
    assert count([opening, text(one)]) == ["user\nThe"]
    assert count([opening, opening, text(one), text(other)]) == ["user\n"]
    assert count([opening, text(one)]) == []
    assert count([]) == []


def test_a_text_that_is_long_can_be_cut_if_a_place_is_known() -> None:
    counter = TokenCounter(model_named("qwen3").tokenizer)
    assert [counter.has_cut(one) for one in ("a b" * 16, "a b" * 16 + "c", "x" * 70, PROSE[0])] == [
        False,
        True,
        False,
        True,
    ]


def test_what_was_counted_is_assembled_without_being_encoded_again(monkeypatch: pytest.MonkeyPatch) -> None:
    model = replace(model_named("qwen3"))  # which knows no run yet
    tokenizer = model.tokenizer
    encode, texts = tokenizer.encode_bytes, list[str]()

    def noted(one: str, first: bool = True) -> bytes:
        texts.append(one)
        return encode(one, first)

    monkeypatch.setattr(tokenizer, "encode_bytes", noted)
    talk = [{"role": role, "content": f"{role} {at}: {PROSE[0]}"} for at in range(9) for role in ("user", "assistant")]
    raw = json.dumps({"messages": [*talk, {"role": "user", "content": "the last"}]}).encode()
    ids = model.assemble(raw, "chat8k").input_ids.tolist()
    assert len(texts) == len(set(texts)) > 18
    assert ids == model_named("qwen3").assemble(raw).input_ids.tolist()
