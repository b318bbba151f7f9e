"""Text → checked program: parse, resolve, check."""

from __future__ import annotations

from katapi.check import check_program
from katapi.language import syntax as s
from katapi.language.diagnostics import SpecError
from katapi.language.parser import parse
from katapi.language.source import Source
from katapi.model.program import Program
from katapi.model.resolve import resolve
from katapi.model.resolve.findings import Findings


def analyse(name: str, source: Source) -> Program:
    """The program of a file; `name` is the model's. Raises SpecError with all findings of the file."""
    file, diagnostics = parse(source)
    findings = Findings()
    program = resolve(name, source, file, findings)
    diagnostics = [*diagnostics, *findings.diagnostics]
    if program is not None:
        diagnostics += check_program(program)
    if diagnostics or program is None:
        raise SpecError(source, diagnostics)
    return program


def declarations(source: Source) -> tuple[s.Declaration, ...]:
    """The declarations of a file that is known to parse."""
    return parse(source)[0].declarations
