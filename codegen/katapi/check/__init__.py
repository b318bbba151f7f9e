"""The static checks: one family a file, each `check(program) -> list[Diagnostic]`."""

from __future__ import annotations

from collections.abc import Callable

from katapi.check import (
    boundaries,
    captures,
    controls,
    fields,
    generation,
    images,
    matches,
    messages,
    names,
    nesting,
    outcomes,
    patterns,
    recursion,
)
from katapi.language.diagnostics import Diagnostic
from katapi.model.program import Program, TokenizerProgram

ALL: tuple[Callable[[Program], list[Diagnostic]], ...] = (
    matches.check,
    outcomes.check,
    messages.check,
    fields.check,
    names.check,
    generation.check,
    captures.check,
    recursion.check,
    nesting.check,
    controls.check,
    images.check,
    boundaries.check,
)


def check_program(program: Program) -> list[Diagnostic]:
    """The findings of all checks, in source order."""
    found = [finding for check in ALL for finding in check(program)] + patterns.check(program)
    return sorted(dict.fromkeys(found), key=lambda finding: (finding.span.start, finding.code))


def check_tokenizer(program: TokenizerProgram) -> list[Diagnostic]:
    """The findings of the checks that need no template."""
    return patterns.check(program)
