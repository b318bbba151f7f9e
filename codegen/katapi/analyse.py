"""The front half of the compiler: text → checked program, with every finding of the file at once."""

from __future__ import annotations

from katapi.check import check_program, check_tokenizer
from katapi.language import syntax as s
from katapi.language.diagnostics import SpecError
from katapi.language.parser import parse
from katapi.language.source import Source
from katapi.model.program import Program, TokenizerProgram
from katapi.model.resolve import resolve
from katapi.model.resolve.findings import Findings

#: Findings about a declaration that is not there; where one could not be read, it may be that one.
_MISSING = ("K105", "K116")


def analyse(name: str, source: Source) -> TokenizerProgram:
    """The program of a file, a `Program` unless the file has a vocabulary and a tokenizer only.

    `name` is the model's. Raises SpecError with all findings of the file.

    Names and types are told even where a declaration cannot be read, as far as they do not need it; the checks need the
    whole program.
    """
    file, diagnostics = parse(source)
    findings = Findings()
    program = resolve(name, source, file, findings)
    diagnostics += [f for f in findings.diagnostics if not diagnostics or f.code not in _MISSING]
    if isinstance(program, Program):
        diagnostics += check_program(program)
    elif program is not None:
        diagnostics += check_tokenizer(program)
    if diagnostics or program is None:
        raise SpecError(source, diagnostics)
    return program


def declarations(source: Source) -> tuple[s.Declaration, ...]:
    """The declarations of a file that is known to parse."""
    return parse(source)[0].declarations
