"""Cuts a text into stretches, which are longer than the pieces of a pattern: words, with the marks that stand at them.

A stretch begins at a space, wherever no match can lie across the place before it, and no look-ahead can look across
(`cuts.py`). So the pieces of a text are those of its stretches, each matched on its own, and few stretches are new:
what was made of one can be remembered.
"""

from __future__ import annotations

import re
import sys

from katapi.runtime.patterns.cuts import safe_before
from katapi.runtime.patterns.partition import Partition
from katapi.runtime.patterns.program import Program
from katapi.runtime.patterns.standard import bracket_of_characters

_LIMIT = 0x110000  # above all code points
# Python's `re` lost text in possessive repetitions of groups until 3.11.5. Here nothing follows, so that a greedy one
# matches the same; it takes a little longer.
_MORE = "*+" if sys.version_info >= (3, 11, 5) else "*"


class Stretches:
    """Cuts before a space, but for those that stand behind one of the characters `unsafe`, a bracket expression."""

    def __init__(self, unsafe: str) -> None:
        self._unsafe = re.compile(f" (?<={unsafe} )")  # looked for by its first character, so that it is found fast
        # Spaces and what is none; and more of both for as long as what stands before the next space is not safe.
        stretch = f" *+[^ ]*+(?:(?<={unsafe}) ++[^ ]*+){_MORE}"
        self._first = re.compile(stretch)
        self._others = re.compile(f" ({stretch})")

    def cut(self, text: str) -> tuple[str, list[str]]:
        """The first stretch, which can be empty, and those behind it, each without the space that it begins with.

        Time is linear in the text.
        """
        if self._unsafe.search(text) is None:
            others = text.split(" ")  # what the patterns below do, in a third of the time
            return others.pop(0), others
        begin = next(self._first.finditer(text))
        return begin[0], self._others.findall(text, begin.end())


def stretches_of(program: Program, partition: Partition) -> Stretches | None:
    """The stretches of texts that the matches of a pattern cover; None where no place before a space is safe."""
    (space,) = partition.classes_of(" ")
    safe = safe_before(program, partition.count, space)
    if not safe:
        return None
    return Stretches(bracket_of_characters(partition.ranges(partition.every & ~safe, _LIMIT), _LIMIT))
