"""Which of the boundaries that a template names it has: those of which it prints the text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields

from katapi.language.syntax import AnswerKind
from katapi.model import template as t


def literals(template: t.Template) -> frozenset[str]:
    """The texts that stand in a template as values, and those between the rounds of its loops."""
    found: set[str] = set()
    for node in _nodes((template.body, *template.definitions, *template.generates)):
        match node:
            case t.TextConst(text=text) | t.Joined(separator=text) | t.Each(join=str() as text):
                found.add(text)
            case _:
                pass
    return frozenset(found)


def there(template: t.Template) -> tuple[t.Boundary, ...]:
    """The boundaries whose text stands in one text of the template; of the others there is nothing to spell."""
    return _there(template, template.boundaries)


def guards(template: t.Template) -> tuple[t.Boundary, ...]:
    """Those of them that contents do not spell unanswered."""
    return _there(template, [one for one in template.boundaries if one.answer is not AnswerKind.ACCEPT])


def _there(template: t.Template, boundaries: Sequence[t.Boundary]) -> tuple[t.Boundary, ...]:
    texts = literals(template) if boundaries else ()
    return tuple(one for one in boundaries if one.text and any(one.text in text for text in texts))


def _nodes(value: object) -> Iterator[t.Typed | t.Placed]:
    """The statements and expressions in a value, in no order."""
    open_values = [value]
    while open_values:
        one = open_values.pop()
        if isinstance(one, tuple):
            open_values.extend(one)
        elif isinstance(one, t.Typed | t.Placed):
            yield one
            open_values.extend(getattr(one, part.name) for part in fields(one))
