"""Budget blocks → model."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from katapi.language import syntax as s
from katapi.language.printer import canonical
from katapi.language.source import Span
from katapi.model.declarations import Budget
from katapi.model.resolve.findings import Findings, nearest
from katapi.model.resolve.headers import identity
from katapi.model.resolve.settings import Misread, Part, Settings, settings_of
from katapi.runtime.budget.policy import (
    ORDERS,
    Allotment,
    CutLeft,
    Grouping,
    Misfit,
    Order,
    Overflow,
    Percent,
    Reject,
    Section,
    Share,
    Structure,
    Tokens,
)
from katapi.runtime.budget.policy import Budget as Policy

T = TypeVar("T")

_REQUIRED = "required"
_EXAMPLES = {
    Section.TOOLS: "priority 3, as given, skip",
    Section.HISTORY: "priority 1, newest first, by turn, skip",
    Section.DOCUMENTS: "priority 2, by score, skip",
}
_OVERFLOW = "reject | cut left, breaks messages, …"


class _Ranked(NamedTuple):
    """A section that is not required, the place of its priority among the others, and where that stands."""

    priority: int
    place: Span
    allotment: Allotment


@dataclass(slots=True)
class _Said:
    """What the parts of a section's line have said so far."""

    priority: int | None = None
    order: Order | None = None
    misfit: Misfit | None = None
    grouping: Grouping | None = None
    at_least: Share | None = None
    at_most: Share | None = None


def resolve_budget(node: s.Budget, findings: Findings) -> Budget:
    """A window and what is reserved in it, both in tokens; what of a request may be left out, and what of ids cut."""
    with settings_of(node.settings, node.header, findings) as read:
        window = read.number("window", "40960") or 0
        reserve = read.number("reserve", "8192") or 0
        overflow = _overflow(read)
        optional = _Sections(read, findings).optional(window - reserve)
    if reserve >= window > 0:
        findings.add("K708", read.place("reserve"), f"a reserve of {reserve} leaves nothing of a window of {window}")
    digest = "sha256:" + hashlib.sha256(canonical(node).encode()).hexdigest()
    policy = Policy(str(identity(node.header)), window, min(reserve, window), optional, overflow, digest)
    return Budget(identity(node.header), policy, node.header.span)


def _overflow(read: Settings) -> Overflow:
    """`reject`, or `cut left` and what that may break."""
    first, *others = read.parts("overflow", _OVERFLOW) or (None,)
    if first is None:
        return Reject()
    breaks: set[Structure] = set()
    try:
        how = Part(first)
        word = how.words({"reject": False, "cut left": True})
        if not word and others:
            raise Misread
    except Misread:
        read.misread("overflow", _OVERFLOW)
        return Reject()
    for one in others:
        part = Part(one)
        structures = {structure.value: structure for structure in Structure}
        try:
            if not part.flag("breaks"):
                raise Misread
            structure = part.words(structures)
        except Misread:
            remedy = f"write `breaks` and one of {', '.join(f'`{name}`' for name in structures)}"
            read.report(one.span, "this is nothing that a cut can break", remedy)
            continue
        if structure in breaks:
            read.report(one.span, f"`breaks {structure.value}` stands there twice", "leave one out")
        breaks.add(structure)
    return CutLeft(frozenset(breaks)) if word else Reject()


class _Sections:
    """Reads the lines of the sections: none of them, or all."""

    def __init__(self, read: Settings, findings: Findings) -> None:
        self._read = read
        self._findings = findings

    def optional(self, room: int) -> tuple[Allotment, ...]:
        """The sections that are not required, the first in front; `room` is what an input may have, in tokens."""
        named = [section for section in Section if self._read.says(section.value)]
        ranked: list[_Ranked] = []
        for section in Section if named else ():
            found = self._section(section)
            if found is not None:
                ranked.append(found)
        for key in () if named else Section:
            self._read.allows(key.value)
        self._distinct(ranked)
        if room > 0:
            self._shares(ranked, room)
        return tuple(one.allotment for one in sorted(ranked, key=lambda one: one.priority))

    def _section(self, section: Section) -> _Ranked | None:
        """One section; None where it is required, or says nothing that could be read."""
        key = section.value
        example = _EXAMPLES.get(section)
        parts = self._read.parts(key, _REQUIRED if example is None else f"{_REQUIRED}`, or `{key}: {example}")
        if not parts:
            return None
        if [atom.text for atom in parts[0].atoms if isinstance(atom, s.Name)] == [_REQUIRED] and len(parts) == 1:
            return None
        if example is None:
            span = Span(parts[0].span.start, parts[-1].span.end)
            message = f"nothing is ever left out of `{key}`"
            self._findings.add("K716", span, message, help=f"write `{key}: {_REQUIRED}`")
            return None
        return self._optional(section, parts, example)

    def _optional(self, section: Section, parts: tuple[s.Part, ...], example: str) -> _Ranked | None:
        key = section.value
        said = _Said()
        places: dict[str, Span] = {}
        sound = True
        for node in parts:
            try:
                what = self._say(said, section, node)
            except Misread:
                sound = False
                continue
            if what in places:
                self._findings.add("K107", node.span, f"`{key}` says its {what} twice", first=places[what])
            places.setdefault(what, node.span)
        for what, written in _wanted(section) if sound else ():
            if what not in places:
                message = f"`{key}` does not say its {what}"
                place = Span(parts[0].span.start, parts[-1].span.end)
                self._findings.add("K111", place, message, help=f"add `{written}`, as in `{key}: {example}`")
        if said.priority is None or said.order is None or said.misfit is None:
            return None
        grouping = said.grouping or Grouping.BY_MESSAGE
        allotment = Allotment(section, said.order, said.misfit, grouping, at_least=said.at_least, at_most=said.at_most)
        return _Ranked(said.priority, places["priority"], allotment)

    def _say(self, said: _Said, section: Section, node: s.Part) -> str:
        """Takes up what one part says, and tells of what that is; raises `Misread` behind a finding."""
        words = " ".join(atom.text for atom in node.atoms if isinstance(atom, s.Name))
        orders = {order.value: order for order in Order}
        groups = {grouping.value: grouping for grouping in Grouping}
        misfits = {misfit.value: misfit for misfit in Misfit}
        part = Part(node)
        if words == "priority":
            said.priority = self._priority(part)
            return "priority"
        if words in orders:
            if orders[words] not in ORDERS[section]:
                known = " or ".join(f"`{order.value}`" for order in ORDERS[section])
                raise self._bad(node, f"`{section.value}` has no order `{words}`", f"write {known}")
            said.order = self._words(part, orders, section)
            return "order"
        if words in groups:
            if section is not Section.HISTORY:
                raise self._bad(node, f"`{section.value}` has no messages to keep together", f"leave out `{words}`")
            said.grouping = self._words(part, groups, section)
            return "groups"
        if words in misfits:
            said.misfit = self._words(part, misfits, section)
            return "way with what does not fit"
        if words.startswith("at least"):
            said.at_least = self._share(part, "at least")
            return "share at least"
        if words.startswith("at most"):
            said.at_most = self._share(part, "at most")
            return "share at most"
        if words == _REQUIRED:
            raise self._bad(node, f"what is `{_REQUIRED}` says nothing else", f"write `{section.value}: {_REQUIRED}`")
        raise self._bad(node, f"this says nothing of `{section.value}`", nearest(words, _known(section)))

    def _words(self, part: Part, choices: Mapping[str, T], section: Section) -> T:
        try:
            return part.words(choices)
        except Misread:
            message, help = f"this says nothing of `{section.value}`", nearest("", _known(section))
            self._read.report(part.span, message, help)
            raise

    def _priority(self, part: Part) -> int:
        try:
            part.word()
            number = part.number()
            part.done()
        except Misread:
            number = 0
        if number == 0 and not self._findings.untyped:
            self._read.report(part.span, "a priority is a number from 1", "write `priority 1` for what is filled first")
            raise Misread
        return number

    def _share(self, part: Part, limit: str) -> Share:
        try:
            part.word()
            part.word()
            number = part.number()
            percent = part.words({"tokens": False, "percent": True})
        except Misread:
            example = f"write `{limit} 8192 tokens` or `{limit} 25 percent`"
            self._read.report(part.span, "a share is a number of `tokens`, or `percent` of the room", example)
            raise
        if percent and number > 100:
            message = f"{number} percent is more than the whole"
            self._findings.add("K718", part.span, message, help="write at most `100 percent`")
            raise Misread
        return Percent(number) if percent else Tokens(number)

    def _bad(self, node: s.Part, message: str, help: str) -> Misread:
        self._read.report(node.span, message, help)
        return Misread()

    def _distinct(self, ranked: list[_Ranked]) -> None:
        """No two sections have one priority."""
        seen: dict[int, _Ranked] = {}
        for one in ranked:
            first = seen.setdefault(one.priority, one)
            if first is not one and one.priority:
                message = f"`{first.allotment.section.value}` and `{one.allotment.section.value}` have one priority"
                help = "number them in the order in which they are filled"
                self._findings.add("K717", one.place, message, help=help, first=first.place)

    def _shares(self, ranked: list[_Ranked], room: int) -> None:
        """What is at least for a section is no more than it may have, and all of that together is there."""
        kept = 0
        for one in ranked:
            section, least, most = one.allotment.section, one.allotment.at_least, one.allotment.at_most
            if least is None:
                continue
            place = self._read.place(section.value)
            if most is not None and least.of(room) > most.of(room):
                message = f"`{section.value}` has at least {least.of(room)} tokens, and at most {most.of(room)}"
                self._findings.add(
                    "K718", place, message, help=f"of {room} tokens, which are the window less the reserve"
                )
            kept += least.of(room)
            if kept > room >= kept - least.of(room):
                message = f"{kept} tokens are kept for sections, and there are {room}"
                self._findings.add("K718", place, message, help="lower what is `at least` for one of them")


def _wanted(section: Section) -> list[tuple[str, str]]:
    """What a section that is not required must say, and how it is written."""
    order = ORDERS[section][0].value
    groups = [("groups", "by turn` or `by message")] if section is Section.HISTORY else []
    return [("priority", "priority 1"), ("order", order), *groups, ("way with what does not fit", "skip` or `stop")]


def _known(section: Section) -> list[str]:
    """What the parts of a section's line begin with."""
    groups = [grouping.value for grouping in Grouping] if section is Section.HISTORY else []
    others = ["priority", *(misfit.value for misfit in Misfit), "at least", "at most"]
    return [_REQUIRED, *(order.value for order in ORDERS[section]), *groups, *others]
