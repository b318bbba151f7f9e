"""Whether a prompt with its generation prefix is how the conversation with the reply begins."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from katapi.check.traverse import statements, top_level, with_inner
from katapi.derive.choices import forms
from katapi.derive.fold import Facts, Folder, mentions
from katapi.derive.growth import Change, Growth, all_expressions, rest_of_text
from katapi.derive.residue import Residue, Residues
from katapi.model import template as t
from katapi.model.program import Program
from katapi.model.request import ASSISTANT

_SILENT = (t.Capture, t.Begin, t.Advance)  # statements that print nothing themselves
_MOST_CHOICES = 8  # that a reply may begin with before its forms are too many


class Replies:
    """Looks at what is printed of a prompt and of its reply; `generating` is the number of that variable."""

    def __init__(self, program: Program, growth: Growth, generating: int) -> None:
        self._template = program.template
        self._growth = growth
        self._facts = growth.facts
        self._generating = generating
        self._counting: set[str] = set()
        for _ in program.template.definitions:  # one that calls another counts where that does
            self._counting |= {one.name for one in program.template.definitions if _counts(one.body, self._counting)}

    def changes(self) -> list[Change]:
        """Where a prompt may not be how the conversation with the reply begins."""
        found = self._asked()
        before: list[t.Statement] = []
        residues = Residues(Folder(self._facts))
        for statement in top_level(self._template.body):
            if isinstance(statement, t.Walk):
                for role in sorted(self._growth.growing - {ASSISTANT}):
                    found += self._answered(statement, role, residues)
                found += self._answered_in_front(statement, tuple(before), residues)
                continue
            left = residues.of([statement])
            if left is None:
                return []
            before += left
        return list(dict.fromkeys(found))

    def _asked(self) -> list[Change]:
        """What is printed otherwise where a generation prefix is asked for, apart from that."""
        known = {number: value for number, value in self._facts.constants.items() if number != self._generating}
        facts = replace(self._facts, constants=known)
        residues = Residues(Folder(facts))
        printed: list[t.Statement] = []
        for statement in top_level(self._template.body):
            if isinstance(statement, t.Walk):
                for role in dict.fromkeys(role for arm in statement.arms for role in arm.roles):
                    for last in (False, True) if role != ASSISTANT else (False,):
                        own = replace(facts, last=last)
                        printed += self._growth.arms(statement, role, own, residues) or ()
            else:
                printed += residues.of([statement]) or ()
        return [
            Change(statement.span, "it depends on whether a prefix is asked for")
            for statement in printed
            if any(mentions(expr, self._generating) for expr in all_expressions(statement))
        ]

    def _answered(self, walk: t.Walk, role: str, before: Residues) -> list[Change]:
        """What may change where a message of a role ends a prompt."""
        arms = self._growth.arms
        reply = arms(walk, ASSISTANT, replace(self._facts, previous_role=role, last=True), before)
        if reply is None:
            return []
        found: list[Change] = []
        last = arms(walk, role, replace(self._facts, last=True), before)
        followed = arms(walk, role, replace(self._facts, last=False, next_role=ASSISTANT), before)
        if last is not None and followed is not None:
            more = self._growth.beyond(last, followed)
            found += [more] if isinstance(more, Change) else self._prompt(last, (*more, *reply), role, before)
        # Messages that an arm prints with the one before them.
        for leader in [leader for arm in walk.arms if not arm.is_run and arm.then == role for leader in arm.roles]:
            run = arms(walk, leader, replace(self._facts, last=False, next_role=role), before)
            found += [] if run is None else self._prompt(run, reply, role, before)
        return found

    def _answered_in_front(self, walk: t.Walk, printed: Residue, before: Residues) -> list[Change]:
        """The same where a message ends it that is taken, and printed in front of the walk."""
        taken = [one for one in statements(t.Block(printed, span=walk.span)) if isinstance(one, t.Take)]
        roles = {role for one in taken for role in one.roles} & self._growth.growing - {ASSISTANT}
        reply = self._growth.arms(walk, ASSISTANT, replace(self._facts, last=True), before)
        if reply is None:
            return []
        return [change for role in sorted(roles) for change in self._prompt(printed, reply, role, before)]

    def _prompt(self, printed: Residue, reply: Residue, role: str, before: Residues) -> list[Change]:
        """What may change of a prompt that ends with `printed`, a message of a role, when the reply is printed."""
        constants = {**self._facts.constants, self._generating: True}
        folder = Folder(replace(self._facts, constants=constants, end_role=role), before.folder.lets)
        prefix: Residue | None = ()
        for generate in self._template.generates:
            asked = None if generate.condition is None else folder.truth(generate.condition)
            if asked is False:
                continue
            if generate.condition is not None and asked is None:
                return [Change(generate.span, "it depends on the conversation whether there is a prefix")]
            prefix = Residues(folder).of(generate.body.statements)
            if prefix is not None:
                break
        if prefix is None:
            return []
        prefix = printed_together(_printing(prefix))
        return self._leads(prefix, printed_together(reply), self._facts, (*printed, *prefix))

    def _leads(
        self,
        prefix: Residue,
        reply: Residue,
        facts: Facts,
        printed: Residue,
        *,
        choices: int = 0,
        advanced: bool = False,
    ) -> list[Change]:
        """Where a generation prefix is not how each form of the reply begins, or the reply changes ids of the prompt.

        `printed` is what the prompt ends with, the prefix included; `choices` of the reply are made, and whether it has
        `advanced` a counter is known.
        """
        cause = "the text of a reply goes on its text"
        for at, one in enumerate(prefix):
            while reply and isinstance(reply[0], _SILENT):
                advanced, reply = advanced or not isinstance(reply[0], t.Capture), reply[1:]
            if not reply:
                return [Change(one.span, "a reply may end before it")]
            other, rest = reply[0], reply[1:]
            if one == other:
                if advanced and _counts(one, self._counting):
                    return [Change(one.span, "a reply may count on")]
                reply = rest
                continue
            ways = forms(reply, facts) if choices < _MOST_CHOICES else []
            if ways:
                found: list[Change] = []
                for way, known in ways:
                    form = printed_together(way)
                    found += self._leads(prefix[at:], form, known, printed, choices=choices + 1, advanced=advanced)
                return list(dict.fromkeys(found))
            more = rest_of_text(one, other) if at == len(prefix) - 1 else None
            if more is None:
                return [Change(one.span, "a reply may begin otherwise")]
            reply = (*more, *rest)
            cause = "its text goes on in the reply"
        if self._growth.seams.hold(printed, self._growth.seams.beginnings(reply)):
            return []
        return [Change((prefix or _printing(reply))[-1 if prefix else 0].span, cause)]


def printed_together(residue: Residue) -> Residue:
    """The same with texts of the template that follow one another in one."""
    out: list[t.Statement] = []
    for statement in residue:
        match out[-1] if out else None, statement:
            case t.Print(value=t.TextConst(text=text) as before) as one, t.Print(value=t.TextConst(text=more)):
                out[-1] = replace(one, value=replace(before, text=text + more))
            case _:
                out.append(statement)
    return tuple(out)


def _printing(residue: Residue) -> Residue:
    """The statements at which something may be printed."""
    return tuple(s for s in residue if not isinstance(s, _SILENT))


def _counts(statement: t.Statement, counting: Collection[str]) -> bool:
    """Whether what a statement prints depends on a counter; `counting` are defs of which that is known."""
    of_expressions = any(
        isinstance(expr, t.Var) and expr.variable.binding is t.Binding.COUNTER for expr in all_expressions(statement)
    )
    calls = [one for one in with_inner(statement) if isinstance(one, t.CallDef)]
    return of_expressions or any(call.name in counting for call in calls)
