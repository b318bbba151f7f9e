"""Places in the text of a spec, as what is made of it names them."""

from __future__ import annotations

from katapi.language.source import Source, Span
from katapi.runtime.segments import Site


def site_of(span: Span, source: Source) -> Site:
    """A place as segments know it."""
    file, line, column = source.place(span.start)
    return Site(line, column, None if file == source.name else file)


def cited(span: Span, source: Source) -> str:
    """A place as comments and errors name it: file and line."""
    file, line, _ = source.place(span.start)
    return f"{short(file, source)}:{line}"


def short(file: str, source: Source) -> str:
    """The last part of the name of a file, or all of it where another file that belongs to the spec ends alike."""
    last = file.rpartition("/")[2]
    alike = {one.name for one in source.files() if one.name.rpartition("/")[2] == last}
    return last if alike == {file} else file
