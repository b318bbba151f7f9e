"""A property of characters in many Unicode versions, kept as the newest version and what was different before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from katapi.runtime.dataclass import dataclass
from katapi.runtime.patterns.sets import Ranges, union
from katapi.runtime.unicode.codepoints import CodePoints


@dataclass(frozen=True)
class History:
    """The values of a property, each with its characters in the form that `CodePoints` takes.

    `newest` is the newest version. `earlier`, from new to old, has for each version the characters whose value was
    another than in the version after it, under the value that they had. A value that most characters have need not be
    written out in `newest`.
    """

    newest: Mapping[str, str]
    earlier: Mapping[str, Mapping[str, str]]

    def members(self, version: str, values: Iterable[str]) -> Ranges:
        """The characters that have one of `values` in a version: the newest, or one in `earlier`."""
        wanted = frozenset(values)
        members = _union(self.newest, wanted)
        if version in self.earlier:
            for older, changed in self.earlier.items():
                members = union((without(members, _union(changed, changed.keys())), _union(changed, wanted)))
                if older == version:
                    break
        return members


def without(members: Ranges, taken: Ranges) -> Ranges:
    """The characters of `members` that are not in `taken`."""
    left: list[tuple[int, int]] = []
    behind = iter(taken)
    start, stop = next(behind, _NONE)
    for first, last in members:
        while stop < first:
            start, stop = next(behind, _NONE)
        while start <= last:
            if first < start:
                left.append((first, start - 1))
            first = stop + 1
            if stop > last:
                break
            start, stop = next(behind, _NONE)
        if first <= last:
            left.append((first, last))
    return tuple(left)


_NONE = (1 << 21, 1 << 21)  # beyond every character


def _union(values: Mapping[str, str], wanted: Iterable[str]) -> Ranges:
    return union(CodePoints(values[value]).ranges for value in wanted if value in values)
