"""What reaches a terminal: text as it is, but for characters that command the terminal or turn the line around."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rich.table import Table

_ORDINARY = "\n\t"
_CONTROLS = [*range(0x20), *range(0x7F, 0xA0)]
_DIRECTIONS = [0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]

_VISIBLE: Final = {
    **{code: f"\\x{code:02x}" for code in _CONTROLS if chr(code) not in _ORDINARY},
    **{code: f"\\u{code:04x}" for code in _DIRECTIONS},
}
_IN_JSON: Final = {code: f"\\u{code:04x}" for code in _VISIBLE}


def visible(text: str) -> str:
    """A text in which control characters and changes of direction stand as `\\x1b` and `\\u202e`."""
    return text.translate(_VISIBLE)


def print_table(table: Table) -> None:
    """A table whose cells are never cut: wider than the terminal where they need it."""
    from rich.console import Console

    needed = Console(width=1000).measure(table).maximum
    Console(width=max(needed, Console().width)).print(table)


def write_text(text: str) -> None:
    """To a file or a pipe exactly as it is; to a terminal with nothing in it that commands the terminal."""
    sys.stdout.write(visible(text) if sys.stdout.isatty() else text)
    sys.stdout.flush()


def write_json(text: str) -> None:
    """JSON of one line; on a terminal the same characters stand as escapes of JSON, so that it is the same value."""
    shown = text.translate(_IN_JSON) if sys.stdout.isatty() else text
    sys.stdout.buffer.write(f"{shown}\n".encode())
    sys.stdout.buffer.flush()
