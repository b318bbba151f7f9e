"""Finds places at which a text can be cut without changing its matches.

Between two classes of characters such as a letter and a space, often no match can lie across, and no look-ahead can
look across. What stands on either side of such a place can be matched on its own.
"""

from __future__ import annotations

import re

from katapi.runtime.patterns.program import Back, Program, Take, goes_on_to
from katapi.runtime.patterns.standard import bracket_of_classes


def safe_cuts(program: Program, classes: int) -> re.Pattern[bytes] | None:
    """A pattern over classes of characters that ends at such places; None where there are none.

    `classes` is their number. A pattern that looks back has no such places.
    """
    if any(isinstance(step, Back) for step in program.steps):
        return None
    every = (1 << classes) - 1
    crossed = [0] * classes  # by class: before which classes it may stand inside of a match or of a look-ahead
    for step in program.steps:
        if not isinstance(step, Take):
            continue
        reached = _next_characters(program, step.then)
        for number in range(classes):
            if step.members >> number & 1:
                crossed[number] |= reached
    sides: dict[int, int] = {}  # what may stand on the right → what may stand on the left
    for number, right in enumerate(crossed):
        if right != every:
            sides[every & ~right] = sides.get(every & ~right, 0) | 1 << number
    if not sides:
        return None
    pairs = (f"{bracket_of_classes(left)}(?={bracket_of_classes(right)})" for right, left in sides.items())
    return re.compile("|".join(pairs).encode())


def _next_characters(program: Program, step: int) -> int:
    """The classes of which the next character can be one, in the pattern or in a look-ahead, as a set."""
    members = 0
    seen = {step}
    pending = [step]
    while pending:
        reached = program.steps[pending.pop()]
        if isinstance(reached, Take):
            members |= reached.members
        for other in goes_on_to(reached):
            if other not in seen:
                seen.add(other)
                pending.append(other)
    return members
