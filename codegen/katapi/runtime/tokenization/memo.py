"""A bounded memory of the results of a pure function of a string."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Value = TypeVar("Value")

_ENTRIES = 1 << 16
_LONGEST = 128  # characters; longer strings seldom come twice, and would hold memory without bound


class Memo(dict[str, Value]):
    """`memo[text]` is `function(text)`, computed when it is not remembered. Holds at most `entries` of them.

    A dictionary, so that a hit costs no Python call. Safe to share between threads: at worst a value is computed twice.
    """

    def __init__(self, function: Callable[[str], Value], *, entries: int = _ENTRIES) -> None:
        super().__init__()
        self._function = function
        self._entries = entries

    def __missing__(self, text: str) -> Value:
        value = self._function(text)
        if len(text) <= _LONGEST:
            if len(self) >= self._entries:
                self.clear()
            self[text] = value
        return value
