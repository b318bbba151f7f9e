"""What a template prints of a conversation, and what of that depends on messages that are still to come.

A conversation ends with a message of the assistant; messages of users, tools and the assistant come behind. Each arm
of a walk is looked at twice: for a message that has others behind it either way, and for the last one, once as such and
once with a next message of each role. What depends on nothing that can change is printed again just as it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from katapi.check.traverse import blocks, expressions, nested, sub_expressions, top_level
from katapi.derive.fold import Constant, Facts, Folder, mentions, possible_roles
from katapi.derive.residue import Residue, Residues
from katapi.derive.seams import Seams
from katapi.language.source import Span
from katapi.language.syntax import End, Neighbour, Quantifier, Side
from katapi.model import template as t
from katapi.model.program import Program
from katapi.model.request import ASSISTANT

#: Roles of messages that set a conversation up; with the tools and the parameters they are the same all along.
PREAMBLE = frozenset({"system", "developer"})


@dataclass(frozen=True, slots=True)
class Change:
    """Something printed that messages to come may change: where, and what it depends on."""

    span: Span
    cause: str


def growing_roles(program: Program) -> tuple[str, ...]:
    """The roles of messages that can come behind a conversation."""
    return tuple(role.name for role in program.request.roles if not role.open and role.name not in PREAMBLE)


class Growth:
    """Looks for what depends on messages to come, under values of parameters by the numbers of their variables."""

    def __init__(self, program: Program, constants: Mapping[int, Constant | None]) -> None:
        self._program = program
        self._growing = frozenset(growing_roles(program))
        messages = next(v.number for v in program.template.variables if v.binding is t.Binding.MESSAGES)
        self._facts = Facts(constants=constants, messages=messages)
        self._messages = messages

    def changes(self) -> list[Change]:
        """In the order of the template."""
        residues = Residues(Folder(self._facts))
        found: list[Change] = []
        before: list[t.Statement] = []
        walked = False
        for statement in top_level(self._program.template.body):
            if isinstance(statement, t.Walk):
                found += self._walk(statement, residues)
                walked = True
                continue
            left = residues.of([statement])
            if left is None:
                return []
            if walked:
                found += [Change(s.span, "it stands behind the messages") for s in left if _prints(s)]
            else:
                before += left
        return [*self._in(tuple(before)), *found]

    def _walk(self, walk: t.Walk, before: Residues) -> list[Change]:
        found: list[Change] = []
        for role in dict.fromkeys(role for arm in walk.arms for role in arm.roles):
            middle = self._arms(walk, role, replace(self._facts, last=False), before)
            found += self._in(middle or ())
        last = self._arms(walk, ASSISTANT, replace(self._facts, last=True), before)
        if last is None:
            return []
        for role in sorted(self._growing):
            runs = [arm for arm in walk.arms if arm.is_run and {role, ASSISTANT} <= {*arm.roles}]
            found += [Change(arm.span, "the messages of a run are printed together, and it may go on") for arm in runs]
            facts = replace(self._facts, last=False, next_role=role)
            followed = self._arms(walk, ASSISTANT, facts, before)
            found += [] if followed is None else self._prefix(last, followed)
        return list(dict.fromkeys(found)) or self._seams(walk, last, before)

    def _seams(self, walk: t.Walk, last: Residue, before: Residues) -> list[Change]:
        """Where the text of a message behind goes on the run in which the conversation ends."""
        seams = Seams(self._program, self._facts)
        if not seams.ends(last) & {"text", "nothing"}:
            return []
        behind: dict[str, Residue | None] = {}
        begins: dict[str, frozenset[str]] = {}
        # Behind a message that prints nothing stands one whose message before may have any role.
        for facts in (replace(self._facts, previous_role=ASSISTANT), self._facts):
            behind = {role: self._arms(walk, role, facts, before) for role in sorted(self._growing)}
            begins = {role: seams.begins(residue) for role, residue in behind.items() if residue is not None}
            if not any("nothing" in one for one in begins.values()):
                break
        return [
            Change(
                next((statement.span for statement in behind[role] or ()), walk.span),
                f"the text of a message of `{role}` goes on that of the message before",
            )
            for role, one in begins.items()
            if not one <= {"control", "nothing"}
        ]

    def _arms(self, walk: t.Walk, role: str, facts: Facts, before: Residues) -> Residue | None:
        """The residue of the arms that may handle a message of a role, as one choice; None where all refuse it.

        `before` knows the names that are given in front of the walk.
        """
        out: Residue | None = None
        for arm in reversed([arm for arm in walk.arms if role in arm.roles]):
            own = facts
            if arm.run is not None and not arm.is_run and (facts.last or facts.next_role not in (None, arm.then)):
                own = replace(facts, empty=facts.empty | {arm.run.number})
            residues = Residues(Folder(own, before.folder.lets), before.captures)
            body = residues.of(arm.body.statements)
            if arm.condition is None:
                out = body
                continue
            test = residues.folder.fold(arm.condition)
            if isinstance(test, t.BoolConst):
                out = body if test.value else out
            elif body is None or body == out:
                pass
            elif out is None:
                out = body
            else:
                otherwise = t.Block(out, span=arm.span) if out else None
                out = (t.If(test, t.Block(body, span=arm.span), otherwise, span=arm.span),)
        return out

    # ---- the generation prefix

    def prompts(self, generating: int) -> list[Change]:
        """Where a prompt with its generation prefix may not be how the conversation with the reply begins."""
        found = self._asked(generating)
        residues = Residues(Folder(self._facts))
        for statement in top_level(self._program.template.body):
            if isinstance(statement, t.Walk):
                for role in sorted(self._growing - {ASSISTANT}):
                    found += self._prompt(statement, role, generating, residues)
            elif residues.of([statement]) is None:
                return []
        return list(dict.fromkeys(found))

    def _asked(self, generating: int) -> list[Change]:
        """What is printed otherwise where a generation prefix is asked for, apart from that."""
        known = {number: value for number, value in self._facts.constants.items() if number != generating}
        facts = replace(self._facts, constants=known)
        residues = Residues(Folder(facts))
        printed: list[t.Statement] = []
        for statement in top_level(self._program.template.body):
            if isinstance(statement, t.Walk):
                for role in dict.fromkeys(role for arm in statement.arms for role in arm.roles):
                    for last in (False, True) if role != ASSISTANT else (False,):
                        own = replace(facts, last=last)
                        printed += self._arms(statement, role, own, residues) or ()
            else:
                printed += residues.of([statement]) or ()
        return [
            Change(statement.span, "it depends on whether a prefix is asked for")
            for statement in printed
            if any(mentions(expr, generating) for expr in _all_expressions(statement))
        ]

    def _prompt(self, walk: t.Walk, role: str, generating: int, before: Residues) -> list[Change]:
        last = self._arms(walk, role, replace(self._facts, last=True), before)
        followed = self._arms(walk, role, replace(self._facts, last=False, next_role=ASSISTANT), before)
        reply = self._arms(walk, ASSISTANT, replace(self._facts, previous_role=role, last=True), before)
        if last is None or followed is None or reply is None:
            return []
        constants = {**self._facts.constants, generating: True}
        folder = Folder(replace(self._facts, constants=constants, end_role=role), before.folder.lets)
        found = self._prefix(last, followed)
        for generate in self._program.template.generates:
            asked = None if generate.condition is None else folder.truth(generate.condition)
            if asked is False:
                continue
            prefix = Residues(folder).of(generate.body.statements)
            if prefix is None:
                continue
            if generate.condition is not None and asked is None:
                return [*found, Change(generate.span, "it depends on the conversation whether there is a prefix")]
            return found + self._leads(printed_together(prefix), printed_together(reply))
        return found

    def _leads(self, prefix: Residue, reply: Residue) -> list[Change]:
        """Where a generation prefix is not how each form of the reply begins, and ends in the middle of no run."""
        prefix, reply = _printing(prefix), _printing(reply)
        for at, one in enumerate(prefix):
            rest = reply[at:]
            if not rest:
                return [Change(one.span, "a reply may end before it")]
            other = rest[0]
            if one == other:
                continue
            forms = [(*branch, *rest[1:]) for branch in _branches(other)]
            if forms:
                found = [self._leads(prefix[at:], printed_together(form)) for form in forms]
                return list(dict.fromkeys(change for one_form in found for change in one_form))
            if at == len(prefix) - 1 and _begins(one, other):
                return [Change(one.span, "its text goes on in the reply")]
            return [Change(one.span, "a reply may begin otherwise")]
        seams = Seams(self._program, self._facts)
        if seams.ends(prefix) & {"text"} and seams.begins(reply[len(prefix) :]) & {"text", "nothing"}:
            return [Change(prefix[-1].span, "the text of a reply goes on its text")]
        return []

    # ---- what depends on messages to come

    def _in(self, residue: Residue) -> list[Change]:
        found: list[Change] = []
        for statement in residue:
            causes = [cause for expr in expressions(statement) if (cause := self._cause(expr)) is not None]
            if causes and _prints(statement):
                found.append(Change(statement.span, causes[0]))
            elif isinstance(statement, t.Take) and statement.all and self._growing & set(statement.roles):
                found.append(Change(statement.span, "it takes messages that may still come"))
            elif isinstance(statement, t.Take) and ASSISTANT in statement.roles:
                found.append(Change(statement.span, "it may take the only message"))
            else:
                for block in blocks(statement):
                    found += self._in(block.statements)
        return found

    def _cause(self, expr: t.Expr) -> str | None:
        """Why the value of an expression can change when messages come, if it can."""
        match expr:
            case t.Query(source=source, condition=condition, variable=variable):
                if self._grows(source):
                    roles = possible_roles(condition, variable)
                    if roles is None or roles & self._growing or expr.quantifier is Quantifier.ALL:
                        return f"`{expr.quantifier.value} {variable.name} in …` looks at messages to come"
                    return self._cause(condition)
            case t.EndOf(base=base, end=End.FIRST) if self._is_messages(base):
                return None
            case t.Given(value=value) | t.Exists(value=value) if self._is_messages(value):
                return None
            case t.Var() if self._is_messages(expr):
                return "`messages` holds messages to come"
            case t.View(side=Side.AFTER):
                return "it looks at messages to come"
            case _:
                pass
        return next((cause for part in sub_expressions(expr) if (cause := self._cause(part)) is not None), None)

    def _grows(self, source: t.Expr) -> bool:
        return self._is_messages(source) or (isinstance(source, t.View) and source.side is Side.AFTER)

    def _is_messages(self, expr: t.Expr) -> bool:
        return isinstance(expr, t.Var) and expr.variable.number == self._messages

    # ---- the last message

    def _prefix(self, last: Residue, followed: Residue) -> list[Change]:
        """Where what is printed of the last message is not how it begins when another follows."""
        for at, (one, other) in enumerate(zip(last, followed, strict=False)):
            if one != other:
                if at == len(last) - 1 and _begins(one, other):
                    return []
                if at == len(last) - 1 and isinstance(one, t.If) and isinstance(other, t.If) and one.test == other.test:
                    inner = self._prefix(one.then.statements, other.then.statements)
                    return inner + self._prefix(_otherwise(one), _otherwise(other))
                return [Change(one.span, "it depends on whether a message follows")]
            if any(self._follows(expr) for expr in _all_expressions(one)):
                return [Change(one.span, "it depends on the message that follows")]
        if len(last) > len(followed):
            return [Change(last[len(followed)].span, "it is printed for the last message alone")]
        return []

    @staticmethod
    def _follows(expr: t.Expr) -> bool:
        return isinstance(expr, t.NeighbourOf) and expr.neighbour is Neighbour.NEXT


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


def _otherwise(statement: t.If) -> Residue:
    return () if statement.otherwise is None else statement.otherwise.statements


def _printing(residue: Residue) -> Residue:
    """The statements at which something may be printed."""
    return tuple(s for s in residue if not isinstance(s, t.Capture | t.Begin | t.Advance))


def _branches(statement: t.Statement) -> list[Residue]:
    """The blocks of which one is printed, for a statement that chooses one."""
    match statement:
        case t.If(then=then):
            return [then.statements, _otherwise(statement)]
        case t.Match(arms=arms):
            return [arm.body.statements for arm in arms]
        case _:
            return []


def _begins(one: t.Statement, other: t.Statement) -> bool:
    """Whether a text of the template is how another begins."""
    match one, other:
        case t.Print(value=t.TextConst(text=text)), t.Print(value=t.TextConst(text=whole)):
            return whole.startswith(text)
        case _:
            return False


def _all_expressions(statement: t.Statement) -> Iterator[t.Expr]:
    for expr in expressions(statement):
        yield from nested(expr)
    for block in blocks(statement):
        for inner in block.statements:
            yield from _all_expressions(inner)


def _prints(statement: t.Statement) -> bool:
    """Whether a statement prints, or changes what later ones print."""
    match statement:
        case t.Print() | t.CallDef() | t.Walk() | t.Advance() | t.Begin():
            return True
        case _:
            return any(_prints(inner) for block in blocks(statement) for inner in block.statements)
