"""What a template prints for a picture, a video or a sound: the placeholders of parts of which it prints nothing else.

A part is such a one where the request rules ignore all of its fields but the tag that tells its kind. What stands for
it is known where the template goes through the parts of each message once, one after the other, and prints for each
kind nothing but what is written in the template.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from katapi.check.traverse import all_statements
from katapi.derive.ways import Part, Way, ways_of, within
from katapi.model import template as t
from katapi.model.program import Program
from katapi.model.types import ListType, MessageType, RecordType, TaggedType, TextType, Type, UnionType, present


@dataclass(frozen=True, slots=True)
class Placeholder:
    """What stands for parts of one kind."""

    tag: str
    """The field of a part that tells its kind."""
    kind: str
    ways: frozenset[Way]
    """The places of what may be printed for one; an empty way where it may be nothing."""


def placeholders_of(program: Program) -> tuple[Placeholder, ...]:
    """What stands for each kind of part, in the order of the kinds; nothing where that is not certain."""
    looking = _Looking(program, _kinds(program))
    if not looking.kinds:
        return ()
    try:
        looking.go_through()
    except _UncertainError:
        return ()
    return tuple(Placeholder(tag, kind, frozenset(ways)) for (tag, kind), ways in sorted(looking.found.items()))


def _kinds(program: Program) -> dict[str, list[tuple[str, str]]]:
    """By the records of parts that hold nothing to print, their tag with each kind."""
    found: dict[str, list[tuple[str, str]]] = {}
    for record in program.request.records:
        match [one for one in record.fields if not one.ignored]:
            case [tag] if isinstance(tag.type, TextType) and tag.type.choices is not None:
                found[record.name] = [(tag.name, kind) for kind in tag.type.choices]
            case _:
                pass
    return found


class _UncertainError(Exception):
    """A part may have no place, or more than one, or the places may stand in another order."""


@dataclass
class _Looking:
    """Goes through a template, and notes what it prints for parts."""

    program: Program
    kinds: dict[str, list[tuple[str, str]]]
    found: dict[tuple[str, str], set[Way]] = field(default_factory=dict)
    of_message: dict[t.Variable, t.Variable | None] = field(default_factory=dict)
    """The message that a variable holds, or a part of; None where it may be of any."""
    dropped: set[t.Variable] = field(default_factory=set)
    """The texts that are kept for tests alone."""
    calls: tuple[str, ...] = ()

    def go_through(self) -> None:
        """Notes all that the template prints for parts. Raises `_UncertainError`."""
        for statement in all_statements(self.program.template):
            match statement:
                case t.Drop(value=value) if self._may_hold(value.type):
                    raise _UncertainError
                case t.Drop(value=t.Var(variable=variable)):
                    self.dropped.add(variable)
                case _:
                    pass
        outside = self._of_block(self.program.template.body)
        if any(times > 1 for times in outside.values()):
            raise _UncertainError

    def _may_hold(self, of: Type) -> bool:
        return isinstance(present(of), MessageType) or bool(self._records(of))

    def _records(self, of: Type) -> list[str]:
        """The records of parts that a value may be, or a list of them."""
        match present(of):
            case ListType(item=item) | UnionType(list=ListType(item=item)):
                return self._records(item)
            case RecordType(name=name):
                return [name] if name in self.kinds else []
            case TaggedType(members=members):
                return [name for name, _ in members if name in self.kinds]
            case _:
                return []

    def _of_block(self, block: t.Block) -> Counter[t.Variable]:
        """How often at most the parts of each message are printed."""
        times: Counter[t.Variable] = Counter()
        for statement in block.statements:
            times += self._of(statement)
        return times

    def _of(self, statement: t.Statement) -> Counter[t.Variable]:
        match statement:
            case t.Block():
                return self._of_block(statement)
            case t.Sampled(body=body) | t.Joined(body=body) | t.ImageOf(body=body):
                return self._of_block(body)
            case t.Capture(variable=variable, body=body):
                return Counter() if variable in self.dropped else self._nowhere(body)
            case t.If(then=then, otherwise=otherwise):
                return self._of_one([then] if otherwise is None else [then, otherwise])
            case t.Match(arms=arms):
                return self._of_one(arm.body for arm in arms)
            case t.Let(variable=variable, value=value):
                self.of_message[variable] = self._message(value)
            case t.CallDef(name=name, arguments=arguments) if name not in self.calls:
                (definition,) = [d for d in self.program.template.definitions if d.name == name]
                passed = zip(definition.parameters, map(self._message, arguments), strict=True)
                inner = _Looking(self.program, self.kinds, self.found, dict(passed), self.dropped, (*self.calls, name))
                return inner._of_block(definition.body)
            case t.Each():
                return self._of_loop(statement)
            case t.Walk(arms=walk_arms):
                for arm in walk_arms:
                    self._of_arm(arm)
            case t.Take(all=everything, variable=variable, otherwise=otherwise):
                self.of_message[variable] = None if everything else variable
                return Counter() if otherwise is None else self._of_block(otherwise)
            case _:
                pass
        return Counter()

    def _of_one(self, blocks: Iterable[t.Block]) -> Counter[t.Variable]:
        times: Counter[t.Variable] = Counter()
        for block in blocks:
            times |= self._of_block(block)
        return times

    def _nowhere(self, block: t.Block) -> Counter[t.Variable]:
        """The same of a block in which no part may be printed."""
        if self._of_block(block):
            raise _UncertainError
        return Counter()

    def _of_arm(self, arm: t.WalkArm) -> None:
        """Each message of an arm is printed once, and no other with it."""
        own = {arm.variable} if arm.run is None else {arm.variable, arm.run}
        self.of_message[arm.variable] = arm.variable
        if arm.run is not None:
            self.of_message[arm.run] = arm.run
        times = self._of_block(arm.body)
        if times.keys() - own or any(count > 1 for count in times.values()):
            raise _UncertainError

    def _of_loop(self, loop: t.Each) -> Counter[t.Variable]:
        message = self._message(loop.source)
        plain = loop.condition is None and not loop.sorted
        records = self._records(loop.source.type)
        if not records:
            of = present(loop.source.type)
            is_run = isinstance(of, ListType) and isinstance(of.item, MessageType)
            self.of_message[loop.item] = message if plain and is_run else None
            return self._of_block(loop.body) if is_run else self._nowhere(loop.body)
        kinds = [kind for name in records for kind in self.kinds[name]]
        if not [kind for kind in kinds if self._note(loop, *kind)]:
            return Counter()
        if message is None or not plain:
            raise _UncertainError
        return Counter({message: 1})

    def _note(self, loop: t.Each, tag: str, kind: str) -> bool:
        """Notes what a loop prints for parts of a kind; whether that is anything."""
        ways = ways_of(loop.body, self.program, Part(loop.item, tag, kind))
        if ways is None:
            raise _UncertainError
        own = {tuple(site for site in way if within(site, loop.body.span, self.program.source)) for way in ways}
        if any(way and () in own for way in ways):
            raise _UncertainError  # what stands for it stands elsewhere too
        if ways == {()}:
            return False
        self.found.setdefault((tag, kind), set()).update(own)
        return bool(ways)

    def _message(self, value: t.Expr) -> t.Variable | None:
        """The message of which a value is a part."""
        match value:
            case t.Var(variable=variable):
                return self.of_message.get(variable)
            case t.FieldOf(base=base):
                return self._message(base)
            case t.Coalesce(options=(option, *others)) if all(isinstance(one, t.ListConst) for one in others):
                return self._message(option)
            case _:
                return None
