"""Names in a generated scanner for classes of characters, sets of them, and states."""

from __future__ import annotations

from collections.abc import Iterable

from katapi.derive.scanning import Scanning
from katapi.runtime.native.cuts import trees_of
from katapi.runtime.patterns.printer import written_set
from katapi.runtime.patterns.tree import sets_of
from katapi.runtime.unicode import tables

_SIGNS = {" ": "SPACE", "'": "APOSTROPHE", "/": "SLASH", "\n\r": "LINE_BREAK"}
# In this order: a class is named by the first of these that hold all its characters, one or more of them.
_CATEGORIES = {
    "UPPER": ("Lu", "Lt"),
    "LOWER": ("Ll",),
    "OTHER_LETTER": ("Lm", "Lo"),
    "LETTER": ("L",),
    "MARK": ("M",),
    "NUMBER": ("N",),
    "PUNCTUATION": ("P",),
    "SYMBOL": ("S",),
    "SIGN": ("P", "S"),
    "SEPARATOR": ("Z",),
}
_WIDEST = 60  # characters of a comment


class Names:
    """The names for one scanner."""

    def __init__(self, scanning: Scanning) -> None:
        self._scanning = scanning
        self.classes: list[str] = []
        """By class, the end of the text last."""
        for number in range(scanning.end):
            self.classes.append(_distinct(self._class(number), self.classes))
        self.classes.append("END")
        self.sets: dict[int, str] = {}
        """The names of sets of classes that were asked for."""
        self._declared = {
            scanning.partition.members(item): written_set(item)
            for tree in trees_of(scanning.cuts)
            for item in sets_of(tree)
        }
        self.states: list[str] = []
        """By state: how the method is called that stands for it."""
        for state in scanning.states:
            name = "_".join(["behind", *(self.classes[number].lower() for number in state.path)])
            self.states.append(_distinct(name, self.states))

    def sample(self, number: int) -> str:
        """A character of a class, a printable one of ASCII where there is one."""
        ranges = self._scanning.partition.ranges(1 << number, 0x110000)
        codes = [code for first, last in ranges for code in range(first, min(last, first + 200) + 1)]
        return chr(next((code for code in codes if 0x20 <= code < 0x7F), codes[0]))

    def of_set(self, members: int) -> str:
        """The name of a set of classes; that of its class where there is one only."""
        numbers = _numbers(members)
        if len(numbers) == 1:
            return self.classes[numbers[0]]
        if members not in self.sets:
            inside = self._parts(members)
            outside = self._parts(self._scanning.partition.every & ~members)
            parts, prefix = (inside, "") if len(inside) <= len(outside) else (outside, "NOT_")
            name = prefix + "_OR_".join([*parts[:3], "MORE"] if len(parts) > 4 else parts)
            self.sets[members] = _distinct(name, [*self.sets.values(), *self.classes])
        return self.sets[members]

    def value_of_set(self, members: int) -> str:
        """A set of classes as an expression."""
        return f"1 << {self.of_set(members)}" if members.bit_count() == 1 else self.of_set(members)

    def _parts(self, members: int) -> list[str]:
        """What a set consists of: classes, and groups of classes that are there wholly or but for a few."""
        parts: list[str] = []
        for name, group in self._groups().items():
            held = members & group
            inside = "_".join(self.classes[number] for number in _numbers(held))
            if held == group:
                parts.append(name)
            elif held.bit_count() > 4:
                parts.append("_".join([name, "BUT", *(self.classes[number] for number in _numbers(group & ~held))]))
            elif held:
                parts.append(inside)
        return parts

    def _groups(self) -> dict[str, int]:
        """Classes by what they are: those of single letters go with the others of their kind."""
        groups: dict[str, int] = {}
        for number in range(self._scanning.end):
            name = self.classes[number]
            if len(name) == 1 or name.startswith("SMALL_"):
                kind = "UPPER" if len(name) == 1 else "LOWER"
                name = kind if kind in self.classes else "LETTER"
            groups[name] = groups.get(name, 0) | 1 << number
        return {f"{name}S" if group.bit_count() > 1 else name: group for name, group in groups.items()}

    def meaning(self, members: int) -> str:
        """What a set of classes is, for a comment."""
        written = self._declared.get(members, "")
        listed = ", ".join(self.classes[number] for number in _numbers(members))
        return next((text for text in (written, listed) if 0 < len(text) <= _WIDEST), f"{members.bit_count()} classes")

    def _class(self, number: int) -> str:
        partition, unicode = self._scanning.partition, self._scanning.cuts[0][1]
        ranges = partition.ranges(1 << number, 0x110000)
        if sum(last - first + 1 for first, last in ranges) <= 4:
            text = "".join(chr(code) for first, last in ranges for code in range(first, last + 1))
            if text in _SIGNS:
                return _SIGNS[text]
            if (
                text[0].isascii()
                and text[0].isalpha()
                and len({letter.lower() for letter in text if letter.isascii()}) == 1
            ):
                return text[0] if text[0].isupper() else f"SMALL_{text[0].upper()}"
        if all(_within(part, tables.WHITE_SPACE.ranges) for part in ranges):
            return "WHITE_SPACE"
        for name, categories in _CATEGORIES.items():
            held = [item for category in categories for item in tables.general_category(category, unicode).ranges]
            if all(_within(part, held) for part in _split(ranges, held)):
                return name
        return "OTHER"


def _numbers(members: int) -> list[int]:
    return [number for number in range(members.bit_length()) if members >> number & 1]


def _within(part: tuple[int, int], ranges: Iterable[tuple[int, int]]) -> bool:
    return any(first <= part[0] and part[1] <= last for first, last in ranges)


def _split(ranges: Iterable[tuple[int, int]], at: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The ranges, cut where one of `at` ends."""
    ends = sorted(last for _, last in at)
    parts: list[tuple[int, int]] = []
    for first, last in ranges:
        for end in ends:
            if first <= end < last:
                parts.append((first, end))
                first = end + 1
        parts.append((first, last))
    return parts


def _distinct(name: str, taken: Iterable[str]) -> str:
    used = set(taken)
    if name not in used:
        return name
    return next(f"{name}_{number}" for number in range(2, 1000) if f"{name}_{number}" not in used)
