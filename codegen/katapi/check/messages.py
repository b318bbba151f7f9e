"""Every message of a request is walked exactly once, or taken (K302, K304, K307, K308)."""

from __future__ import annotations

from katapi.check.traverse import all_statements, let_values, top_level, unsure_words
from katapi.check.wording import listed, unreachable_arm
from katapi.language.diagnostics import Diagnostic
from katapi.model import template as t
from katapi.model.program import Program
from katapi.model.types import MessageType


def check(program: Program) -> list[Diagnostic]:
    """The findings about `take` and the walk."""
    template = program.template
    found: list[Diagnostic] = []
    walk: t.Walk | None = None
    led: set[str] = set()
    unsure = unsure_words(template)
    left = [role.name for role in program.request.roles]
    for statement in top_level(template.body):
        match statement:
            case t.Walk():
                if walk is not None:
                    found.append(_second_walk(statement))
                    continue
                walk = statement
                found.extend(_check_walk(walk, led, unsure))
            case t.Take():
                if walk is not None:
                    found.append(
                        Diagnostic(
                            "K308",
                            statement.span,
                            "`take` after the walk: the messages have gone through an arm by now",
                            help="move it before `each … in messages`",
                        )
                    )
                if not statement.all:
                    led.update(statement.roles)
                else:
                    left = [role for role in left if role not in statement.roles]
            case _:
                pass
    if walk is None and left and "messages" not in unsure:
        found.append(
            Diagnostic(
                "K302",
                template.span,
                f"this template loses every message of role {listed(left)}",
                "it has no walk over the messages",
                "write `each m in messages { when … }`",
            )
        )
    return found + _other_loops(template)


def _second_walk(walk: t.Walk) -> Diagnostic:
    return Diagnostic(
        "K307", walk.span, "the messages are walked a second time", help="put both into the arms of one walk"
    )


def _check_walk(walk: t.Walk, led: set[str], unsure: frozenset[str]) -> list[Diagnostic]:
    found: list[Diagnostic] = []
    assert isinstance(walk.variable.type, MessageType)
    left = set(walk.variable.type.roles)
    guarded: set[str] = set()
    for arm in walk.arms:
        if not left & set(arm.roles):
            found.append(unreachable_arm(arm.span))
        if arm.condition is None:
            left -= set(arm.roles)
        else:
            guarded |= set(arm.roles)
    for role in walk.variable.type.roles:
        if role not in left or walk.unsure or role in unsure:
            continue
        if role in guarded:
            message, label = f"a message of role `{role}` may be lost", "every arm for it has a `where`"
            help_ = f"add `when {role} {{ … }}` without `where`"
        else:
            message, label = f"messages of role `{role}` are lost", f"no arm for `{role}`"
            label += "; `take leading` takes only the first message" if role in led else ""
            help_ = f"add `when {role} {{ … }}` with what is printed, with `drop {walk.variable.name}` or with `reject`"
        found.append(Diagnostic("K302", walk.span, message, label, help_))
    return found


def _other_loops(template: t.Template) -> list[Diagnostic]:
    """Loops over the messages under another name."""
    lets = let_values(template)
    found: list[Diagnostic] = []
    for statement in all_statements(template):
        if not isinstance(statement, t.Each):
            continue
        source = statement.source
        while isinstance(source, t.Var) and source.variable.number in lets:
            source = lets[source.variable.number]
        if isinstance(source, t.Var) and source.variable.binding is t.Binding.MESSAGES:
            found.append(
                Diagnostic(
                    "K307",
                    statement.source.span,
                    "this loop goes through the messages beside their walk",
                    help="write `each m in messages { when … }`, once",
                )
            )
    return found
