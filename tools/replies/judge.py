"""What is wrong with a reading of a reply."""

from __future__ import annotations

from enum import Enum

from tools.replies.malformed import Expected
from tools.replies.said import Called, Said


class Fault(Enum):
    """What is wrong."""

    RAISES = "raises an exception"
    SLOW = "takes longer than its time"
    INVENTED = "a call that the model did not write"
    ALTERED = "a call with other arguments"
    LOST = "a call lost"
    CONTENT_LOST = "content lost"
    CONTENT_ADDED = "content added"
    REASONING_LOST = "reasoning lost"
    REASONING_ADDED = "reasoning added"
    SPACE = "white space lost"


def faults(read: Said, expected: Expected) -> frozenset[Fault]:
    """What of a reading is not as it must be."""
    found: set[Fault] = set()
    _calls(read.calls, expected, found)
    if expected.text is not None:
        _together(read, expected.text, found)
        return frozenset(found)
    _compare(read.content, expected.content, found, Fault.CONTENT_LOST, Fault.CONTENT_ADDED)
    _compare(read.reasoning, expected.reasoning, found, Fault.REASONING_LOST, Fault.REASONING_ADDED)
    return frozenset(found)


def _calls(read: tuple[Called, ...], expected: Expected, found: set[Fault]) -> None:
    left = list(expected.allowed)
    for call in read:
        place = next((at for at, other in enumerate(left) if other.same(call)), None)
        if place is not None:
            del left[: place + 1]
        else:
            known = any(other.name == call.name for other in expected.allowed)
            found.add(Fault.ALTERED if known else Fault.INVENTED)
    missing = list(read)
    for call in expected.kept:
        same = next((at for at, other in enumerate(missing) if other.same(call)), None)
        if same is None:
            if Fault.ALTERED not in found:
                found.add(Fault.LOST)
        else:
            del missing[same]


def _together(read: Said, text: str, found: set[Fault]) -> None:
    """Whether all of a text is somewhere, word by word."""
    if any(word not in read.content + read.reasoning + read.rest for word in text.split()):
        found.add(Fault.CONTENT_LOST)


def _compare(read: str, allowed: tuple[str, ...] | None, found: set[Fault], lost: Fault, added: Fault) -> None:
    if allowed is None:
        return
    own = read.strip()
    known = [text.strip() for text in allowed]
    if own in known:
        return
    expected = known[0]
    if not own or (own in expected and len(own) < len(expected)):
        found.add(lost)
    elif expected in own:
        found.add(added)
    else:
        found.update((lost, added))
