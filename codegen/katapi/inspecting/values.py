"""Values of a request as texts."""

from __future__ import annotations

import json

from katapi.runtime.json_types import Json

_SHORT = 80  # characters of a value among the facts of a stage


def written(value: Json) -> str:
    """A text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)


def short(value: Json) -> str:
    """The same, or its beginning."""
    text = written(value)
    return text if len(text) <= _SHORT else text[: _SHORT - 1] + "…"


def counted(count: int, word: str) -> str:
    """`1 token`, `2,048 tokens`."""
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"
