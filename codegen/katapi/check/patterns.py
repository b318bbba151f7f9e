"""The patterns and Unicode versions of a tokenizer are ones that Katapi has (K709, K710)."""

from __future__ import annotations

from katapi.language.diagnostics import Diagnostic
from katapi.language.source import Span
from katapi.model.declarations import Split
from katapi.model.program import Program
from katapi.runtime.patterns.coverage import matches_nothing
from katapi.runtime.patterns.matcher import compile_pattern
from katapi.runtime.patterns.properties import PROPERTIES
from katapi.runtime.patterns.syntax import PatternError, parse
from katapi.runtime.unicode import CLASS_VERSIONS, NORMALIZATION_VERSIONS


def check(program: Program) -> list[Diagnostic]:
    """The findings about patterns and versions."""
    tokenizer = program.tokenizer
    found = [finding for split in tokenizer.splits for finding in _pattern(split, tokenizer.unicode)]
    for version, known, what in (
        (tokenizer.unicode, CLASS_VERSIONS, "character classes"),
        (tokenizer.normalizer_unicode, NORMALIZATION_VERSIONS, "normalization data"),
    ):
        if version is not None and version not in known:
            found.append(
                Diagnostic(
                    "K710",
                    tokenizer.span,
                    f"there are no {what} of Unicode {version}",
                    help="known: " + ", ".join(f'"{v}"' for v in known),
                )
            )
    return found


def _pattern(split: Split, unicode: str | None) -> list[Diagnostic]:
    try:
        root = parse(split.regex, PROPERTIES)
        if matches_nothing(root):
            raise PatternError("the pattern can match the empty text", 0)
        if unicode in CLASS_VERSIONS:
            compile_pattern(split.regex, unicode=unicode)
    except PatternError as error:
        # In the source a backquote opens the pattern, and each backquote in it is doubled.
        before = split.regex[: error.position]
        start = split.span.start + 1 + len(before) + before.count("`")
        return [Diagnostic("K709", Span(start, start + 1), f"in this pattern: {error.message}")]
    return []
