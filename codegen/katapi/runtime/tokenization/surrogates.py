"""Lone surrogates: code points that a `str` can hold and that are no characters, so that no UTF-8 has them.

They are U+D800 to U+DFFF, which are no scalar values (the Unicode Standard, definition D76).
"""

from __future__ import annotations

from katapi.runtime.errors import TokenizerError


def refuse_surrogates(text: str) -> None:
    """Raises `TokenizerError` V101 where a text holds a lone surrogate."""
    if text.isascii():
        return
    try:
        text.encode("utf-16-le")  # faster than UTF-8
    except UnicodeEncodeError as error:
        raise lone_surrogate(text, error.start) from None


def lone_surrogate(text: str, place: int) -> TokenizerError:
    """`TokenizerError` V101 for the surrogate at a place of a text, in code points."""
    return TokenizerError(
        f"the text holds the lone surrogate U+{ord(text[place]):04X}, which is no character",
        code="V101",
        where=f"character {place}",
        help="decode the text from valid UTF-8, or replace the surrogate",
    )
