"""How residues begin and end, and whether the ids of one stay when another is printed behind it."""

from __future__ import annotations

from collections.abc import Iterable

from katapi.derive.choices import first_round
from katapi.derive.cuts import Cuts
from katapi.derive.fold import Facts, Folder
from katapi.derive.residue import Residue, Residues
from katapi.derive.runs import ANYTHING, Beginning, ControlEdge, Ending, Head, Letters, Tail
from katapi.model import template as t
from katapi.model.program import Program
from katapi.model.types import ControlType
from katapi.runtime.printed import STRIPPED
from katapi.runtime.text import WHITE_SPACE

_NOTHING: frozenset[Beginning] = frozenset({None})
_TRIMS_START = (t.CutKind.TRIM, t.CutKind.TRIM_START)
_KEEPS_START = (t.CutKind.TRIM_END, t.CutKind.BEFORE, t.CutKind.BEFORE_LAST)


class Seams:
    """Looks at the ends of residues, and at what the tokenizer makes of a place between two of them."""

    def __init__(self, program: Program, facts: Facts, cuts: Cuts) -> None:
        self._definitions = {definition.name: definition for definition in program.template.definitions}
        self._facts = facts
        self._cuts = cuts
        self._open: set[str] = set()
        flags = [control.flags for control in program.vocabulary.controls]
        self._strips_before = any(one.lstrip for one in flags)
        self._strips_behind = any(one.rstrip for one in flags)

    def hold(self, before: Residue, beginnings: Iterable[Beginning]) -> bool:
        """Whether the ids of what is printed up to the end of `before` stay, whichever of these comes behind."""
        endings = self.endings(before)
        return all(self._cuts.hold(ending, beginning) for beginning in beginnings for ending in endings)

    # ---- what is printed first

    def beginnings(self, residue: Residue) -> frozenset[Beginning]:
        """What a residue may print first; None is among it where it may print nothing."""
        found: set[Beginning] = set()
        for statement in residue:
            one = self._first(statement)
            found |= one - _NOTHING
            if None not in one:
                return frozenset(found)
        return frozenset(found | _NOTHING)

    def _first(self, statement: t.Statement) -> frozenset[Beginning]:
        match statement:
            case t.Print(value=value):
                return self._first_of(value)
            case t.CallDef(name=name):
                if name in self._open:
                    return frozenset({ANYTHING, ControlEdge(self._strips_before), None})
                self._open.add(name)
                found = self.beginnings(self._called(statement))
                self._open.remove(name)
                return found
            case t.If(then=then, otherwise=otherwise):
                other = _NOTHING if otherwise is None else self.beginnings(otherwise.statements)
                return self.beginnings(then.statements) | other
            case t.Each():
                return self.beginnings(first_round(statement, self._facts)) | _NOTHING
            case t.Joined(body=body):
                return self.beginnings(body.statements) | _NOTHING
            case t.Match(arms=arms):
                return frozenset().union(*(self.beginnings(arm.body.statements) for arm in arms)) if arms else _NOTHING
            case _:
                return _NOTHING

    def _first_of(self, value: t.Expr) -> frozenset[Beginning]:
        """What a printed value begins with."""
        match value:
            case t.ControlConst(token=token):
                return frozenset({ControlEdge(token.flags.lstrip)})
            case t.TextConst(text=text):
                return frozenset({Head(tuple(Letters(character) for character in text)) if text else None})
            case t.Cut(kind=kind, argument=argument) if kind in _TRIMS_START:
                trimmed = WHITE_SPACE if argument is None else argument
                return frozenset({Head((Letters(trimmed, inverted=True),)), None})
            case t.Cut(kind=kind, base=base) if kind in _KEEPS_START:
                first = {Head(one.letters[:1]) if isinstance(one, Head) else one for one in self._first_of(base)}
                return frozenset(first | _NOTHING)
            case t.Serialize(value=t.ObjectExpr()):
                return frozenset({Head((Letters("{"),))})
            case t.Coalesce(options=options):
                return frozenset().union(*map(self._first_of, options), _NOTHING)
            case t.Conditional(then=then, otherwise=otherwise):
                return self._first_of(then) | self._first_of(otherwise)
            case _ if isinstance(value.type, ControlType):
                return frozenset({ControlEdge(self._strips_before)})
            case _:
                return frozenset({ANYTHING, None})

    # ---- what is printed last

    def endings(self, residue: Residue) -> frozenset[Ending]:
        """How all that was printed may end at the end of a residue, whatever was printed before it."""
        found, texts = self._last_of_all(residue, {""})
        return frozenset(found).union(*(self._behind_anything(text) for text in texts))

    def _last_of_all(self, residue: Residue, behind: set[str]) -> tuple[set[Ending], set[str]]:
        """The endings in front of texts that follow a residue, and the texts where the residue is but literal."""
        found: set[Ending] = set()
        for statement in reversed(residue):
            some, behind = self._last(statement, behind)
            found |= some
            if not behind:
                break
        return found, behind

    def _last(self, statement: t.Statement, behind: set[str]) -> tuple[set[Ending], set[str]]:
        match statement:
            case t.Print(value=t.TextConst(text=text)):
                return set(), {text + one for one in behind}
            case t.Print(value=t.ControlConst(token=token)):
                return {_ending(one, strips=token.flags.rstrip) for one in behind}, set()
            case t.Print(value=value) if isinstance(value.type, ControlType):
                strips = {self._strips_behind, False}
                return {_ending(one, strips=some) for one in behind for some in strips}, set()
            case t.Print():
                return self._behind_texts(behind), behind
            case t.CallDef(name=name):
                if name in self._open:
                    return self._behind_texts(behind), behind
                self._open.add(name)
                found = self._last_of_all(self._called(statement), behind)
                self._open.remove(name)
                return found
            case t.If(then=then, otherwise=otherwise):
                return self._either([then.statements, () if otherwise is None else otherwise.statements], behind)
            case t.Match(arms=arms):
                return self._either([arm.body.statements for arm in arms] or [()], behind)
            case t.Each(body=body):
                found_last, texts = self._last_of_all(body.statements, behind)
                return found_last | self._behind_texts(texts), behind
            case t.Joined(body=body):
                found_last, texts = self._either([(one,) for one in body.statements], behind)
                return found_last | self._behind_texts(texts), behind
            case _:
                return set(), behind

    def _either(self, ways: Iterable[Residue], behind: set[str]) -> tuple[set[Ending], set[str]]:
        """One of several residues is printed."""
        found: set[Ending] = set()
        texts: set[str] = set()
        for way in ways:
            some, more = self._last_of_all(way, behind)
            found |= some
            texts |= more
        return found, texts

    def _behind_texts(self, texts: Iterable[str]) -> set[Ending]:
        return set().union(*map(self._behind_anything, texts))

    def _behind_anything(self, text: str) -> set[Ending]:
        """A text behind any other, of which a control token may strip all, and then of this one too."""
        rest = text.lstrip(STRIPPED)
        return {Tail(text, whole=False)} | ({_ending(rest, strips=True)} if self._strips_behind else set())

    def _called(self, call: t.CallDef) -> Residue:
        """What a call prints."""
        definition = self._definitions[call.name]
        given = {one.number: value for one, value in zip(definition.parameters, call.arguments, strict=True)}
        return Residues(Folder(self._facts, given)).of(definition.body.statements) or ()


def _ending(text: str, *, strips: bool) -> Ending:
    """How a run ends that is a text behind a control token; where nothing of it is left, there is none."""
    rest = text.lstrip(STRIPPED) if strips else text
    return Tail(rest, whole=True) if rest else ControlEdge(strips)
