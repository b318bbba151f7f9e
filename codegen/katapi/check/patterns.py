"""The patterns of a tokenizer are ones that Katapi can use (K709)."""

from __future__ import annotations

from katapi.language.diagnostics import Diagnostic
from katapi.language.source import Span
from katapi.model.declarations import DeclaredPattern
from katapi.model.program import TokenizerProgram
from katapi.runtime.patterns.coverage import matches_nothing
from katapi.runtime.patterns.matcher import compile_pattern
from katapi.runtime.patterns.properties import PROPERTIES
from katapi.runtime.patterns.syntax import PatternError, parse
from katapi.runtime.unicode import known_versions


def check(program: TokenizerProgram) -> list[Diagnostic]:
    """The findings about patterns."""
    tokenizer = program.tokenizer
    unicode = tokenizer.unicode.get("patterns")
    return [finding for pattern in tokenizer.patterns for finding in _pattern(pattern, unicode)]


def _pattern(pattern: DeclaredPattern, unicode: str | None) -> list[Diagnostic]:
    try:
        root = parse(pattern.source, PROPERTIES)
        if matches_nothing(root):
            raise PatternError("the pattern can match the empty text", 0)
        if unicode in known_versions("patterns"):
            compile_pattern(pattern.source, unicode=unicode)
    except PatternError as error:
        # In the source a backquote opens the pattern, and each backquote in it is doubled.
        before = pattern.source[: error.position]
        start = pattern.span.start + 1 + len(before) + before.count("`")
        return [Diagnostic("K709", Span(start, start + 1), f"in this pattern: {error.message}")]
    return []
