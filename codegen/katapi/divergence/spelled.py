"""Contents that spell a control token: text in one execution, and that token in another that read them as such."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from katapi.divergence.known import Known
from katapi.divergence.plain import items, numbers, objects
from katapi.runtime.json_types import Json
from katapi.runtime.places import json_path
from katapi.runtime.stages import Stage


class Spelled(NamedTuple):
    """A control token that a content spells."""

    token: str
    """As it is spelled."""
    where: str
    """The content, by its path in the request."""
    text_in: int
    """The execution in which it is text: 0 for the first, 1 for the second."""
    more: int
    """How many more of this token the other execution has."""

    def to_json(self) -> dict[str, Json]:
        """The four fields by their names."""
        return {"token": self.token, "where": self.where, "text_in": self.text_in, "more": self.more}


def spelled(one: Known, other: Known) -> tuple[Spelled, ...]:
    """The contents of either that spell a control token which the template printed, and the other has more often."""
    return (*_spelled(one, other, 0), *_spelled(other, one, 1))


def _spelled(side: Known, opposite: Known, index: int) -> Iterator[Spelled]:
    if Stage.RENDERED not in side.stages or not all(Stage.IDS in each.stages for each in (side, opposite)):
        return
    segments = objects(side.stages[Stage.RENDERED]["segments"])
    controls = {str(each["text"]): each["id"] for each in segments if each["kind"] == "control"}
    ids = {text: id for text, id in controls.items() if isinstance(id, int)}
    mine, theirs = (numbers(each.stages[Stage.IDS]["input_ids"]) for each in (side, opposite))
    more = {text: count for text, id in ids.items() if (count := theirs.count(id) - mine.count(id)) > 0}
    for text, count in more.items():
        for each in segments:
            if each["kind"] == "content" and text in str(each["text"]):
                path = [step for step in items(each["path"]) if isinstance(step, int | str)]
                yield Spelled(text, json_path(path), index, count)
