"""The patterns of a tokenizer are ones that Katapi can use (K709)."""

from __future__ import annotations

from katapi.language.diagnostics import Diagnostic
from katapi.language.source import Span
from katapi.model.declarations import DeclaredPattern
from katapi.model.program import TokenizerProgram
from katapi.runtime.patterns.coverage import matches_nothing
from katapi.runtime.patterns.properties import PROPERTIES
from katapi.runtime.patterns.syntax import PatternError, parse


def check(program: TokenizerProgram) -> list[Diagnostic]:
    """The findings about patterns."""
    return [finding for pattern in program.tokenizer.patterns for finding in _pattern(pattern)]


def _pattern(pattern: DeclaredPattern) -> list[Diagnostic]:
    try:
        root = parse(pattern.source, PROPERTIES)
        if matches_nothing(root):
            raise PatternError("the pattern can match the empty text", 0)
    except PatternError as error:
        # In the source a backquote opens the pattern, and each backquote in it is doubled.
        before = pattern.source[: error.position]
        start = pattern.span.start + 1 + len(before) + before.count("`")
        return [Diagnostic("K709", Span(start, start + 1), f"in this pattern: {error.message}")]
    return []
