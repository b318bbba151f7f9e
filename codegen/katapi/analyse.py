"""The front half of the compiler: text → checked program, with every finding of the file at once."""

from __future__ import annotations

from katapi.check import check_program
from katapi.language import syntax as s
from katapi.language.diagnostics import Diagnostic, SpecError
from katapi.language.parser import parse
from katapi.language.source import Source
from katapi.model.program import Program
from katapi.model.resolve import resolve
from katapi.model.resolve.findings import Findings

#: Findings about a declaration that is not there; where one could not be read, it may be that one.
_MISSING = ("K105", "K116")
#: Findings about a part of a declaration that is not there.
_INCOMPLETE = ("K109", "K111", "K704", "K705", "K707")


def analyse(name: str, source: Source) -> Program:
    """The program of a file; `name` is the model's. Raises SpecError with all findings of the file.

    What has a mistake in it hides nothing else: names, types and checks are told as far as they do not need it.
    """
    file, unread = parse(source)
    findings = Findings()
    program = resolve(name, source, file, findings)
    diagnostics = unread + [f for f in findings.diagnostics if not _may_be_unread(f, file, unread)]
    if program is not None:
        diagnostics += check_program(program)
    if diagnostics or program is None:
        raise SpecError(source, diagnostics)
    return program


def _may_be_unread(finding: Diagnostic, file: s.File, unread: list[Diagnostic]) -> bool:
    """Whether what is missing may be what could not be read."""
    if finding.code in _MISSING:
        return bool(unread)
    own = [d.span for d in file.declarations if d.span.start <= finding.span.start < d.span.end]
    places = [error.span.start for error in unread]
    return finding.code in _INCOMPLETE and any(span.start <= at < span.end for span in own for at in places)


def declarations(source: Source) -> tuple[s.Declaration, ...]:
    """The declarations of a file that is known to parse."""
    return parse(source)[0].declarations
