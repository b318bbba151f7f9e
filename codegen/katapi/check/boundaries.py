"""What a template says of boundaries between messages that are plain text (K406 to K408)."""

from __future__ import annotations

from collections.abc import Iterator

from katapi.check.traverse import all_statements, expressions, nested
from katapi.language.diagnostics import Diagnostic
from katapi.language.source import Span
from katapi.model import template as t
from katapi.model.boundaries import guards, literals, there
from katapi.model.program import Program
from katapi.model.sites import site_of
from katapi.runtime.segments import Site

_MOST_MESSAGES = 2
_SAMPLER = "assistant"  # the role whose messages a model writes
#: The roles of which all messages come from one hand: to spell another message of its own role gains nothing.
_ONE_HAND = ("system", "developer", "user")


def check(program: Program) -> list[Diagnostic]:
    """The findings about the boundaries that a template names."""
    return [*_not_there(program.template), *_unsafe(program.template)]


def unanswered(program: Program) -> list[Diagnostic]:
    """The boundaries that contents can spell and the template does not name, as small requests show.

    Left out are contents that the model itself writes, and roles that speak for themselves alone.
    Each finding has two requests behind it that print the same, so the program has to be sound.
    """
    # derive looks through templates with the help of check, and so cannot be there before it.
    from katapi.derive.boundaries import answered, forgeries

    texts = literals(program.template)
    spans = _spans(program)
    found: dict[Span, Diagnostic] = {}
    for forgery in forgeries(program, _MOST_MESSAGES):
        by_model = forgery.sampled or forgery.role == _SAMPLER
        if by_model or (forgery.within and forgery.role in _ONE_HAND) or answered(program, forgery):
            continue
        spelled = [one for stretch in forgery.boundary for one in stretch.literals]
        named = [(text, site) for text, site in spelled if any(text in own for own in texts) and site in spans]
        if not named:
            continue
        text, site = max(named, key=lambda one: (len(one[0].strip()), len(one[0])))
        found.setdefault(
            spans[site],
            Diagnostic(
                "K406",
                spans[site],
                "text alone parts messages here, and a content can spell it",
                f"`{forgery.speaker}` can",
                f"say what becomes of such a content: `boundary {_quoted(text.strip() or text)}: reject`, or `accept`, "
                'or `escape with "…"`',
            ),
        )
    return list(found.values())


def _spans(program: Program) -> dict[Site, Span]:
    """The places of all that may print a literal."""
    found: dict[Site, Span] = {}
    for statement in all_statements(program.template):
        spans = [inner.span for whole in expressions(statement) for inner in nested(whole)]
        for span in [statement.span, *spans]:
            found[site_of(span, program.source)] = span
    return found


def _quoted(text: str) -> str:
    from katapi.language.literals import quote

    return quote(text)


def _not_there(template: t.Template) -> Iterator[Diagnostic]:
    known = there(template)
    for boundary in template.boundaries:
        if boundary not in known:
            yield Diagnostic(
                "K407",
                boundary.span,
                "no text of the template holds this boundary" if boundary.text else "an empty text parts nothing",
                help="write what stands in one text of the template, or remove it",
            )


def _unsafe(template: t.Template) -> Iterator[Diagnostic]:
    """Escapes that can spell a boundary again with what stands beside them."""
    for boundary in guards(template):
        escape = boundary.escape
        if escape is None:
            continue
        again = next((one.text for one in guards(template) if not escape or _can_spell(escape, one.text)), None)
        if again is not None:
            yield Diagnostic(
                "K408",
                boundary.span,
                f"with this escape a content can still spell {_quoted(again)}",
                f"becomes {_quoted(escape)}",
                "write an escape that is not empty, and that no edge or part of the boundary fits",
            )


def _can_spell(escape: str, text: str) -> bool:
    """Whether a text can stand across one edge of an escape, around it or inside it."""
    across = any(escape.endswith(text[:k]) or escape.startswith(text[k:]) for k in range(1, len(text)))
    return across or text in escape or escape in text
