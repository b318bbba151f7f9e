"""Where the resolver puts what it finds, and how it goes on after an error."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from katapi.language.diagnostics import Diagnostic
from katapi.language.source import Span


class Unresolved(Exception):
    """A construct has no meaning; the finding is already noted, so whoever catches this only goes on."""


class Findings:
    """Collects diagnostics."""

    def __init__(self) -> None:
        self.diagnostics: list[Diagnostic] = []
        #: Names of fields, parameters and defs whose types mean nothing; their uses are not reported as well.
        self.untyped: set[str] = set()

    def add(self, code: str, span: Span, message: str, *, label: str = "", help: str = "") -> None:
        """Notes a finding."""
        self.diagnostics.append(Diagnostic(code, span, message, label, help))

    def fail(self, code: str, span: Span, message: str, *, label: str = "", help: str = "") -> Unresolved:
        """Notes a finding and gives the exception to raise."""
        self.add(code, span, message, label=label, help=help)
        return Unresolved()


def nearest(name: str, known: Iterable[str], *, mark: str = "") -> str:
    """A help line with the names nearest to a wrong one, or all of them where they are few."""
    names = list(dict.fromkeys(known))
    close = get_close_matches(name, names, n=3, cutoff=0.6)
    if close:
        return "did you mean " + " or ".join(f"`{mark}{n}`" for n in close) + "?"
    if names and len(names) <= 12:
        return "known: " + ", ".join(f"`{mark}{n}`" for n in names)
    return ""
