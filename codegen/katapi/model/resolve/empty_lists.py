"""An empty list is a list of whatever the others beside it hold."""

from __future__ import annotations

from dataclasses import replace

from katapi.model import template as t
from katapi.model.types import ListType, present


def with_item_types(options: tuple[t.Expr, ...]) -> tuple[t.Expr, ...]:
    """The sides of a `??`, empty lists among them with the type of the first list that is not written empty."""
    of = next((present(o.type) for o in options if isinstance(present(o.type), ListType) and not _is_empty(o)), None)
    return options if of is None else tuple(replace(o, type=of) if _is_empty(o) else o for o in options)


def _is_empty(expr: t.Expr) -> bool:
    return isinstance(expr, t.ListConst) and not expr.items
