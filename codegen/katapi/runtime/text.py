"""The language's functions on texts: cuts, of which what is left knows where it stood, and those that make a new text.

A new text comes from all of the value that it was made of; where nothing changes, it is that value. White space is what
Unicode calls White_Space plus the four separators U+001C to U+001F, as `str.strip` has it; the set is written out here,
so that it does not move with the Python that runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from katapi.runtime.printed import ContentText, LiteralText, Pieces, PrintedText
from katapi.runtime.segments import Content, Literal, Site

WHITE_SPACE = (
    "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""What `trim` takes off where it is not told."""

UNICODE = "17.0"
"""The version of Unicode that says what is lower case."""

S = TypeVar("S", bound=str)
T = TypeVar("T")


def _cut(source: PrintedText, start: int, end: int) -> PrintedText:
    if isinstance(source[1], Pieces):
        return Content(source[0][start:end]), Pieces(_pieces_between(source[1], start, end))
    return _cut_piece(source, start, end)


def _cut_piece(source: LiteralText | ContentText, start: int, end: int) -> LiteralText | ContentText:
    if len(source) == 2:
        return Literal(source[0][start:end]), source[1]
    text, path, at = source
    return Content(text[start:end]), path, None if at is None else at + start


def _pieces_between(kept: Pieces, start: int, end: int) -> Iterator[LiteralText | ContentText]:
    """Of each piece what lies within a stretch of the whole text."""
    place = 0
    for piece in kept.pieces:
        length = len(piece[0])
        first, last = max(start - place, 0), min(end - place, length)
        if first < last:
            yield _cut_piece(piece, first, last)
        place += length


def trim(source: PrintedText, characters: str = WHITE_SPACE) -> PrintedText:
    """Without the given characters at both ends."""
    text = source[0]
    if len(text.strip(characters)) == len(text):
        return source
    return trim_end(trim_start(source, characters), characters)


def trim_start(source: PrintedText, characters: str = WHITE_SPACE) -> PrintedText:
    """Without the given characters at the start."""
    text = source[0]
    left = len(text.lstrip(characters))
    return source if left == len(text) else _cut(source, len(text) - left, len(text))


def trim_end(source: PrintedText, characters: str = WHITE_SPACE) -> PrintedText:
    """Without the given characters at the end."""
    text = source[0]
    left = len(text.rstrip(characters))
    return source if left == len(text) else _cut(source, 0, left)


def before(source: PrintedText, needle: str) -> PrintedText:
    """What stands before the first occurrence; all of the text where there is none."""
    at = source[0].find(needle)
    return source if at < 0 else _cut(source, 0, at)


def after(source: PrintedText, needle: str) -> PrintedText:
    """What stands after the first occurrence; all of the text where there is none."""
    at = source[0].find(needle)
    return source if at < 0 else _cut(source, at + len(needle), len(source[0]))


def before_last(source: PrintedText, needle: str) -> PrintedText:
    """What stands before the last occurrence; all of the text where there is none."""
    at = source[0].rfind(needle)
    return source if at < 0 else _cut(source, 0, at)


def after_last(source: PrintedText, needle: str) -> PrintedText:
    """What stands after the last occurrence; all of the text where there is none."""
    at = source[0].rfind(needle)
    return source if at < 0 else _cut(source, at + len(needle), len(source[0]))


def _made(source: PrintedText, text: str) -> PrintedText:
    if text == source[0]:
        return source
    origin = source[1]
    if isinstance(origin, Pieces):
        return _made_of_pieces(origin, text)
    return (Literal(text), origin) if isinstance(origin, Site) else (Content(text), origin, None)


def _made_of_pieces(kept: Pieces, text: str) -> PrintedText:
    """A text that comes from all pieces: from what their places have in common, where some came with the request."""
    paths = [piece[1] for piece in kept.pieces if len(piece) == 3]
    if not paths:
        return Literal(text), next(piece[1] for piece in kept.pieces if len(piece) == 2)
    shared = 0
    while all(len(path) > shared and path[shared] == paths[0][shared] for path in paths):
        shared += 1
    return Content(text), paths[0][:shared], None


def replace(source: PrintedText, needle: str, by: str) -> PrintedText:
    """With another text in place of each occurrence, found from left to right."""
    return _made(source, source[0].replace(needle, by))


def without(source: PrintedText, opening: str, closing: str) -> PrintedText:
    """Without what stands from each opening to the next closing text, or to the end, and without either of them."""
    return _made(source, "".join(part.partition(opening)[0] for part in source[0].split(closing)))


def lower(source: PrintedText) -> PrintedText:
    """In lower case, each character by itself."""
    return _made(source, lower_case(source[0]))


def upper(source: PrintedText) -> PrintedText:
    """The letters a to z in upper case; all other characters stay."""
    return _made(source, source[0].translate(_UPPER))


_UPPER = {small: small - 32 for small in range(ord("a"), ord("z") + 1)}


def lower_case(text: str) -> str:
    """A text in lower case; the tables are loaded for the first that is not ASCII."""
    if text.isascii():
        return text.lower()
    from katapi.runtime.unicode import tables

    return text.translate(tables.lower_case(UNICODE).table)


def sorted_texts(texts: Iterable[S]) -> list[tuple[int, S]]:
    """Texts in the order of their lower case, each with its place before."""
    return sorted(enumerate(texts), key=lambda item: lower_case(item[1]))


def sorted_pairs(pairs: Iterable[tuple[str, T]]) -> list[tuple[str, T]]:
    """Pairs in the order of the lower case of their keys."""
    return sorted(pairs, key=lambda pair: lower_case(pair[0]))
