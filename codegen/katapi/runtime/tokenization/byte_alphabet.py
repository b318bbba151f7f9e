"""GPT-2's alphabet: a printable character for each of the 256 bytes, by which vocabulary files write tokens.

The bytes of printable Latin-1 characters stand for themselves; the others, in ascending order, are U+0100 and what
follows (Radford et al. 2019, `encoder.py`).
"""

from __future__ import annotations

from typing import Final

_PRINTABLE = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
_OTHERS = [byte for byte in range(0x100) if byte not in _PRINTABLE]

LETTERS = "".join([chr(byte) if byte in _PRINTABLE else chr(0x100 + _OTHERS.index(byte)) for byte in range(0x100)])
"""The letter of each byte."""

_NO_LETTER = 0xFFFF
_BYTES = dict.fromkeys(_OTHERS, _NO_LETTER) | {ord(letter): byte for byte, letter in enumerate(LETTERS)}

IN_NO_TEXT: Final = frozenset({0xC0, 0xC1, *range(0xF5, 0x100)})
"""The bytes that no text has in UTF-8 (RFC 3629, section 1)."""


def to_letters(data: bytes) -> str:
    """Bytes, each as its letter."""
    return data.decode("latin-1").translate(LETTERS)  # a string maps code points by their index


def to_bytes(text: str) -> bytes | None:
    """The bytes that letters stand for; None where `text` holds a character that is no letter."""
    try:
        return text.translate(_BYTES).encode("latin-1")
    except UnicodeEncodeError:
        return None
