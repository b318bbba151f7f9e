"""Compares what an official template and a spec make of a request, and says of what kind a difference is."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fnmatch import fnmatchcase

from katapi.runtime.json_types import Json
from tools.official_templates.environment import Outcome
from tools.official_templates.repairs import Repair, Request, Separators, Written, ways, without_unprinted, written


class Kind(Enum):
    """What is different, by whose fault it looks."""

    ERROR = "error"  # the official template failed, Katapi prints
    NONE = "none"  # the official template prints Python's None
    REPR = "repr"  # the official template prints another value of Python as such: True, {'a': 1}
    DROPPED = "dropped"  # the official template leaves out a content or a name
    REFUSED = "refused"  # Katapi refuses what the official template prints
    TEXT = "text"  # both print, and not the same


@dataclass(frozen=True, slots=True)
class Difference:
    """A request on which the two sides part."""

    request: Request
    official: Outcome
    katapi: Outcome
    kind: Kind
    detail: str
    """What tells differences of one kind apart: the fault of a side, the places that were left out."""
    mended: tuple[str, ...] = ()
    """The repairs of the request, by name, with which the two sides print the same."""

    @property
    def signature(self) -> str:
        """Kind and detail in one line: what `--allow` is matched with."""
        mended = f"(as with {', '.join(self.mended)})" if self.mended else ""
        return " ".join(filter(None, (self.kind.value, self.detail, mended)))


@dataclass(frozen=True, slots=True)
class Rule:
    """Differences that are allowed: a pattern of signatures, and perhaps what a value in the request must be like."""

    signature: str
    place: str = ""
    pattern: str = ""

    @classmethod
    def parse(cls, text: str) -> Rule:
        """`SIGNATURE` or `SIGNATURE when PLACE ~ REGEX`; in a signature `*` stands for anything."""
        signature, when, condition = text.partition(" when ")
        place, tilde, pattern = condition.partition(" ~ ")
        if when and not tilde:
            raise ValueError(f"{text!r}: behind `when` stands a place, ` ~ ` and a regular expression")
        re.compile(pattern)
        return cls(signature.strip(), place.strip(), pattern)

    def allows(self, difference: Difference) -> bool:
        """Whether a difference is one of these."""
        if not fnmatchcase(difference.signature, self.signature.replace("[", "[[]")):
            return False
        leaves = (leaf for place, leaf in _leaves(difference.request, "") if place == self.place)
        return not self.place or any(re.search(self.pattern, leaf) for leaf in leaves)


Side = Callable[[Request], Outcome]
_NO_SEPARATORS: Separators = {}
ONLY_PRINTED = "only what is printed"
"""The repair that leaves out what the official template does not print, for requests that Katapi refuses."""


def difference(
    request: Request,
    official: Side,
    katapi: Side,
    repairs: Sequence[Repair] = (),
    separators: Separators = _NO_SEPARATORS,
) -> Difference | None:
    """How the two sides part on a request, or None where both print the same or both refuse.

    The repairs are tried, and `separators` stand between the parts of a content, by role.
    """
    theirs, ours = official(request), katapi(request)
    if theirs.text == ours.text:
        return None
    mended = mended_by(request, ours.text, official, katapi, repairs, separators)
    if theirs.text is None:
        return Difference(request, theirs, ours, Kind.ERROR, theirs.fault, mended)
    kind = _python_in(theirs.text, ours.text or "", request)
    refusal = ours.fault
    if kind is not None:
        return Difference(request, theirs, ours, kind, refusal, mended)
    lost = _dropped(request, official, theirs.text, ours)
    if lost:
        return Difference(request, theirs, ours, Kind.DROPPED, ", ".join([*lost, refusal] if refusal else lost), mended)
    return Difference(request, theirs, ours, Kind.REFUSED if ours.text is None else Kind.TEXT, refusal, mended)


def mended_by(
    request: Request,
    ours: str | None,
    official: Side,
    katapi: Side,
    repairs: Sequence[Repair],
    separators: Separators,
) -> tuple[str, ...]:
    """The names of the fewest repairs with which the two sides print the same; `ours` is what Katapi prints without.

    Where Katapi prints, the official template alone gets the request that is written otherwise, but for the repairs for
    both. Where Katapi refuses, both get it, perhaps without all that the official template does not print.
    """
    if ours is not None:
        for some, otherwise in ways(request, repairs, separators, 5):
            both = [repair for repair in some if repair.both]
            expected = katapi(written(request, both, separators).request).text if both else ours
            if expected is not None and otherwise.resolved(official(otherwise.request).text) == expected:
                return tuple(repair.name for repair in some)
        return ()
    for some, otherwise in [((), Written(request)), *ways(request, repairs, separators, 2)]:
        names = tuple(repair.name for repair in some)
        printed = official(otherwise.request).text
        if printed is None:
            continue
        if printed == katapi(otherwise.request).text:
            return names
        shorter = without_unprinted(otherwise.request, lambda less: official(less).text, printed)
        if printed == katapi(shorter).text:
            return (*names, ONLY_PRINTED)
    return ()


_PYTHON = {Kind.NONE: r"\bNone\b", Kind.REPR: r"\b(?:True|False)\b|\{'|\['|': |Undefined"}


def _python_in(theirs: str, ours: str, request: Request) -> Kind | None:
    """Which values of Python stand in the official text and neither in Katapi's nor in the request."""
    known = Counter(re.findall("|".join(_PYTHON.values()), ours + json.dumps(request, ensure_ascii=False)))
    for kind, pattern in _PYTHON.items():
        if Counter(re.findall(pattern, theirs)) - known:
            return kind
    return None


_MARK = "qzkw{}qzkw"
_PLACES = re.compile(
    r"messages\[\]\.content(?:\[\]\.text)?|messages\[\]\.tool_calls\[\]\.function\.name|tools\[\]\.function\.name"
)


def _dropped(request: Request, official: Side, theirs: str, ours: Outcome) -> list[str]:
    """Places of texts that the official template does not print: another text there changes nothing.

    Only a text that Katapi refuses or prints counts.
    """
    lost: list[str] = []
    for number, (place, text) in enumerate(_texts(request, "")):
        if not text.strip() or not _PLACES.fullmatch(place):
            continue
        marked = official(_replaced(request, number, _MARK.format(number)))
        if marked.text == theirs and (ours.text is None or text.strip() in ours.text) and place not in lost:
            lost.append(place)
    return lost


def _texts(value: Json, place: str) -> Iterator[tuple[str, str]]:
    """Every text of a request with its place, lists without indices."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, Mapping):
        for key, member in value.items():
            yield from _texts(member, f"{place}.{key}" if place else key)
    elif isinstance(value, Sequence):
        for item in value:
            yield from _texts(item, f"{place}[]")


def _leaves(value: Json, place: str) -> Iterator[tuple[str, str]]:
    """What `_texts` gives, and whatever else holds no further values, as JSON: `null`, `true`, `0`, `[]`, `{}`."""
    if isinstance(value, Mapping) and value:
        for key, member in value.items():
            yield from _leaves(member, f"{place}.{key}" if place else key)
    elif isinstance(value, Sequence) and value and not isinstance(value, str):
        for item in value:
            yield from _leaves(item, f"{place}[]")
    else:
        yield place, value if isinstance(value, str) else json.dumps(value)


def _replaced(request: Request, number: int, text: str) -> Request:
    """A request with another text in the place of the one of a number, counted as `_texts` does."""
    at = iter(range(1 << 30))

    def copy(value: Json) -> Json:
        if isinstance(value, str):
            return text if next(at) == number else value
        if isinstance(value, Mapping):
            return {key: copy(member) for key, member in value.items()}
        return [copy(item) for item in value] if isinstance(value, Sequence) else value

    return {key: copy(member) for key, member in request.items()}
