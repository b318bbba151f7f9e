"""Emits `katapi_scanners/<name>.py`: where the pieces of a text end, as a method for each state of an automaton.

Reads `katapi.derive.scanning`; writes one module, which mypyc compiles.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from katapi.derive.scanning import Scanning, State
from katapi.emit.environment import render
from katapi.emit.pattern import pattern_lines
from katapi.emit.scanner_names import Names

_LETTERS = [*range(0x41, 0x5B), *range(0x61, 0x7B)]
_RUNS = {"letters": _LETTERS, "lower": _LETTERS[26:], "upper": _LETTERS[:26]}
"""What is found eight bytes at a time, by the name of the function that finds it."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A class of characters or a set of them: its name, its value, and what it is."""

    name: str
    value: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Method:
    """A method: its name, its arguments behind `self`, the lines of its docstring, and its body."""

    name: str
    arguments: str
    doc: list[str]
    body: list[str]


@dataclass(frozen=True, slots=True)
class Run:
    """A function that finds the end of a run, and the lines in it that tell which of eight bytes `x` do not belong."""

    name: str
    body: list[str]


@dataclass(frozen=True, slots=True)
class ScannerContext:
    """What `scanner.py.j2` shows."""

    users: str
    patterns: list[str]
    classes: list[Constant]
    sets: list[Constant]
    runs: list[Run]
    loops: list[Constant]
    words: list[str]
    imported: str
    methods: list[Method]


def emit_scanner(scanning: Scanning, users: Iterable[str]) -> str:
    """The text of the module; `users` are the names of the tokenizers that have these pre-tokenizers."""
    return _Emitter(scanning).module(users)


class _Emitter:
    def __init__(self, scanning: Scanning) -> None:
        self._scanning = scanning
        self._names = Names(scanning)
        self._loops: dict[int, str] = {}  # the attribute with the steps of a loop, by its set of classes
        self._word_sets: list[int] = []
        self._used: set[str] = set()  # functions that find runs
        self._circles = _circles(scanning.states)
        self._needing = _needing(scanning.states)

    def module(self, users: Iterable[str]) -> str:
        methods = self._entry()
        starts = {region.start for region in self._scanning.regions}
        entered = {way.to for state in self._scanning.states for way in state.ways}
        for circle in self._circles:
            if (circle[0] not in starts or circle[0] in entered) and not self._only_ends(circle[0]):
                methods.append(self._method(circle))
        names = self._names
        sets = ", ".join(names.value_of_set(members) for members in self._word_sets)
        words = [f"self.words = self.words_of({sets})"] if sets else []
        if words and len(words[0]) > 112:
            words = ["self.words = self.words_of(", f"    {sets}", ")"]
        spaces = any("SPACES" in line for method in methods for line in method.body)
        imported = [*(["CLOSES", "INSIDE", "OPENS"] if words else []), *(["SPACES"] if spaces else [])]
        return render(
            "scanner.py.j2",
            ScannerContext(
                users=", ".join(users),
                patterns=[line for pattern, unicode in self._scanning.cuts for line in self._pattern(pattern, unicode)],
                classes=[
                    Constant(name, str(number), "" if number == self._scanning.end else _shown(names.sample(number)))
                    for number, name in enumerate(names.classes)
                ],
                sets=[Constant(name, f"0x{members:X}", names.meaning(members)) for members, name in names.sets.items()],
                runs=[_run(name) for name in sorted(self._used)],
                loops=[Constant(name, names.value_of_set(members), "") for members, name in self._loops.items()],
                words=words,
                imported=", ".join(imported),
                methods=methods,
            ),
        )

    def _pattern(self, pattern: str, unicode: str) -> list[str]:
        choices = [f"    {line[2:-1]}" for line in pattern_lines(pattern)]
        return [f"By Unicode {unicode}:", "", *choices, ""]

    def _entry(self) -> list[Method]:
        """The methods that begin a piece."""
        scanning = self._scanning
        start = State(
            tuple(
                next(
                    (
                        scanning.states[region.start].ways[number]
                        for region in scanning.regions
                        if region.members >> number & 1
                    ),
                    scanning.states[scanning.regions[0].start].ways[-1],
                )
                for number in range(scanning.end + 1)
            ),
            (),
        )
        body = [*self._word(start), *self._exits(start, None)]
        if not any(region.gaps for region in scanning.regions):
            return [Method("piece_end", "b: bytes, q: i64", ["Where the piece that begins at `q` ends."], body)]
        gap: list[str] = []
        for region in scanning.regions:
            if region.gaps:
                gap.append(f"if {self._among(region.members)}:")
                gap.append(f"    return self.gap_end(b, q + (r & 7), {self._names.value_of_set(region.members)})")
        return [
            Method(
                "piece_end",
                "b: bytes, q: i64",
                ["Where the piece that begins at `q` ends: a match, or what lies before the next one."],
                [
                    "end: i64 = self.match_end(b, q)",
                    "if end >= 0:",
                    "    return end",
                    "r: i64 = self.character(b, q)",
                    "k: i64 = r >> 3",
                    *gap,
                    "return q + (r & 7)",
                ],
            ),
            Method(
                "gap_end",
                "b: bytes, q: i64, region: i64",
                ["Where the next match begins, or the stretch of characters of the classes `region` ends."],
                [
                    "while True:",
                    "    r: i64 = self.character(b, q)",
                    "    if region >> (r >> 3) & 1 == 0 or self.match_end(b, q) >= 0:",
                    "        return q",
                    "    q += r & 7",
                ],
            ),
            Method("match_end", "b: bytes, q: i64", ["Where the match at `q` ends, -1 where there is none."], body),
        ]

    def _word(self, start: State) -> list[str]:
        """The commonest piece by itself: a run of letters of ASCII, with something in front or not."""
        states = self._scanning.states
        found = None
        for name, codes in _RUNS.items():
            run = self._of_ascii(codes)
            for index, state in enumerate(states):
                if all(state.ways[number].to == index for number in run) and self._follows(start, index, run, "SPACE"):
                    found = found or (name, run, index)
        if found is None:
            return []
        name, run, index = found
        self._used.add(name)
        opens = [number for number in range(self._scanning.end) if self._follows(start, index, run, number)]
        inside = [number for number, way in enumerate(start.ways) if way.to == index]
        closes = [number for number, way in enumerate(states[index].ways) if way.ends and way.to is None]
        self._word_sets = [sum(1 << number for number in numbers) for numbers in (opens, inside, closes)]
        return [
            "words = self.words",
            "x: i64 = read_i64_le(b, q)",
            "first: i64 = words[x & 0xFF]",
            "if first & OPENS:",
            *(f"    {line}" for line in _run(name).body),
            "    others &= ~0xFF",
            "    end: i64",
            "    if others == 0:",
            f"        end = self.{name}_end(b, q + 8)",
            "    else:",
            "        end = q + (((others & -others) >> 7 & 0x0101010101010101) * 0x0001020304050607 >> 56)",
            "    if (end > q + 1 or first & INSIDE) and words[b[end]] & CLOSES:",
            "        return end",
        ]

    def _follows(self, start: State, index: int, run: set[int], first: int | str) -> bool:
        """Whether a run of classes in a state can stand behind a class that begins a piece."""
        number = self._names.classes.index(first) if isinstance(first, str) else first
        to = start.ways[number].to
        return to is not None and all(self._scanning.states[to].ways[other].to == index for other in run)

    def _of_ascii(self, codes: Iterable[int]) -> set[int]:
        """The classes of some characters of ASCII."""
        wanted = set(codes)
        return {
            number
            for number in range(self._scanning.end)
            for first, last in self._scanning.partition.ranges(1 << number, 0x80)
            if wanted.intersection(range(first, last + 1))
        }

    def _method(self, circle: tuple[int, ...]) -> Method:
        name = self._names.states[circle[0]]
        last = ", last: i64" if self._takes_last(circle) else ""
        if len(circle) == 1:
            doc = [f"Behind {self._example(circle[0])}."]
            return Method(name, f"b: bytes, q: i64{last}", doc, _declared_once(self._arm(circle[0], None)))
        doc = [
            "Behind "
            + ", or ".join(f"{self._example(index)} (state {place})" for place, index in enumerate(circle))
            + "."
        ]
        body: list[str] = ["while True:"]
        for place, index in enumerate(circle):
            final = place == len(circle) - 1
            arm = self._arm(index, circle)
            if final:
                body += [f"    {line}" for line in arm]
            else:
                body += [f"    if state == {place}:", *(f"        {line}" for line in arm)]
        return Method(name, f"b: bytes, q: i64{last}, state: i64", doc, _declared_once(body))

    def _example(self, index: int) -> str:
        return _shown("".join(self._names.sample(number) for number in self._scanning.states[index].path))

    def _only_ends(self, index: int) -> bool:
        """Whether nothing can come behind a state that belongs to the piece."""
        return all(way.ends and way.to is None for way in self._scanning.states[index].ways)

    def _takes_last(self, circle: tuple[int, ...]) -> bool:
        return any(index in self._needing for index in circle)

    def _arm(self, index: int, circle: tuple[int, ...] | None) -> list[str]:
        """What a state does: its own loop, then what leads out of it."""
        state = self._scanning.states[index]
        again = [way for way in state.ways if way.to == index]
        loop = sum(1 << number for number, way in enumerate(state.ways) if way.to == index)
        lines: list[str] = []
        if again:
            tracked = again[0].ends and index in self._needing
            lines = self._loop(loop, tracked)
        return [*lines, *self._exits(state, circle, index)]

    def _loop(self, loop: int, tracked: bool) -> list[str]:
        """Goes on as long as the classes of a set follow one another; `tracked`, `last` stays one character behind."""
        partition = self._scanning.partition
        last = ["last = q"] if tracked else []
        if loop not in self._loops:
            name = self._names.of_set(loop)
            self._loops[loop] = f"{name.lower()}_steps"
        ascii_codes = {code for first, end in partition.ranges(loop, 0x80) for code in range(first, end + 1)}
        lines: list[str] = []
        if not tracked:
            for name, codes in _RUNS.items():
                if ascii_codes.issuperset(codes):
                    self._used.add(name)
                    lines.append(f"q = self.{name}_end(b, q)")
                    break
        if 0x20 in ascii_codes:
            lines += ["while read_i64_le(b, q) == SPACES:", "    q += 8", *(["    last = q - 1"] if tracked else [])]
        beyond = partition.ranges(loop, 0x110000)[-1][1] >= 0x80
        body = ["step: i64 = steps[b[q]]", "if step == 0:"]
        if beyond:
            body += [
                "    if b[q] < 0x80:",
                "        break",
                f"    step = self.step(b, q, steps, {self._set(loop)})",
                "    if step == 0:",
                "        break",
            ]
        else:
            body += ["    break"]
        return [
            *lines,
            f"steps = self.{self._loops[loop]}",
            "while True:",
            *(f"    {line}" for line in [*body, *last, "q += step"]),
        ]

    def _exits(self, state: State, circle: tuple[int, ...] | None, index: int | None = None) -> list[str]:
        """What a state does at the character that it does not loop on."""
        groups: dict[tuple[bool, int | None], int] = {}
        for number, way in enumerate(state.ways):
            if way.to is None or way.to != index:
                groups[way.ends, way.to] = groups.get((way.ends, way.to), 0) | 1 << number
        ends = [key for key in groups if key[1] is None]
        otherwise = max(ends or [*groups], key=lambda key: (groups[key].bit_count(), key[0]))
        if len(groups) == 1 and otherwise[1] is None:
            return self._go(otherwise, circle, index)
        lines = [
            "c: i64 = b[q]",
            "k: i64 = self.leads[c]",
            "w: i64 = 1",
            "if c > 0x7F:",
            "    r: i64 = self.character(b, q)",
            "    k = r >> 3",
            "    w = r & 7",
        ]
        rest: list[str] = []
        for key in sorted(groups, key=lambda key: -self._weight(groups[key])):
            if key != otherwise:
                rest += [f"if {self._among(groups[key])}:", *(f"    {line}" for line in self._go(key, circle, index))]
        rest += self._go(otherwise, circle, index)
        counts = any(line.endswith(("+ w)", "+ w", "+= w")) or "+ w," in line for line in rest)
        return [*(line for line in lines if counts or not line.lstrip().startswith(("w:", "w ="))), *rest]

    def _go(self, key: tuple[bool, int | None], circle: tuple[int, ...] | None, index: int | None) -> list[str]:
        ends, to = key
        last = "q" if ends else "last" if index in self._needing else "-1"
        if to is None:
            return [f"return {last}"]
        if circle is not None and to in circle:
            lines = ["last = q"] if ends and self._takes_last(circle) else []
            return [
                *lines,
                "q += w",
                *([] if circle.index(to) == circle.index(index or 0) else [f"state = {circle.index(to)}"]),
                "continue",
            ]
        if self._only_ends(to):
            return ["return q + w"]
        target = next(circle for circle in self._circles if to in circle)
        arguments = ["b", "q + w"]
        if self._takes_last(target):
            arguments.append(last if to in self._needing or last != "last" else "last")
        if len(target) > 1:
            arguments.append(str(target.index(to)))
        return [f"return self.{self._names.states[target[0]]}({', '.join(arguments)})"]

    def _among(self, members: int) -> str:
        name = self._names.of_set(members)
        return f"k == {name}" if members.bit_count() == 1 else f"{name} >> k & 1"

    def _set(self, members: int) -> str:
        name = self._names.of_set(members)
        return f"1 << {name}" if members.bit_count() == 1 else name

    def _weight(self, members: int) -> int:
        """About how often the classes of a set come in text."""
        common = [(0x20, 0x20, 60), (0x61, 0x7A, 10), (0x41, 0x5A, 2), (0x0A, 0x0A, 10), (0, 0x7F, 1)]
        return sum(
            next(weight for first, last, weight in common if first <= code <= last)
            for begin, end in self._scanning.partition.ranges(members & self._scanning.partition.every, 0x80)
            for code in range(begin, end + 1)
        )


_FOLDED = "(x | 0x2020202020202020)"
_RANGES = {"letters": (_FOLDED, 0x1F, 0x05), "lower": ("x", 0x1F, 0x05), "upper": ("x", 0x3F, 0x25)}
"""What is compared, and what is added to each byte so that its highest bit tells: from the first on, past the last."""


def _run(name: str) -> Run:
    compared, first, behind = _RANGES[name]
    ones = 0x0101010101010101
    return Run(
        name,
        [
            "high: i64 = self.high",
            f"low: i64 = {compared} & ~high",
            f"others: i64 = ((low + {first * ones:#018X}) & ~(low + {behind * ones:#018X}) & ~x & high) ^ high".replace(
                "0X", "0x"
            ),
        ],
    )


def _declared_once(lines: list[str]) -> list[str]:
    """The same lines; a variable has its type where it comes first."""
    seen: set[str] = set()
    out: list[str] = []
    for line in lines:
        name, typed, value = line.partition(": i64 = ")
        out.append(f"{name} = {value}" if typed and name.strip() in seen else line)
        if typed:
            seen.add(name.strip())
    return out


def _shown(text: str) -> str:
    return ascii(text).replace("\\", "\\\\")


def _circles(states: tuple[State, ...]) -> list[tuple[int, ...]]:
    """The states in sets, each of which can be left only for good, in the order of the states."""
    reached: list[set[int]] = []
    for first in range(len(states)):
        seen: set[int] = set()
        pending = [first]
        while pending:
            for way in states[pending.pop()].ways:
                if way.to is not None and way.to not in seen:
                    seen.add(way.to)
                    pending.append(way.to)
        reached.append(seen)
    circles = (
        tuple(
            other
            for other in range(len(states))
            if other == index or (other in reached[index] and index in reached[other])
        )
        for index in range(len(states))
    )
    return list(dict.fromkeys(circles))


def _needing(states: tuple[State, ...]) -> set[int]:
    """The states from which a way leads to the last end that was passed before."""
    needing: set[int] = set()
    while True:
        more = {
            index
            for index, state in enumerate(states)
            if any(not way.ends and (way.to is None or way.to in needing) for way in state.ways)
        }
        if more == needing:
            return needing
        needing = more
