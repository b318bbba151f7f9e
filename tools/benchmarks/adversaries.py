"""Texts that are hard for tokenizers, of any length."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

PROSE = "prose"
LENGTHS = (10_000, 100_000, 1_000_000, 10_000_000)
"""Bytes of UTF-8, about."""


def _prose(length: int) -> str:
    from pydoc_data.topics import topics

    text = "".join(topics.values())
    return (text * (length // len(text) + 1))[:length]


def _letters(length: int) -> str:
    return "".join(random.Random(length).choices("abcdefghijklmnopqrstuvwxyz", k=length))


def _all_planes(length: int) -> str:
    drawn = random.Random(length)
    points = (
        drawn.choice((drawn.randrange(0x80, 0xD800), drawn.randrange(0xE000, 0x110000))) for _ in range(length // 3)
    )
    return "".join(map(chr, points))


KINDS: Mapping[str, Callable[[int], str]] = {
    PROSE: _prose,
    "one letter": lambda length: "a" * length,
    "spaces": lambda length: " " * length,
    "line ends": lambda length: "\n" * length,
    "two in turn": lambda length: "ab" * (length // 2),
    "letters, no space": _letters,
    "Han, no space": lambda length: "的一是不了人我在有他" * (length // 30),
    "punctuation": lambda length: "!?" * (length // 2),
    "marks on a letter": lambda length: "e" + "\u0301" * (length // 2),
    "joined emoji": lambda length: "\U0001f468\u200d" * (length // 7),
    "all planes": _all_planes,
}
"""What makes a text of each kind, by its length in bytes."""
