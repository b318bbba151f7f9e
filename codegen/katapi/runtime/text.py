"""The language's functions on texts: each takes something off, and what is left knows where it stood.

White space is what Unicode calls White_Space plus the four separators U+001C to U+001F, as `str.strip` has it; the set
is written out here, so that it does not move with the Python that runs.
"""

from __future__ import annotations

from katapi.runtime.segments import Content, ContentSegment, Literal, LiteralSegment, Text

WHITE_SPACE = (
    "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)


def _cut(source: Text, start: int, end: int) -> Text:
    if isinstance(source, LiteralSegment):
        return LiteralSegment(Literal(source.text[start:end]), source.site)
    at = None if source.start is None else source.start + start
    return ContentSegment(Content(source.text[start:end]), source.path, at)


def trim(source: Text, characters: str = WHITE_SPACE) -> Text:
    """Without the given characters at both ends."""
    return trim_end(trim_start(source, characters), characters)


def trim_start(source: Text, characters: str = WHITE_SPACE) -> Text:
    """Without the given characters at the start."""
    text = source.text
    return _cut(source, len(text) - len(text.lstrip(characters)), len(text))


def trim_end(source: Text, characters: str = WHITE_SPACE) -> Text:
    """Without the given characters at the end."""
    return _cut(source, 0, len(source.text.rstrip(characters)))


def before(source: Text, needle: str) -> Text:
    """What stands before the first occurrence; all of the text where there is none."""
    at = source.text.find(needle)
    return source if at < 0 else _cut(source, 0, at)


def after(source: Text, needle: str) -> Text:
    """What stands after the first occurrence; all of the text where there is none."""
    at = source.text.find(needle)
    return source if at < 0 else _cut(source, at + len(needle), len(source.text))


def before_last(source: Text, needle: str) -> Text:
    """What stands before the last occurrence; all of the text where there is none."""
    at = source.text.rfind(needle)
    return source if at < 0 else _cut(source, 0, at)


def after_last(source: Text, needle: str) -> Text:
    """What stands after the last occurrence; all of the text where there is none."""
    at = source.text.rfind(needle)
    return source if at < 0 else _cut(source, at + len(needle), len(source.text))
