"""How long an input is, and how long it would be with one thing more: exactly, and mostly without printing all of it.

`Measure` always knows what is kept and how many tokens the input of that has. Where the reach of the template is known,
what one item of the history changes is found in a window: a few of the messages that are kept, chosen so that all that
can change is printed there as in the whole, and what cannot change is the same with and without the item. Wherever that
is not certain, the whole is printed. Either way, the texts were counted before, and only seams are counted anew.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from katapi.runtime.budget.counting import TokenCounter
from katapi.runtime.budget.items import Conversation
from katapi.runtime.budget.policy import Section
from katapi.runtime.budget.reach import Reach
from katapi.runtime.budget.window import Advance, Atoms, Window, window_of
from katapi.runtime.dataclass import dataclass
from katapi.runtime.errors import KatapiError
from katapi.runtime.messages import items_of
from katapi.runtime.printed import Printed
from katapi.runtime.request_model import RequestModel

R = TypeVar("R", bound=RequestModel)

_FEW = 8  # atoms; the whole of so few is no more than a window
_WORTH = 2  # a window is worth it where the whole has so many times its atoms
_REMEMBERED = 64  # windows whose length is known


@dataclass(frozen=True, slots=True)
class Refused:
    """There is no input with an item: `error` says why."""

    error: KatapiError


class Measure(Generic[R]):
    """The length of the input of a part of a request. Raises `KatapiError` where the required part has no input."""

    def __init__(
        self,
        request: R,
        conversation: Conversation,
        kept: Sequence[int],
        sections: frozenset[Section],
        render: Callable[[R], Sequence[Printed]],
        counter: TokenCounter,
        reach: Reach[R] | None,
    ) -> None:
        """`kept` are the numbers of the atoms that are there to begin with, and `sections` those that are empty."""
        self._request = request
        self._conversation = conversation
        self._messages = items_of(request, "messages")
        self._render = render
        self._counter = counter
        self._lists: dict[Section, list[int] | None] = {
            section: [] if section in sections and items_of(request, section.value) else None
            for section in (Section.TOOLS, Section.DOCUMENTS)
        }
        self._atoms = None if reach is None else Atoms(request, conversation.atoms, reach)
        self.kept = sorted(kept)
        """The numbers of the atoms that are kept, in the order of the conversation."""
        if self._atoms is not None:
            self._atoms.keep(self.kept)
        self._aligned = False
        self._others: dict[tuple[tuple[int, ...], Advance | None], int] = {}
        self._lengths: dict[tuple[tuple[int, ...], tuple[tuple[int, ...], ...]], int | None] = {}
        self.length = counter.count(render(self.part()))
        """How many tokens the input of what is kept has."""

    # ---- what is kept

    def part(self) -> R:
        """The request of what is kept."""
        return self._part(self.kept, self._lists)

    def chosen(self, section: Section) -> list[int] | None:
        """The indices of the tools or documents that are kept; None where all are."""
        return self._lists[section]

    def keep(self, section: Section, item: Sequence[int], length: int) -> None:
        """Keeps an item, with which the input has so many tokens."""
        self.length = length
        self._others.clear()
        chosen = self._lists.get(section)
        if chosen is not None:
            insort(chosen, item[0])
            self._lengths.clear()
            return
        for number in item:
            insort(self.kept, number)
        if self._atoms is not None:
            self._atoms.keep(item)

    # ---- with one thing more

    def with_item(self, section: Section, item: Sequence[int]) -> int | Refused:
        """How many tokens the input has with an item: atoms of the history, a tool or a document."""
        chosen = self._lists.get(section)
        if chosen is not None:
            return self._whole(self.kept, {**self._lists, section: sorted([*chosen, item[0]])})
        in_window = self._in_window(item)
        return self._whole(sorted([*self.kept, *item]), self._lists) if in_window is None else in_window

    def _whole(self, atoms: Sequence[int], lists: dict[Section, list[int] | None]) -> int | Refused:
        try:
            return self._counter.count(self._render(self._part(atoms, lists)))
        except KatapiError as error:
            return Refused(error)

    def _in_window(self, item: Sequence[int]) -> int | None:
        """The same, found in a window; None where the whole must be printed."""
        if self._atoms is None or len(self.kept) < _FEW or item[-1] - item[0] != len(item) - 1:
            return None
        place = bisect_left(self.kept, item[0])
        window = window_of(self._atoms, self.kept, place, item)
        if window is None:
            return None
        for aligned in (False, True):
            if aligned >= self._aligned:
                seen = self._atoms.aligned(self.kept, window.places) if aligned else window.places
                if _WORTH * len(seen) > len(self.kept):
                    return None
                found = self._by_another(seen, item, window) if window.advance else self._by_window(seen, item, window)
                if found is not None:
                    self._aligned = aligned
                    return found
        return None

    def _by_window(self, seen: Sequence[int], item: Sequence[int], window: Window) -> int | None:
        """The length with an item, by a window without it; None where that cannot be had."""
        without = self._without([self.kept[at] for at in seen], window)
        within = None if without is None else self._within(seen, item)
        return None if without is None or within is None else self.length + within - without

    def _by_another(self, seen: Sequence[int], item: Sequence[int], window: Window) -> int | None:
        """The length with an item that advances counters, by one of another item at its place that does so as far.

        The first such item has the whole printed.
        """
        within = self._within(seen, item)
        if within is None:
            return None
        key = tuple([self.kept[at] for at in seen]), window.advance
        if key not in self._others:
            whole = self._whole(sorted([*self.kept, *item]), self._lists)
            if isinstance(whole, Refused):
                return None
            self._others[key] = whole - within
        return self._others[key] + within

    def _without(self, atoms: list[int], window: Window) -> int | None:
        """The length of a window as it is; None where the template refuses it, or it is not apart from the rest."""
        key = tuple(atoms), tuple([tuple([self.kept[place] for place in side]) for side in window.open_sides])
        if key not in self._lengths:
            if len(self._lengths) >= _REMEMBERED:
                self._lengths.clear()
            try:
                printed = self._render(self._part(atoms, self._lists))
                apart = self._is_apart(atoms, window, printed)
                self._lengths[key] = self._counter.count(printed) if apart else None
            except KatapiError:
                self._lengths[key] = None
        return self._lengths[key]

    def _within(self, seen: Sequence[int], item: Sequence[int]) -> int | None:
        """The length of a window with an item."""
        try:
            return self._counter.count(
                self._render(self._part(sorted([*(self.kept[at] for at in seen), *item]), self._lists))
            )
        except KatapiError:
            return None  # the whole has the error with the place that it has there

    def _is_apart(self, atoms: Sequence[int], window: Window, printed: Sequence[Printed]) -> bool:
        """Whether the text around the item is cut off on both sides before the window leaves something out.

        Where no control token stands there for certain, a text that can always be cut does the same.
        """
        for side in window.open_sides:
            numbers = {self.kept[place] for place in side}
            start = 0
            found = False
            for number in atoms:
                stop = start + len(self._conversation.atoms[number])
                if number in numbers and self._has_cut(printed, start, stop):
                    found = True
                start = stop
            if not found:
                return False
        return True

    def _has_cut(self, printed: Sequence[Printed], start: int, stop: int) -> bool:
        """Whether a content of messages, those from an index to another, can be cut whatever stands beside it."""
        for part in printed:
            if len(part) == 3:
                match part[1]:
                    case ("messages", int(index), *_) if start <= index < stop:
                        if self._counter.has_cut(part[0]):
                            return True
                    case _:
                        pass
        return False

    def _part(self, atoms: Sequence[int], lists: dict[Section, list[int] | None]) -> R:
        conversation, messages = self._conversation.atoms, self._messages
        numbers = sorted([at for number in atoms for at in conversation[number]])
        changed: dict[str, object] = {"messages": tuple([messages[at] for at in numbers])}
        for section, chosen in lists.items():
            if chosen is not None:
                whole = items_of(self._request, section.value)
                changed[section.value] = tuple([whole[at] for at in chosen]) or self._absent(section.value)
        return self._request.model_copy(update=changed)

    def _absent(self, name: str) -> object:
        """What a list of the request is where it has none."""
        field = type(self._request).model_fields[name]
        return () if field.is_required() else field.get_default()
