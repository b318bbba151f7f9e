"""Every `match` says what happens for each value, and no arm of it is in vain (K301, K304)."""

from __future__ import annotations

from katapi.check.traverse import all_statements
from katapi.check.wording import listed, unreachable_arm
from katapi.language.diagnostics import Diagnostic
from katapi.model import template as t
from katapi.model.program import Program
from katapi.model.types import KIND_WORDS, JsonKind, TextType, kinds_told_apart, present


def check(program: Program) -> list[Diagnostic]:
    """The findings about each `match`."""
    found: list[Diagnostic] = []
    for statement in all_statements(program.template):
        if isinstance(statement, t.Match):
            found.extend(_check_match(statement))
    return found


def _check_match(match: t.Match) -> list[Diagnostic]:
    found: list[Diagnostic] = []
    kinds = kinds_told_apart(match.subject.type)
    assert kinds is not None, "the resolver lets only values with kinds be matched"
    choices = _choices(match.subject)
    left_kinds, left_choices = set(kinds), None if choices is None else set(choices)
    texts: set[str] = set()
    for arm in match.arms:
        if not _fits(arm, left_kinds, left_choices, texts):
            found.append(unreachable_arm(arm.span))
        if arm.condition is None:
            left_kinds -= kinds if arm.other else arm.kinds
            texts.update(arm.texts)
            if left_choices is not None:
                left_choices -= set(arm.texts)
                if not left_choices:
                    left_kinds -= KIND_WORDS["text"]
    if left_kinds and not match.unsure:
        words = _missing(left_kinds, None if left_choices is None else [c for c in choices or () if c in left_choices])
        found.append(
            Diagnostic(
                "K301",
                match.subject.span,
                f"this `match` has no arm for {listed(words)}",
                "not covered",
                f"add `when {words[0]} {{ … }}`" + (" or `when other { … }`" if words[0] != "other" else ""),
            )
        )
    return found


def _choices(subject: t.Expr) -> tuple[str, ...] | None:
    of = present(subject.type)
    return of.choices if isinstance(of, TextType) else None


def _fits(arm: t.MatchArm, kinds: set[JsonKind], choices: set[str] | None, texts: set[str]) -> bool:
    """Whether some value that the arms before have left over may come to this one."""
    if arm.other:
        return bool(kinds)
    if arm.kinds & kinds:
        return True
    if JsonKind.TEXT not in kinds:
        return False
    return any(text in choices if choices is not None else text not in texts for text in arm.texts)


def _missing(kinds: set[JsonKind], choices: list[str] | None) -> list[str]:
    """What is left, in the words of patterns."""
    left = set(kinds)
    out: list[str] = []
    if choices is not None and JsonKind.TEXT in left:
        out.extend(f'"{choice}"' for choice in choices)
        left.discard(JsonKind.TEXT)
    if {JsonKind.INTEGER, JsonKind.FRACTION} <= left:
        out.append("number")
        left -= KIND_WORDS["number"]
    if JsonKind.FRACTION in left:
        out.append("number")
        left.discard(JsonKind.FRACTION)
    return out + [kind.value for kind in JsonKind if kind in left]
