"""Which message each sampled region belongs to: the loss mask of some messages alone."""

from __future__ import annotations

from collections.abc import Sequence

from katapi.runtime.segments import ContentSegment, Segment


def owners_of(
    segments: Sequence[Segment], regions: Sequence[tuple[int, int]], roles: Sequence[str]
) -> list[int | None]:
    """For each region the index of its message: of the first whose content stands in it.

    `regions` are half-open ranges of segments in order, `roles` those of the request's messages. Regions without a
    content belong to the `assistant` messages between those of the regions around them, in order; where there are more
    such regions than messages, the first of them go on with the message before. None where there is no message.
    """
    known = [_first_message(segments[start:end]) for start, end in regions]
    owners: list[int | None] = []
    while len(owners) < len(known):
        at = len(owners)
        if known[at] is not None:
            owners.append(known[at])
            continue
        end = next((i for i in range(at, len(known)) if known[i] is not None), len(known))
        before = owners[-1] if owners else None
        first = 0 if before is None else before + 1
        last = known[end] if end < len(known) else None
        between = [i for i in range(first, len(roles) if last is None else last) if roles[i] == "assistant"]
        own: list[int | None] = [before] * max(0, end - at - len(between))
        owners += [*own, *between[: end - at]]
    return owners


def _first_message(segments: Sequence[Segment]) -> int | None:
    """The message of the first content."""
    for segment in segments:
        if isinstance(segment, ContentSegment):
            match segment.path:
                case ("messages", int(index), *_):
                    return index
                case _:
                    pass
    return None
