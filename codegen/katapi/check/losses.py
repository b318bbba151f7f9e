"""Which values are lost at the end of a block, and on which ways."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from katapi.check.paths import Fact, Place, Way
from katapi.model.types import Type


@dataclass(frozen=True, slots=True)
class Loss:
    """A value that some way loses; `where` says in words on which ways, and is empty where all lose it."""

    place: Place
    type: Type
    where: tuple[str, ...]


def losses(ends: Sequence[Way], required: Mapping[Place, Type]) -> list[Loss]:
    """The values that are required and not used on each of the ways."""
    out: list[Loss] = []
    for place, of in required.items():
        losing = [way for way in ends if not way.uses(place)]
        if losing:
            facts = _explanation(ends, place, min(losing, key=lambda way: len(way.facts)))
            out.append(Loss(place, of, tuple(fact.words for fact in facts)))
    return out


def _explanation(ends: Sequence[Way], place: Place, losing: Way) -> list[Fact]:
    """As few answers as tell that the value is lost: every way that agrees with them loses it."""
    facts = list(losing.facts)
    for fact in losing.facts:
        fewer = [f for f in facts if f is not fact]
        if all(not way.uses(place) for way in ends if _agrees(way, fewer)):
            facts = fewer
    return facts


def _agrees(way: Way, facts: Sequence[Fact]) -> bool:
    return all(way.answer(fact.key) in (fact.truth, None) for fact in facts)
