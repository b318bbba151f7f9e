"""Whether the statements of a template come to an end."""

from __future__ import annotations

from katapi.model import template as t


def always_rejects(block: t.Block) -> bool:
    """Whether a block never comes to its end."""
    return any(rejects(statement) for statement in block.statements)


def rejects(statement: t.Statement) -> bool:
    """Whether a statement never comes to its end."""
    match statement:
        case t.Reject():
            return True
        case t.Block():
            return always_rejects(statement)
        case t.If(test=t.BoolConst(value=truth), then=then, otherwise=otherwise):
            chosen = then if truth else otherwise
            return chosen is not None and always_rejects(chosen)
        case t.If(then=then, otherwise=otherwise):
            return otherwise is not None and always_rejects(then) and always_rejects(otherwise)
        case t.Match(arms=arms, unsure=unsure):
            return bool(arms) and not unsure and all(always_rejects(arm.body) for arm in arms)
        case t.Sampled(body=body) | t.Joined(body=body) | t.Capture(body=body):
            return always_rejects(body)
        case _:
            return False
