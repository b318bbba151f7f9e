"""The language's functions on texts: each takes something off, and what is left knows where it stood.

White space is what Unicode calls White_Space plus the four separators U+001C to U+001F, as `str.strip` has it; the set
is written out here, so that it does not move with the Python that runs.
"""

from __future__ import annotations

from katapi.runtime.printed import PrintedText
from katapi.runtime.segments import Content, Literal

WHITE_SPACE = (
    "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)


def _cut(source: PrintedText, start: int, end: int) -> PrintedText:
    if len(source) == 2:
        return Literal(source[0][start:end]), source[1]
    text, path, at = source
    return Content(text[start:end]), path, None if at is None else at + start


def trim(source: PrintedText, characters: str = WHITE_SPACE) -> PrintedText:
    """Without the given characters at both ends."""
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
