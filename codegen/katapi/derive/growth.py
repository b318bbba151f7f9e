"""What a template prints of a conversation, and what of that depends on messages that are still to come.

A conversation ends with a message of the assistant; messages of users, tools and the assistant come behind. Each arm
of a walk is looked at twice: for a message that has others behind it either way, and for the last one, once as such and
once with a next message of each role. What depends on nothing that can change is printed again just as it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from katapi.check.traverse import blocks, expressions, nested, sub_expressions, top_level
from katapi.derive.cuts import Cuts
from katapi.derive.fold import Constant, Facts, Folder, possible_roles
from katapi.derive.residue import Residue, Residues
from katapi.derive.seams import Seams
from katapi.language.source import Span
from katapi.language.syntax import End, Neighbour, Quantifier, Side
from katapi.model import template as t
from katapi.model.program import Program
from katapi.model.request import ASSISTANT
from katapi.runtime.messages import INSTRUCTING


@dataclass(frozen=True, slots=True)
class Change:
    """Something printed that messages to come may change: where, and what it depends on."""

    span: Span
    cause: str


def growing_roles(program: Program) -> tuple[str, ...]:
    """The roles of messages that can come behind a conversation."""
    return tuple(role.name for role in program.request.roles if not role.open and role.name not in INSTRUCTING)


class Growth:
    """Looks for what depends on messages to come, under values of parameters by the numbers of their variables."""

    def __init__(self, program: Program, constants: Mapping[int, Constant | None], cuts: Cuts) -> None:
        self._program = program
        self.growing = frozenset(growing_roles(program))
        messages = next(v.number for v in program.template.variables if v.binding is t.Binding.MESSAGES)
        self.facts = Facts(constants=constants, messages=messages)
        self._messages = messages
        self.seams = Seams(program, self.facts, cuts)

    def changes(self) -> list[Change]:
        """In the order of the template."""
        residues = Residues(Folder(self.facts))
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
            middle = self.arms(walk, role, replace(self.facts, last=False), before)
            found += self._in(middle or ())
        last = self.arms(walk, ASSISTANT, replace(self.facts, last=True), before)
        if last is None:
            return []
        further: dict[str, Residue] = {}
        for role in sorted(self.growing):
            runs = [arm for arm in walk.arms if arm.is_run and {role, ASSISTANT} <= {*arm.roles}]
            found += [Change(arm.span, "the messages of a run are printed together, and it may go on") for arm in runs]
            facts = replace(self.facts, last=False, next_role=role)
            followed = self.arms(walk, ASSISTANT, facts, before)
            if followed is not None:
                more = self.beyond(last, followed)
                found += [more] if isinstance(more, Change) else []
                further[role] = () if isinstance(more, Change) else more
        return list(dict.fromkeys(found)) or self._joined(walk, last, further, before)

    def _joined(self, walk: t.Walk, last: Residue, further: Mapping[str, Residue], before: Residues) -> list[Change]:
        """Where the text of a message behind goes on the run in which the conversation ends.

        `further` is what the last message prints more where one of a role comes behind.
        """
        behind = self._behind(walk, replace(self.facts, previous_role=ASSISTANT), before)
        # Behind a message that prints nothing stands one whose message before may have any role.
        anywhere = self._behind(walk, self.facts, before).values()
        found: list[Change] = []
        for role, more in further.items():
            if role not in behind:
                continue
            printed = (*more, *behind[role])
            beginnings = self.seams.beginnings(printed)
            if None in beginnings:
                beginnings = beginnings.union(*map(self.seams.beginnings, anywhere))
            if not self.seams.hold(last, beginnings):
                span = printed[0].span if printed else walk.span
                found.append(Change(span, f"the text of a message of `{role}` goes on that of the message before"))
        return found

    def _behind(self, walk: t.Walk, facts: Facts, before: Residues) -> dict[str, Residue]:
        """What messages print that come behind, by their roles."""
        arms = {role: self.arms(walk, role, facts, before) for role in sorted(self.growing)}
        return {role: residue for role, residue in arms.items() if residue is not None}

    def arms(self, walk: t.Walk, role: str, facts: Facts, before: Residues) -> Residue | None:
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

    # ---- what depends on messages to come

    def _in(self, residue: Residue) -> list[Change]:
        found: list[Change] = []
        for statement in residue:
            causes = [cause for expr in expressions(statement) if (cause := self._cause(expr)) is not None]
            if causes and _prints(statement):
                found.append(Change(statement.span, causes[0]))
            elif isinstance(statement, t.Take) and statement.all and self.growing & set(statement.roles):
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
                    if roles is None or roles & self.growing or expr.quantifier is Quantifier.ALL:
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

    def beyond(self, last: Residue, followed: Residue) -> Residue | Change:
        """What is printed more of the last message when another follows, or where it is not how that begins."""
        for at, (one, other) in enumerate(zip(last, followed, strict=False)):
            if one != other:
                more = self._more(one, other) if at == len(last) - 1 else None
                if more is None:
                    return Change(one.span, "it depends on whether a message follows")
                return more if isinstance(more, Change) else (*more, *followed[at + 1 :])
            if any(self._follows(expr) for expr in all_expressions(one)):
                return Change(one.span, "it depends on the message that follows")
        if len(last) > len(followed):
            return Change(last[len(followed)].span, "it is printed for the last message alone")
        return followed[len(last) :]

    def _more(self, one: t.Statement, other: t.Statement) -> Residue | Change | None:
        """What a statement prints more than another that prints how it begins; None where that is not known."""
        if not (isinstance(one, t.If) and isinstance(other, t.If) and one.test == other.test):
            return rest_of_text(one, other)
        then = self.beyond(one.then.statements, other.then.statements)
        otherwise = self.beyond(_otherwise(one), _otherwise(other))
        if isinstance(then, Change) or isinstance(otherwise, Change):
            return then if isinstance(then, Change) else otherwise
        blocks_of = [t.Block(block, span=other.span) for block in (then, otherwise)]
        return (replace(other, then=blocks_of[0], otherwise=blocks_of[1]),)

    @staticmethod
    def _follows(expr: t.Expr) -> bool:
        return isinstance(expr, t.NeighbourOf) and expr.neighbour is Neighbour.NEXT


def _otherwise(statement: t.If) -> Residue:
    return () if statement.otherwise is None else statement.otherwise.statements


def rest_of_text(one: t.Statement, other: t.Statement) -> Residue | None:
    """What is left of a text of the template behind another that is how it begins."""
    match one, other:
        case t.Print(value=t.TextConst(text=text)), t.Print(value=t.TextConst(text=whole) as value):
            if whole.startswith(text):
                return (replace(other, value=replace(value, text=whole.removeprefix(text))),)
        case _:
            pass
    return None


def all_expressions(statement: t.Statement) -> Iterator[t.Expr]:
    for expr in expressions(statement):
        yield from nested(expr)
    for block in blocks(statement):
        for inner in block.statements:
            yield from all_expressions(inner)


def _prints(statement: t.Statement) -> bool:
    """Whether a statement prints, or changes what later ones print."""
    match statement:
        case t.Print() | t.CallDef() | t.Walk() | t.Advance() | t.Begin():
            return True
        case _:
            return any(_prints(inner) for block in blocks(statement) for inner in block.statements)
