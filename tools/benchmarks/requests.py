"""Requests to text and to ids."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError
from typing import NamedTuple

from tools.benchmarks.conversations import read_vectors
from tools.benchmarks.own_libraries import harmony_tasks, mistral_tasks
from tools.benchmarks.qwen3_tasks import provenance, qwen3_tasks, read_official
from tools.benchmarks.settings import Settings
from tools.benchmarks.statistics import ratio, short
from tools.benchmarks.tables import paragraph, table
from tools.benchmarks.tasks import Row, Task, TaskError, measured
from tools.benchmarks.vocabularies import Unavailable, prepared

INTRODUCTION = paragraph(
    "The real conversations of the Qwen3 vectors, through each model; each has been met before. Where a task begins "
    "with a request as objects, both sides get objects that were made from its bytes just before, outside of the "
    "time. Before a row is timed, results are compared: `timed` conversations gave the same on both sides, of "
    "`different` ones the peer makes something else, `refused` ones are refused by one of the two. `total` is the "
    "ratio of the summed times."
)


class Measured(NamedTuple):
    """All that was found."""

    rows: list[Row]
    told: list[str]
    """What is to be known of the peers."""


def measure(settings: Settings) -> Measured:
    """Measures every task whose peer is installed."""
    vectors = read_vectors("qwen3", settings.conversations)
    found = Measured([], [])

    def qwen3() -> list[Task]:
        official = read_official()
        found.told.append(provenance(official, vectors))
        return qwen3_tasks(official)

    def harmony() -> list[Task]:
        return harmony_tasks(prepared("o200k", settings.folder).file("ranks"), settings.folder)

    makers: dict[str, Callable[[], list[Task]]] = {
        "transformers and renderers": qwen3,
        "mistral-common": mistral_tasks,
        "openai-harmony": harmony,
    }
    for peer, make in makers.items():
        try:
            tasks = make()
        except (ImportError, PackageNotFoundError, Unavailable) as error:
            found.told.append(f"{peer}: not measured ({error}).")
            continue
        for task in tasks:
            try:
                found.rows.append(measured(task, vectors.cases, settings.rounds))
            except TaskError as error:
                found.told.append(f"{error}.")
            print(f"bench: {task.model}, {task.name} beside {task.peer}", file=sys.stderr, flush=True)
    return found


def report(found: Measured) -> str:
    """The section of the page."""
    head = ["model", "task", "beside", "ratio", "total", "Katapi µs", "peer µs", "timed", "different", "refused"]
    return "\n".join(
        [
            INTRODUCTION,
            table(head, _rows(found.rows)),
            *map(paragraph, found.told),
        ]
    )


def _rows(rows: list[Row]) -> Iterator[list[str]]:
    for row in rows:
        ours, theirs = row.katapi.later, row.other.later
        yield [
            row.task.model,
            row.task.name,
            row.task.peer,
            str(ratio(ours, theirs)),
            f"{short(sum(theirs) / sum(ours))}×",
            short(statistics.median(ours) / 1e3),
            short(statistics.median(theirs) / 1e3),
            *map(str, (row.timed, row.different, row.refused)),
        ]
