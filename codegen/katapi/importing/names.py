"""Names for control tokens, from how they are spelled: `<|im_start|>` → @im_start, `</think>` → @/think."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence

from katapi.runtime.tokenization.configuration import AddedToken

_CLOSING = re.compile(r"[^\w/]+/")
_MIRRORED = re.compile(r"<(\w+)\|>")  # closes what `<|…>` opens
_BETWEEN = re.compile(r"[^a-z0-9]+")


def control_names(tokens: Sequence[AddedToken]) -> dict[int, str]:
    """A name for each id, no two of which are one name in Python.

    The first token that a name fits has it; others have their id behind it, or behind `token` where the spelling begins
    with no letter.
    """
    spellings = {token.content for token in tokens}
    wanted = {token.id: _name(token.content, spellings) for token in tokens}
    taken: set[str] = set()
    names: dict[int, str] = {}
    for number, name in wanted.items():
        if name and _member(name) not in taken:
            taken.add(_member(name))
            names[number] = name
    for number, name in wanted.items():
        if number not in names:
            name = f"{name or 'token'}_{number}"
            while _member(name) in taken:
                name += "_"
            taken.add(_member(name))
            names[number] = name
    return names


def _name(spelling: str, others: Collection[str]) -> str:
    """What a spelling says, in the letters of a name; empty where it begins with none."""
    plain = unicodedata.normalize("NFKC", spelling)
    name = _BETWEEN.sub("_", plain.lower()).strip("_")
    if not re.match("[a-z]", name):
        return ""
    mirrored = _MIRRORED.fullmatch(spelling)
    closes = _CLOSING.match(plain) or (mirrored and f"<|{mirrored[1]}>" in others)
    return f"/{name}" if closes else name


def _member(name: str) -> str:
    """The name without the difference that Python's names do not make: `@/x` is END_X there."""
    return "end_" + name[1:] if name.startswith("/") else name
