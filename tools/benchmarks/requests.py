"""Requests to text and to ids."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from importlib.metadata import PackageNotFoundError
from typing import NamedTuple

from katapi.artifacts.lock import read_lock
from katapi.runtime.errors import ArtifactError
from tools.benchmarks.conversations import read_vectors
from tools.benchmarks.hub_tasks import HUB_MODELS, hub_tasks
from tools.benchmarks.own_libraries import harmony_tasks, mistral_tasks, provide_o200k
from tools.benchmarks.renewal import renewal
from tools.benchmarks.settings import Settings
from tools.benchmarks.statistics import Ratio, ratio, short
from tools.benchmarks.tables import paragraph, table
from tools.benchmarks.tasks import Beside, Row, Task, TaskError, measured
from tools.benchmarks.vocabularies import ROOT, Unavailable, prepared
from tools.official_templates.places import NotFound

INTRODUCTION = paragraph(
    "The real conversations of the Qwen3 vectors, through each model, met in three ways. *New contents*: what users "
    "and assistants say is met for the first time, the system prompt and the tools were met before, as in the traffic "
    "of a server; each content is as many characters of the documents above, cut at a place of its own. *Nothing "
    "known*: the system prompt and the descriptions of the tools are met for the first time too. *All known*: the "
    "whole request was met before; Katapi finds again what it encoded, and the peers encode it again."
)
HOW = paragraph(
    "Where a task begins with a request as objects, both sides get objects that were made from its bytes just before, "
    "outside of the time. Results are compared, those of new contents when they were timed: `timed` conversations gave "
    "the same on both sides, of `different` ones the peer makes something else, `refused` ones are refused by one of "
    "the two. *Left out* are the shares of new requests that came out otherwise, of both kinds. *Summed* is the ratio "
    "of the sums of all times, and the last two columns are the medians in microseconds, all three with new contents."
)


class Measured(NamedTuple):
    """All that was found."""

    rows: list[Row]
    told: list[str]
    """What is to be known of the peers."""


def measure(settings: Settings) -> Measured:
    """Measures every task whose peer is installed."""
    vectors = read_vectors("qwen3", settings.requests)
    found = Measured([], [])
    texts = renewal()
    lock = read_lock(ROOT / "spec/artifacts.lock")
    today = datetime.now().astimezone().date()  # as the clock of the templates has it

    def with_o200k(make: Callable[[], list[Task]]) -> list[Task]:
        provide_o200k(prepared("o200k", settings.folder).file("ranks"), settings.folder)
        return make()

    makers: dict[str, Callable[[], list[Task]]] = {}
    for of in HUB_MODELS:
        of_hub = partial(hub_tasks, of, lock, today)
        makers[f"{of.title} beside transformers and renderers"] = (
            partial(with_o200k, of_hub) if of.name == "gpt-oss" else of_hub
        )
    makers["mistral-common"] = mistral_tasks
    makers["openai-harmony"] = partial(with_o200k, harmony_tasks)
    for name, make in makers.items():
        try:
            tasks = make()
        except (ImportError, PackageNotFoundError, Unavailable, NotFound, ArtifactError) as error:
            found.told.append(f"{name}: not measured ({error}).")
            continue
        for task in tasks:
            try:
                found.rows.append(measured(task, vectors.cases, settings.rounds, texts))
            except TaskError as error:
                found.told.append(f"{error}.")
            print(f"bench: {task.model}, {task.name} beside {task.peer}", file=sys.stderr, flush=True)
    return found


def report(found: Measured) -> str:
    """The section of the page."""
    head = ["model", "task", "beside", "new contents", "nothing known", "all known", "summed"]
    head += ["timed", "different", "refused", "left out", "Katapi µs", "peer µs"]
    return "\n".join([INTRODUCTION, HOW, table(head, _rows(found.rows)), *map(paragraph, found.told)])


def _rows(rows: list[Row]) -> Iterator[list[str]]:
    for row in rows:
        new = row.contents
        yield [
            row.task.model,
            row.task.name,
            row.task.peer,
            *(str(_ratio(each)) for each in (new, row.everything, row.seen)),
            f"{short(sum(new.other) / sum(new.katapi))}×",
            *map(str, (row.timed, row.different, row.refused)),
            " / ".join(_share(each) for each in (new, row.everything)),
            *(short(statistics.median(spent) / 1e3) for spent in (new.katapi, new.other)),
        ]


def _ratio(beside: Beside) -> Ratio:
    return ratio(beside.katapi, beside.other)


def _share(beside: Beside) -> str:
    return f"{beside.unequal / (beside.unequal + len(beside.katapi)):.0%}"
