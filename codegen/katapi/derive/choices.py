"""The forms that a residue can take: one for each way in which its first choice comes out, and what then is known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from katapi.check.traverse import nested
from katapi.derive.fold import Facts, Folder, Known, untyped
from katapi.derive.residue import Residue, Residues
from katapi.language.syntax import End
from katapi.model import template as t
from katapi.model.types import BoolType, TextType, Trust

_PASSING = (t.Binding.LOOP, t.Binding.KEY, t.Binding.QUERY, t.Binding.COUNTER)
"""Variables of another value each time: what is known of one is not known of the next."""


def forms(residue: Residue, facts: Facts) -> list[tuple[Residue, Facts]]:
    """The forms of a residue that begins with a choice, each with its facts; none where it begins otherwise."""
    return list(_forms(residue, facts))


def _forms(residue: Residue, facts: Facts) -> Iterator[tuple[Residue, Facts]]:
    first, rest = residue[0], residue[1:]
    match first:
        case t.If(test=test, then=then, otherwise=otherwise):
            for truth, way in ((True, then.statements), (False, () if otherwise is None else otherwise.statements)):
                yield from _under((*way, *rest), facts, assumed(test, truth))
        case t.Match(arms=arms):
            for arm in arms:
                yield (*arm.body.statements, *rest), facts
        case t.Each(source=source):
            given = t.Given(source, type=BoolType(), span=first.span)
            rounds = *first_round(first, facts), *further_rounds(first, facts), *rest
            if first.condition is not None:
                yield from ((form, facts) for form in (rest, rounds))
                return
            if Folder(facts).truth(given) is not True:
                yield from _under(rest, facts, assumed(given, False))
            yield from _under(rounds, facts, assumed(given, True))
        case _:
            pass


def _under(residue: Residue, facts: Facts, known: Known) -> Iterator[tuple[Residue, Facts]]:
    more = replace(facts, known=(*facts.known, *known))
    left = Residues(Folder(more)).of(residue)
    if left is not None:
        yield left, more


def assumed(test: t.Expr, truth: bool) -> Known:
    """What is known where a test comes out so, about values that stay the same."""
    match test, truth:
        case t.Not(operand=operand), _:
            return assumed(operand, not truth)
        case (t.And(operands=operands), True) | (t.Or(operands=operands), False):
            return tuple(known for operand in operands for known in assumed(operand, truth))
        case (t.Given(value=value), True) | (t.Exists(value=value), False):
            kinds = (t.Given, t.Exists)
            told = tuple((untyped(kind(value, type=BoolType(), span=test.span)), truth) for kind in kinds)
            return () if any(map(_passes, nested(value))) else told
        case _:
            return () if any(_passes(inner) for inner in nested(test)) else ((untyped(test), truth),)


def _passes(expr: t.Expr) -> bool:
    match expr:
        case t.Var(variable=variable) | t.IsEnd(variable=variable):
            return variable.binding in _PASSING
        case _:
            return False


def first_round(loop: t.Each, facts: Facts) -> Residue:
    """What the first round of a loop prints."""
    return _round(loop, facts, first=True)


def further_rounds(loop: t.Each, facts: Facts) -> Residue:
    """What all rounds behind the first print, as a loop of its own."""
    body = _round(loop, facts, first=False)
    if loop.join:
        join = t.Print(t.TextConst(loop.join, type=TextType(Trust.LITERAL), span=loop.span), span=loop.span)
        return (replace(loop, join=None, body=t.Block((join, *body), span=loop.body.span)),)
    return (replace(loop, body=replace(loop.body, statements=body)),) if body else ()


def _round(loop: t.Each, facts: Facts, *, first: bool) -> Residue:
    variables = [loop.item] if loop.key is None else [loop.item, loop.key]
    ends = [t.IsEnd(variable, End.FIRST, type=BoolType(), span=loop.span) for variable in variables]
    known: Known = tuple((untyped(end), first) for end in ends)
    own = replace(facts, known=(*facts.known, *known))
    return Residues(Folder(own)).of(loop.body.statements) or ()
