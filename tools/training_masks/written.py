"""Which tokens of a conversation the model itself wrote, found out from what its template prints and from nothing else.

A reply is what follows its prompt: the conversation before it, rendered with the generation prompt. It ends with the
first token at which generation stops. So a template tells by itself, without marks, which ids of a whole conversation
are replies, as long as it prints prompt and reply in the whole conversation as it prints them when the reply is new.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

Ids = Sequence[int]
Judged = list[bool | None]
"""For each token whether the model wrote it; None where the template does not tell."""


class Turn(NamedTuple):
    """One reply of a conversation, and what the template prints up to it. All three are ids."""

    before: Ids
    """The messages before the reply."""
    prompt: Ids
    """The same with the generation prompt."""
    after: Ids
    """The messages up to the reply, the reply included."""


def common(one: Ids, other: Ids) -> int:
    """How many ids two sequences begin with in common."""
    for place, (mine, its) in enumerate(zip(one, other, strict=False)):
        if mine != its:
            return place
    return min(len(one), len(other))


def written(ids: Ids, turns: Sequence[Turn | None], stops: Collection[int]) -> Judged:
    """Judges each token of a conversation by its turns in order; None stands for a turn that can't be rendered alone.

    Not told are: a reply that does not follow its prompt or that is printed otherwise once it is history, from where it
    parts on up to the token that ends it; and a reply whose prompt does not begin as the conversation does, with all
    that follows up to the next prompt that does.
    """
    judged: Judged = [False] * len(ids)
    parted: int | None = None  # where the last reply parts from what is known of it
    lost: int | None = None  # since where nothing is known
    for turn in turns:
        begun = 0 if turn is None else common(turn.prompt, ids)
        opening = 0 if turn is None else common(turn.prompt, turn.before)
        if turn is None or begun < opening:
            lost = begun if lost is None else min(lost, begun)
            continue
        _untold(judged, ids, parted, lost, opening, stops)
        lost = None
        parted = _reply(judged, ids, turn, begun, stops)
    _untold(judged, ids, parted, lost, len(ids), stops)
    return judged


def _untold(judged: Judged, ids: Ids, parted: int | None, lost: int | None, limit: int, stops: Collection[int]) -> None:
    """Marks what is not told up to a place from which on something is known."""
    if parted is not None:
        end = next((i + 1 for i in range(parted, limit) if ids[i] in stops), limit)
        judged[parted:end] = [None] * (end - parted)
    if lost is not None and lost < limit:
        judged[lost:limit] = [None] * (limit - lost)


def _reply(judged: Judged, ids: Ids, turn: Turn, begun: int, stops: Collection[int]) -> int | None:
    """Marks a reply; gives the place from which it is not known, if there is one."""
    start = len(turn.prompt)
    if begun < start or common(turn.after, turn.prompt) < start:
        return min(begun, common(turn.after, turn.prompt))
    end = next((i + 1 for i in range(start, len(turn.after)) if turn.after[i] in stops), len(turn.after))
    same = min(common(turn.after, ids), end)
    judged[start:same] = [True] * (same - start)
    if same < end:
        return same
    ended = end > start and turn.after[end - 1] in stops
    if not ended and end < len(ids) and ids[end] in stops:  # the header of the next message is what ends the reply
        judged[end] = True
    return None
