"""The bytes of a piece, and from ranges of them back to characters: what segmenters of byte-level vocabularies share.

A pre-tokenizer that cuts between the bytes of a character leaves parts of characters in its pieces. A byte from 0x80
that is not part of a whole character stands in a piece as a surrogate from U+DC80 to U+DCFF, as Python's error handler
"surrogateescape" writes it (PEP 383). No text can hold one of its own: lone surrogates are rejected before.
"""

from __future__ import annotations

from collections.abc import Iterable


def utf8_of(piece: str) -> bytes:
    """The bytes of a piece."""
    return piece.encode("utf-8", "surrogateescape")


def character_ranges(piece: str, tokens: Iterable[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Each token (id, start, end) with the half-open range of characters (code points) that its bytes touch.

    `start` and `end` count bytes of `piece`, and no range is empty.
    """
    if piece.isascii():
        return list(tokens)
    character_of = [index for index, character in enumerate(piece) for _ in utf8_of(character)]
    return [(token, character_of[start], character_of[end - 1] + 1) for token, start, end in tokens]
