"""Where the resolver puts what it finds, and how it goes on after an error."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches

from katapi.language.diagnostics import Diagnostic
from katapi.language.source import Span
from katapi.model.declarations import ControlToken


class Unresolved(Exception):
    """A construct has no meaning; the finding is already noted, so whoever catches this only goes on."""


#: Findings that are true whatever is known about the values at a place.
_CERTAIN = frozenset({"K102", "K103", "K105", "K106", "K113", "K114", "K115"})


class Findings:
    """Collects diagnostics."""

    def __init__(self, untyped: Iterable[str] = ()) -> None:
        self.diagnostics: list[Diagnostic] = []
        #: Names whose declarations mean nothing or could not be read; their uses are not reported as well.
        self.untyped: set[str] = set(untyped)
        self._unsure = False

    @contextmanager
    def unsure(self) -> Iterator[None]:
        """Behind a mistake less is known about values than the author meant: only what is certain is noted."""
        before, self._unsure = self._unsure, True
        yield
        self._unsure = before

    def add(
        self, code: str, span: Span, message: str, *, label: str = "", help: str = "", first: Span | None = None
    ) -> None:
        """Notes a finding."""
        if not self._unsure or code in _CERTAIN:
            self.diagnostics.append(Diagnostic(code, span, message, label, help, first))

    def unknown_control(self, owner: str, name: str, known: Iterable[ControlToken], span: Span) -> None:
        """Notes that a vocabulary, `owner`, has no control token of a name."""
        self.add(
            "K102",
            span,
            f"{owner} has no control token `@{name}`",
            label="unknown control token",
            help=nearest(name, [control.name for control in known], mark="@"),
        )

    def fail(
        self, code: str, span: Span, message: str, *, label: str = "", help: str = "", first: Span | None = None
    ) -> Unresolved:
        """Notes a finding and gives the exception to raise."""
        self.add(code, span, message, label=label, help=help, first=first)
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
