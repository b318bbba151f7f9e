"""Names for control tokens, from how they are spelled: `<|im_start|>` → @im_start, `</think>` → @/think."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from katapi.runtime.tokenization.configuration import AddedToken

_CLOSING = re.compile(r"[^\w/]*/")
_BETWEEN = re.compile(r"[^a-z0-9]+")


def control_names(tokens: Iterable[AddedToken]) -> dict[int, str]:
    """A name for each id, no two of which have one name in Python.

    The first token that a name fits has it; one that has no letters, or comes too late, is called after its id.
    """
    taken: set[str] = set()
    names: dict[int, str] = {}
    later: list[int] = []
    for token in tokens:
        name = _name(token.content)
        if name and _member(name) not in taken:
            taken.add(_member(name))
            names[token.id] = name
        else:
            later.append(token.id)
    for number in later:
        name = f"token_{number}"
        while name in taken:
            name += "_"
        taken.add(name)
        names[number] = name
    return names


def _name(spelling: str) -> str:
    """What a spelling says, in the letters of a name; empty where it begins with none."""
    plain = unicodedata.normalize("NFKC", spelling)
    name = _BETWEEN.sub("_", plain.lower()).strip("_")
    if not re.match("[a-z]", name):
        return ""
    return f"/{name}" if _CLOSING.match(plain) else name


def _member(name: str) -> str:
    """The name without the difference that Python's names do not make: `@/x` is END_X there."""
    return "end_" + name[1:] if name.startswith("/") else name
