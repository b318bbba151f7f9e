"""Which message each sampled region belongs to: the loss mask of some messages alone."""

from __future__ import annotations

from collections.abc import Sequence

from katapi.runtime.segments import ContentSegment, Segment


def owners_of(
    segments: Sequence[Segment], regions: Sequence[tuple[int, int]], roles: Sequence[str]
) -> list[int | None]:
    """For each region the index of its message: of the first whose content stands in it.

    `regions` are half-open ranges of segments in order, `roles` those of the request's messages. Regions that follow
    one another with nothing between them are of one message, unless their contents are of several: so what a template
    marks in the next message, the header that ended the reply, belongs to the reply. Others without a content belong
    to the `assistant` messages between those of the regions around them, in order; where there are more such regions
    than messages, the first of them go on with the message before. None where there is no message.
    """
    known, sizes = _joined(segments, regions)
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
    return [owner for owner, size in zip(owners, sizes, strict=True) for _ in range(size)]


def _joined(segments: Sequence[Segment], regions: Sequence[tuple[int, int]]) -> tuple[list[int | None], list[int]]:
    """Regions that are of one message, in order: the message of their contents, and how many they are."""
    known: list[int | None] = []
    sizes: list[int] = []
    behind: int | None = None
    for start, end in regions:
        message = _first_message(segments[start:end])
        if start == behind and (message is None or known[-1] in (None, message)):
            known[-1] = message if known[-1] is None else known[-1]
            sizes[-1] += 1
        else:
            known.append(message)
            sizes.append(1)
        behind = end
    return known, sizes


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
