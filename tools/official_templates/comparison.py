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

Request = Mapping[str, Json]


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

    @property
    def signature(self) -> str:
        """Kind and detail in one line: what `--allow` is matched with."""
        return f"{self.kind.value} {self.detail}".strip()


@dataclass(frozen=True, slots=True)
class Rule:
    """Differences that are allowed: a pattern of signatures, and perhaps what a text in the request must be like.

    An empty list counts as the text `[]`.
    """

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
        texts = (text for place, text in _texts(difference.request, "", lists=True) if place == self.place)
        return not self.place or any(re.search(self.pattern, text) for text in texts)


Side = Callable[[Request], Outcome]


def difference(request: Request, official: Side, katapi: Side) -> Difference | None:
    """How the two sides part on a request, or None where both print the same or both refuse."""
    theirs, ours = official(request), katapi(request)
    if theirs.text == ours.text:
        return None
    if theirs.text is None:
        return Difference(request, theirs, ours, Kind.ERROR, theirs.fault + _as_mended(request, official, ours))
    kind = _python_in(theirs.text, ours.text or "", request)
    refusal = ours.fault
    if kind is not None:
        return Difference(request, theirs, ours, kind, refusal + _as_mended(request, official, ours))
    lost = _dropped(request, official, theirs.text, ours)
    if lost:
        return Difference(request, theirs, ours, Kind.DROPPED, ", ".join([*lost, refusal] if refusal else lost))
    return Difference(request, theirs, ours, Kind.REFUSED if ours.text is None else Kind.TEXT, refusal)


def _as_mended(request: Request, official: Side, ours: Outcome) -> str:
    """Says so where the official template prints what Katapi does once contents that are null or absent are empty."""
    messages = request.get("messages")
    if ours.text is None or not isinstance(messages, Sequence):
        return ""
    empty = {"content": ""}
    mended = [{**m, **({} if m.get("content") is not None else empty)} for m in messages if isinstance(m, Mapping)]
    return " (as with an empty content)" if official({**request, "messages": mended}).text == ours.text else ""


_PYTHON = {Kind.NONE: r"\bNone\b", Kind.REPR: r"\b(?:True|False)\b|\{'|\['|': |Undefined"}


def _python_in(theirs: str, ours: str, request: Request) -> Kind | None:
    """Which values of Python stand in the official text and neither in Katapi's nor in the request."""
    known = Counter(re.findall("|".join(_PYTHON.values()), ours + json.dumps(request, ensure_ascii=False)))
    for kind, pattern in _PYTHON.items():
        if Counter(re.findall(pattern, theirs)) - known:
            return kind
    return None


_MARK = "qzkw{}qzkw"
_PLACES = re.compile(r"messages\[\]\.content|messages\[\]\.tool_calls\[\]\.function\.name|tools\[\]\.function\.name")


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


def _texts(value: Json, place: str, *, lists: bool = False) -> Iterator[tuple[str, str]]:
    """Every text of a request with its place, lists without indices; with `lists` also `[]` for each empty list."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, Mapping):
        for key, member in value.items():
            yield from _texts(member, f"{place}.{key}" if place else key, lists=lists)
    elif isinstance(value, Sequence):
        if lists and not value:
            yield place, "[]"
        for item in value:
            yield from _texts(item, f"{place}[]", lists=lists)


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
