"""What a pattern leaves between its matches, as a pattern: `(?:(?!…)[…])+`."""

from __future__ import annotations

from katapi.runtime.patterns.tree import Alternation, CharacterSet, Class, Look, Mode, Repeat, Sequence


def gap(matches: Alternation, members: CharacterSet) -> Sequence:
    """Takes the characters of a set up to where a match begins: a choice to stand behind those of `matches`."""
    one = Sequence((Look(matches, negative=True), Class(members)), 0, 0)
    return Sequence((Repeat(Alternation((one,)), 1, None, Mode.GREEDY),), 0, 0)


def gap_of(choice: Sequence) -> tuple[Alternation, CharacterSet] | None:
    """What `gap` was given, where it made the choice."""
    match choice.items:
        case (Repeat(Alternation((Sequence((Look(matches, True), Class(members))),)), 1, None, Mode.GREEDY),):
            return matches, members
        case _:
            return None
