"""One row of the table of requests: what is expected, and two sides that both give it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tools.benchmarks.conversations import Case, Conversation
from tools.benchmarks.renewal import Renewal
from tools.benchmarks.timing import Failed, Side, interleaved, timed

Result: TypeAlias = str | Iterable[int]
"""A text, or ids in a list or an array."""


class TaskError(Exception):
    """The comparison would not be fair or cannot be made."""


@dataclass(frozen=True)
class Task:
    """What Katapi and a peer do with a conversation."""

    model: str
    name: str
    peer: str
    expected: Callable[[Case], Result] | None
    """The official result; None: what Katapi gives, where nothing official is known of these conversations."""
    katapi: Side[Conversation]
    other: Side[Conversation]


@dataclass(frozen=True)
class Beside:
    """Nanoseconds of both sides on the same requests, on which they gave the same."""

    katapi: list[float]
    other: list[float]
    unequal: int = 0
    """Requests that were left out, since the sides gave something else, or one gave nothing."""


@dataclass(frozen=True)
class Row:
    """The times of a task."""

    task: Task
    contents: Beside
    """What is said is met for the first time; system prompts and tools were met before."""
    everything: Beside
    """Nothing was met before but what the template says."""
    seen: Beside
    """The whole request was met before."""
    timed: int
    """Conversations on which both give the expected result."""
    different: int
    """Conversations of which the peer makes something else."""
    refused: int
    """Conversations that one of the two refuses."""


def measured(task: Task, cases: list[Case], rounds: int, renewal: Renewal) -> Row:
    """Times both sides on the conversations that they agree on. Raises TaskError where there is none.

    Katapi must give the official result on all. Renewed conversations, `rounds` of each, are met once by each side, and
    compared when they were timed.
    """
    agreed: list[Case] = []
    refused = 0
    for case in cases:
        ours = _result(task.katapi, case)
        if task.expected is not None and not same(ours, task.expected(case)):
            raise TaskError(f"{task.model}, {task.name}: Katapi differs from the vectors on {case.id}")
        theirs = _result(task.other, case)
        if isinstance(ours, Failed) or isinstance(theirs, Failed):
            refused += 1
        elif same(ours, theirs):
            agreed.append(case)
    if not agreed:
        raise TaskError(f"{task.model}, {task.name}: {task.peer} agrees on no conversation")
    different = len(cases) - refused - len(agreed)
    contents = _met_once(task, [renewal.contents(case) for _ in range(rounds) for case in agreed])
    everything = _met_once(task, [renewal.everything(case) for _ in range(rounds) for case in agreed])
    times = interleaved({"katapi": task.katapi, "other": task.other}, agreed, rounds + 1)
    seen = Beside(times["katapi"].later, times["other"].later)
    return Row(task, contents, everything, seen, len(agreed), different, refused)


def _met_once(task: Task, requests: Sequence[Conversation]) -> Beside:
    """The times of requests that nobody has met. Raises TaskError where all came out otherwise."""
    times = interleaved({"katapi": task.katapi, "other": task.other}, requests, 1)
    ours, theirs = times["katapi"], times["other"]
    equal = [same(mine, other) for mine, other in zip(ours.results, theirs.results, strict=True)]
    if not any(equal):
        raise TaskError(f"{task.model}, {task.name}: {task.peer} agrees on no conversation with new contents")
    return Beside(
        [spent for spent, kept in zip(ours.first, equal, strict=True) if kept],
        [spent for spent, kept in zip(theirs.first, equal, strict=True) if kept],
        equal.count(False),
    )


def same(result: object, expected: object) -> bool:
    """Whether two texts, or two sequences of ids in whatever container, are equal. No failure is equal to another."""
    if isinstance(result, str) or isinstance(expected, str):
        return result == expected
    if not isinstance(result, Iterable) or not isinstance(expected, Iterable):
        return False
    return [int(id) for id in result] == [int(id) for id in expected]


def _result(side: Side[Conversation], case: Conversation) -> object:
    """What a side gives, or how it failed, be it where it makes what it starts from."""
    return timed(lambda: side(case)())[1]
