"""Whether a pattern always cuts a text at one place, and cuts what stands before that place as if nothing followed.

The automata that find the matches of a pattern (`katapi.runtime.patterns.automaton`) have a state at each place of a
text. Here they run over all texts of a kind at once: over those with something behind the place and, in step with them,
over those that end there. The states that can come together are few, and all of them are looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from katapi.runtime.patterns.automaton import Automaton, Place, Suffix

_MOST = 1 << 17  # states that are looked at before the answer is that there is no proof

_Pair: TypeAlias = tuple[Suffix, Suffix]  # with something behind the place, and with nothing
_Node: TypeAlias = tuple[
    int, _Pair
]  # so many characters before the place; one more than the tail has for all places farther
_State: TypeAlias = tuple[_Node, Place, Place]


def always_cuts(automaton: Automaton, classes: int, tail: bytes, head: Sequence[int], *, whole: bool) -> bool:
    """Whether it does behind `tail`, a text in classes, which is all before the place or, unless `whole`, its end.

    `head` has the sets of classes in which the first characters behind the place lie, in order; any text may follow
    them. `classes` is the number of all.
    """
    every = (1 << classes) - 1
    behind = _everywhere_before({automaton.behind_all}, every)
    for members in reversed(head or (every,)):
        behind = _before(behind, members)
    pairs: set[_Pair] = {(suffix, automaton.behind_all) for suffix in behind}
    following: dict[_Node, list[_Node]] = {(0, pair): [] for pair in pairs}
    for distance, member in enumerate(reversed(tail), start=1):
        pairs = _lead_to(following, distance - 1, pairs, distance, 1 << member)
    starts = {(len(tail), pair) for pair in pairs}
    if not whole:
        farther = len(tail) + 1
        pairs = _lead_to(following, len(tail), pairs, farther, every)
        seen: set[_Pair] = set()
        while pairs and len(following) < _MOST:
            seen |= pairs
            pairs = _lead_to(following, farther, pairs, farther, every) - seen
        starts |= {(farther, pair) for pair in seen}
        if pairs:
            return False
    return _cut_alike(automaton, starts, following)


def _everywhere_before(suffixes: set[Suffix], members: int) -> set[Suffix]:
    """The states before any text of some classes, the empty one included."""
    seen, new = set(suffixes), suffixes
    while new:
        new = _before(new, members) - seen
        seen |= new
    return seen


def _before(suffixes: Iterable[Suffix], members: int) -> set[Suffix]:
    """The states one character of some classes to the left."""
    return {suffix[number] for suffix in suffixes for number in _numbers(members)}


def _lead_to(following: dict[_Node, list[_Node]], near: int, pairs: set[_Pair], far: int, members: int) -> set[_Pair]:
    """The pairs one character of some classes to the left of others, each entered with those that it leads to."""
    found: set[_Pair] = set()
    for pair in pairs:
        for number in _numbers(members):
            left = pair[0][number], pair[1][number]
            found.add(left)
            following.setdefault((far, left), []).append((near, pair))
    return found


def _cut_alike(automaton: Automaton, starts: set[_Node], following: dict[_Node, list[_Node]]) -> bool:
    """Whether both runs of the second automaton cut alike on all ways to the place, and the first one cuts there."""
    first = automaton.before_all
    pending: list[_State] = [(node, first, first) for node in starts]
    seen = set(pending)
    while pending:
        if len(seen) > _MOST:
            return False
        (distance, (suffix, ending)), place, alone = pending.pop()
        here = place[suffix]
        if distance == 0:
            if not here.cuts:
                return False
            continue
        here_alone = alone[ending]
        if here.cuts is not here_alone.cuts:
            return False
        for node in following[distance, (suffix, ending)]:
            state = node, here, here_alone
            if state not in seen:
                seen.add(state)
                pending.append(state)
    return True


def _numbers(members: int) -> Iterable[int]:
    return (number for number in range(members.bit_length()) if members >> number & 1)
