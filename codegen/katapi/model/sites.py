"""Places in the text of a spec, as what is made of it names them."""

from __future__ import annotations

from katapi.language.source import Source, Span
from katapi.runtime.segments import Site


def site_of(span: Span, source: Source) -> Site:
    """A place as segments know it."""
    file, line, column = source.place(span.start)
    return Site(line, column, None if file == source.name else file)


def cited(span: Span, source: Source) -> str:
    """A place as comments and errors name it: the last part of the file's name, and the line."""
    file, line, _ = source.place(span.start)
    return f"{file.rpartition('/')[2]}:{line}"
