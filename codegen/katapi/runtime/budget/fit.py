"""Fills a budget: what is required is kept whole, the rest as far as it fits (the chapter, section 1.7).

The result is that of the chapter's algorithm, which prints and tokenizes the whole candidate for every item that it
tries; `measure.py` says how the length of each is known without that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar

from katapi.runtime.budget.counting import TokenCounter
from katapi.runtime.budget.decision import Choice, Why
from katapi.runtime.budget.items import Conversation, conversation_of, in_order
from katapi.runtime.budget.measure import Measure, Refused
from katapi.runtime.budget.policy import Allotment, Budget, Misfit, Section
from katapi.runtime.budget.reach import Reach
from katapi.runtime.dataclass import dataclass
from katapi.runtime.known_runs import KnownRuns
from katapi.runtime.messages import items_of, messages_of
from katapi.runtime.printed import Printed
from katapi.runtime.request_model import RequestModel

R = TypeVar("R", bound=RequestModel)

_REQUIRED = (Section.INSTRUCTIONS, Section.TOOLS, Section.DOCUMENTS, Section.HISTORY, Section.CURRENT)


@dataclass(frozen=True, slots=True)
class Fitted(Generic[R]):
    """What is left of a request."""

    request: R
    """The request itself where all of it is kept."""
    length: int
    """How many tokens its input has; more than the room where what is required has more."""
    choices: tuple[Choice, ...]
    """What became of each item, in the order of the decisions, the required ones first."""


def fit(
    request: R,
    budget: Budget,
    render: Callable[[R], Sequence[Printed]],
    known: KnownRuns,
    reach: Reach[R] | None,
    required: Sequence[int] | None = None,
    together: Sequence[range] = (),
) -> Fitted[R]:
    """What a budget keeps of a request; `required` are indices of messages, where not the budget's sections say it.

    The messages of each range of indices in `together` are kept or left out as one. `known` has the runs that were
    counted, for who assembles what is kept.

    Raises `TemplateError` T100 to T103 and T140 to T143, and `TokenizerError` V101 and V107, where what is required has
    no input.
    """
    conversation = conversation_of(messages_of(request), together)
    kept = conversation.required if required is None else _atoms_of(conversation, required)
    optional = {allotment.section for allotment in budget.optional}
    if Section.HISTORY not in optional:
        kept = tuple(range(len(conversation.atoms)))
    counter = TokenCounter(known.tokenizer, known)
    measure = Measure(request, conversation, kept, frozenset(optional), render, counter, reach)
    choices = list(_required(request, conversation, kept, optional, measure.length))
    if measure.length <= budget.room:
        filling = _Filling(request, conversation, kept, budget, measure)
        choices += filling.choices()
    whole = measure.length <= budget.room and all(choice.kept for choice in choices)
    return Fitted(request if whole else measure.part(), measure.length, tuple(choices))


def _atoms_of(conversation: Conversation, messages: Sequence[int]) -> tuple[int, ...]:
    wanted = {*messages}
    return tuple(number for number, atom in enumerate(conversation.atoms) if not wanted.isdisjoint(atom))


def _required(
    request: RequestModel, conversation: Conversation, kept: Sequence[int], optional: set[Section], length: int
) -> Iterator[Choice]:
    instructions, current = {*conversation.instructions}, {*conversation.current}
    for section in _REQUIRED:
        match section:
            case Section.INSTRUCTIONS:
                atoms = [number for number in kept if number in instructions]
            case Section.CURRENT:
                atoms = [number for number in kept if number in current]
            case Section.HISTORY:
                atoms = [number for number in kept if number not in instructions | current]
            case _:
                atoms = []
        at = tuple(sorted(at for number in atoms for at in conversation.atoms[number]))
        if section in (Section.TOOLS, Section.DOCUMENTS) and section not in optional:
            at = tuple(range(len(items_of(request, section.value))))
        if at:
            yield Choice(section, at, True, Why.REQUIRED, 0, length)


class _Filling(Generic[R]):
    """One filling of a budget."""

    def __init__(
        self, request: R, conversation: Conversation, kept: Sequence[int], budget: Budget, measure: Measure[R]
    ) -> None:
        self._conversation = conversation
        self._room = budget.room
        self._measure = measure
        self._used: dict[Section, int] = {allotment.section: 0 for allotment in budget.optional}
        self._waiting = {allotment.section: self._items(request, kept, allotment) for allotment in budget.optional}
        self._optional = budget.optional

    def choices(self) -> Iterator[Choice]:
        """Keeps what fits: first so much of each section as it has for itself, then the rest."""
        for allotment in self._optional:
            if allotment.at_least is not None:
                yield from self._fill(allotment, allotment.at_least.of(self._room), last=False)
        for allotment in self._optional:
            share = self._room if allotment.at_most is None else allotment.at_most.of(self._room)
            yield from self._fill(allotment, share, last=True)

    def _items(self, request: R, kept: Sequence[int], allotment: Allotment) -> list[tuple[int, ...]]:
        if allotment.section is Section.HISTORY:
            return in_order(allotment, self._conversation.history(allotment.grouping, kept), request)
        items = [(at,) for at in range(len(items_of(request, allotment.section.value)))]
        return in_order(allotment, items, request)

    def _fill(self, allotment: Allotment, share: int, *, last: bool) -> Iterator[Choice]:
        """Tries what waits; in the `last` round, what does not fit is left out."""
        section = allotment.section
        left: list[tuple[int, ...]] = []
        stopped = False
        for item in self._waiting[section]:
            before = self._measure.length
            if stopped:
                left.append(item)
                if last:
                    yield self._choice(section, item, False, Why.STOPPED, before, None)
                continue
            after = self._measure.with_item(section, item)
            why = self._why(section, after, share)
            if why is Why.FITS and not isinstance(after, Refused):
                self._used[section] += after - before
                self._measure.keep(section, item, after)
                yield self._choice(section, item, True, why, before, after)
                continue
            left.append(item)
            stopped = allotment.misfit is Misfit.STOP
            if last:
                detail = str(after.error) if isinstance(after, Refused) else ""
                length = None if isinstance(after, Refused) else after
                yield self._choice(section, item, False, why, before, length, detail)
        self._waiting[section] = left

    def _why(self, section: Section, after: int | Refused, share: int) -> Why:
        if isinstance(after, Refused):
            return Why.REFUSED
        if after > self._room:
            return Why.TOO_LONG
        over = self._used[section] + after - self._measure.length > share
        return Why.OVER_SHARE if over else Why.FITS

    def _choice(
        self,
        section: Section,
        item: tuple[int, ...],
        kept: bool,
        why: Why,
        before: int,
        after: int | None,
        detail: str = "",
    ) -> Choice:
        at = item
        if section is Section.HISTORY:
            at = tuple(sorted(at for number in item for at in self._conversation.atoms[number]))
        return Choice(section, at, kept, why, before, after, detail)
