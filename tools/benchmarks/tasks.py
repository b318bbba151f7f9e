"""One row of the table of requests: what is expected, and two sides that both give it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from tools.benchmarks.conversations import Case
from tools.benchmarks.timing import Failed, Side, Times, interleaved, timed

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
    katapi: Side[Case]
    other: Side[Case]


@dataclass(frozen=True)
class Row:
    """The times of a task."""

    task: Task
    katapi: Times
    other: Times
    timed: int
    """Conversations on which both give the expected result."""
    different: int
    """Conversations of which the peer makes something else."""
    refused: int
    """Conversations that one of the two refuses."""


def measured(task: Task, cases: list[Case], rounds: int) -> Row:
    """Times both sides on the conversations that they agree on. Raises TaskError where there is none.

    Katapi must give the official result on all.
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
    times = interleaved({"katapi": task.katapi, "other": task.other}, agreed, rounds + 1)
    different = len(cases) - refused - len(agreed)
    return Row(task, times["katapi"], times["other"], len(agreed), different, refused)


def same(result: object, expected: object) -> bool:
    """Whether two texts, or two sequences of ids in whatever container, are equal."""
    if isinstance(result, str) or isinstance(expected, str):
        return result == expected
    if not isinstance(result, Iterable) or not isinstance(expected, Iterable):
        return False
    return [int(id) for id in result] == [int(id) for id in expected]


def _result(side: Side[Case], case: Case) -> object:
    """What a side gives, or how it failed, be it where it makes what it starts from."""
    return timed(lambda: side(case)())[1]
