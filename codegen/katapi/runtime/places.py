"""How a message writes a place in a request and what stands there: JSON paths, shortened values, kinds of value."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Final

SHOWN: Final = 60
"""How many characters of a text from the request a message repeats."""

_PLAIN_KEY = re.compile(r"[A-Za-z_$][A-Za-z0-9_$-]*")


def json_path(loc: Sequence[str | int]) -> str:
    """The path of a value in the request: `messages[2].function`; a key that is no plain name stands as `["a b"]`."""
    parts: list[str] = []
    for step in loc:
        if isinstance(step, int):
            parts.append(f"[{step}]")
        elif _PLAIN_KEY.fullmatch(step) and len(step) <= SHOWN:
            parts.append(f".{step}" if parts else step)
        else:
            parts.append(f"[{quoted(step)}]")
    return "".join(parts)


def quoted(text: str) -> str:
    """`text` as a JSON string on one line, shortened; characters that do not show as themselves are escaped."""
    shown = text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
    return json.dumps(shown, ensure_ascii=not shown.isprintable())


def bare(text: str) -> str:
    """`text` without quotes, shortened and on one line."""
    return text if len(text) <= SHOWN and text.isprintable() else quoted(text)[1:-1]


def kind(value: object) -> str:
    """What a JSON value is, in the words of the language: `text`, `list`, `object`, `null`, …"""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return "an integer"
        case float():
            return "a number with a fraction"
        case str():
            return "text"
        case Mapping():
            return "an object"
        case Sequence() if not isinstance(value, bytes | bytearray | memoryview):
            return "a list"
        case _:
            return f"a Python {type(value).__name__}"


def shown(value: object) -> str:
    """A short value itself, and of a long one only the kind."""
    match value:
        case str():
            return quoted(value)
        case None | bool() | int() | float():
            return json.dumps(value) if not isinstance(value, int) or abs(value) < 10**SHOWN else kind(value)
        case _:
            return kind(value)
