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
    every = (1 << classes) - 1
    sides: dict[int, int] = {}  # what may stand on the right → what may stand on the left
    for number, right in enumerate(_crossed(program, classes)):
        if right != every:
            sides[every & ~right] = sides.get(every & ~right, 0) | 1 << number
    if not sides:
        return None
    pairs = (f"{bracket_of_classes(left)}(?={bracket_of_classes(right)})" for right, left in sides.items())
    return re.compile("|".join(pairs).encode())


def safe_before(program: Program, classes: int, right: int) -> int:
    """The classes behind which a text can be cut where a character of the class `right` follows, as a set."""
    crossed = _crossed(program, classes)
    return sum(1 << number for number in range(classes) if not crossed[number] >> right & 1)


def _crossed(program: Program, classes: int) -> list[int]:
    """By class: before which classes, as a set, it may stand inside of a match or of a look-ahead."""
    if any(isinstance(step, Back) for step in program.steps):
        return [(1 << classes) - 1] * classes
    crossed = [0] * classes
    for step in program.steps:
        if not isinstance(step, Take):
            continue
        reached = _next_characters(program, step.then)
        for number in range(classes):
            if step.members >> number & 1:
                crossed[number] |= reached
    return crossed


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
