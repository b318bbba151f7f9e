"""Which values are lost at the end of a block, and on which ways."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from katapi.check.paths import Fact, Place, Way
from katapi.model.types import Type


@dataclass(frozen=True, slots=True)
class Loss:
    """A value that some way loses; `where` says in words on which ways, and is empty where all lose it.

    It is not `certain` where the ways were too many to tell them all apart.
    """

    place: Place
    type: Type
    where: tuple[str, ...]
    certain: bool = True


def losses(ends: Sequence[Way], required: Mapping[Place, Type]) -> list[Loss]:
    """The values that are required and not used on each of the ways."""
    out: list[Loss] = []
    for place, of in required.items():
        losing = [way for way in ends if not way.uses(place)]
        if losing:
            shown = min(losing, key=lambda way: (not _certain(way, place), len(way.facts)))
            facts = _explanation(ends, place, shown)
            certain = _certain(shown, place) or not any(_touched(way, place) for way in ends)
            out.append(Loss(place, of, tuple(fact.words for fact in facts), certain))
    return out


def _certain(way: Way, place: Place) -> bool:
    """Whether there is such a way, and it does not use a value."""
    return not way.vague and all(place[:n] not in way.some for n in range(1, len(place) + 1))


def _touched(way: Way, place: Place) -> bool:
    """Whether a value, or one that holds it, is used on a way, or on one of those that were joined into it."""
    return way.uses(place) or any(place[:n] in way.some for n in range(1, len(place) + 1))


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
