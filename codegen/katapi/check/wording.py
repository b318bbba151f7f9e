"""Findings and phrases that several checks share."""

from __future__ import annotations

from collections.abc import Sequence

from katapi.language.diagnostics import Diagnostic
from katapi.language.source import Span


def listed(words: Sequence[str], last: str = "and") -> str:
    """Words between backquotes, as an English list."""
    marked = [f"`{word}`" for word in words]
    return marked[0] if len(marked) == 1 else f"{', '.join(marked[:-1])} {last} {marked[-1]}"


def unreachable_arm(span: Span) -> Diagnostic:
    """An arm of a walk or a `match` that comes too late."""
    return Diagnostic(
        "K304",
        span,
        "this arm is never reached",
        "nothing that it fits comes to it",
        "remove it, or move it up",
    )
