"""From the start of a process to the first ids, and the memory that is held then and later."""

from __future__ import annotations

import statistics
import subprocess
import sys
from collections.abc import Iterator
from typing import NamedTuple

from tools.benchmarks.corpus import documents
from tools.benchmarks.opened import each_opened
from tools.benchmarks.peers import KATAPI, PEERS
from tools.benchmarks.processes import Figures, run
from tools.benchmarks.request_starts import Start, request_starts
from tools.benchmarks.settings import Settings
from tools.benchmarks.statistics import Ratio, ratio, short
from tools.benchmarks.tables import paragraph, table

MEASURED = ("qwen3", "o200k", "gemma3", "mistral")

INTRODUCTION = paragraph(
    "Fresh processes that load one vocabulary and encode two words. Processor time from the start of the process on, "
    "Python's own included, with bytecode and files cached, and what Katapi and the peers derive for themselves; the "
    "memory of the whole process, and what it holds once it has met the documents above."
)


OF_REQUESTS = paragraph(
    "The same for a whole request of one message, from its bytes to its ids; the template, or what stands for it, is "
    "loaded too. The ids are the same on all sides."
)
ALONE = {"Python alone": "", "with numpy": "import numpy", "with numpy and pydantic": "import numpy, pydantic"}
"""What every process that uses Katapi does besides: what stands on it, by its imports."""


class Measured(NamedTuple):
    """All that was found."""

    rows: list[Row]
    alone: dict[str, list[float]]
    """Seconds of processes without any vocabulary, by the names in ALONE."""
    requests: list[Start]
    told: list[str]
    """What is to be known of the peers of requests."""


class Row(NamedTuple):
    """A peer's figures, one a process."""

    vocabulary: str
    peer: str
    seconds: list[float]
    first: float
    """Megabytes held after the first ids."""
    later: float
    """Megabytes held after all documents."""
    ratio: Ratio
    """Its seconds beside Katapi's of the same round."""


def measure(settings: Settings) -> Measured:
    """Processes take turns: each peer once a round."""
    texts = [text for of_kind in documents(settings.chunks) for (text,) in of_kind.items]
    rows: list[Row] = []
    for at_hand in each_opened(settings, MEASURED, {}):
        vocabulary, names = at_hand.vocabulary, [*at_hand.all]
        figures: dict[str, list[Figures]] = {peer: [] for peer in names}
        for turn in range(settings.rounds + 1):  # in the first, bytecode is written and files come into memory
            for peer in names:
                outcome = run("start", peer, vocabulary, texts=() if turn < settings.rounds else texts, limit=600)
                if turn:
                    figures[peer] += outcome.lines
        ours = _seconds(figures[KATAPI.name])
        for peer, of in figures.items():
            seconds = _seconds(of)
            if len(seconds) == len(ours):  # else it failed somewhere
                first, later = (float(of[-1][when]) for when in ("first", "later"))
                rows.append(Row(vocabulary.title, peer, seconds, first, later, ratio(ours, seconds)))
        print(f"bench: start {vocabulary.title}", file=sys.stderr, flush=True)
    alone: dict[str, list[float]] = {name: [] for name in ALONE}
    for _ in range(settings.rounds):
        for name, imports in ALONE.items():
            alone[name].append(_alone(imports))
    told: list[str] = []
    return Measured(rows, alone, request_starts(settings, told), told)


def _alone(imports: str) -> float:
    """The seconds of a process that does nothing but import."""
    code = f"{imports}\nimport time\nprint(time.process_time())"
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


def _seconds(figures: list[Figures]) -> list[float]:
    return [float(each["seconds"]) for each in figures]


def report(found: Measured) -> str:
    """The section of the page."""
    head = ["vocabulary", "", "beside Katapi", "first ids, ms", "MB then", "MB after the documents"]
    order = [KATAPI.name, *(peer.name for peer in PEERS)]
    rows = sorted(found.rows, key=lambda row: order.index(row.peer))
    alone = ", ".join(f"{name} {short(statistics.median(spent) * 1e3)} ms" for name, spent in found.alone.items())
    titles = dict.fromkeys(row.vocabulary for row in rows)
    return "\n".join(
        [
            INTRODUCTION,
            table(head, (_cells(row) for title in titles for row in rows if row.vocabulary == title)),
            paragraph(f"Processes that load nothing: {alone}."),
            OF_REQUESTS,
            table(["model", "", "beside Katapi", "first ids, ms"], _request_cells(found.requests)),
            *map(paragraph, found.told),
        ]
    )


def _request_cells(starts: list[Start]) -> Iterator[list[str]]:
    ours = {start.model: start.seconds for start in starts if start.peer == KATAPI.name}
    for start in starts:
        beside = "" if start.peer == KATAPI.name else str(ratio(ours[start.model], start.seconds))
        yield [start.model, start.peer, beside, short(statistics.median(start.seconds) * 1e3)]


def _cells(row: Row) -> list[str]:
    beside = "" if row.peer == KATAPI.name else str(row.ratio)
    milliseconds = short(statistics.median(row.seconds) * 1e3)
    return [row.vocabulary, row.peer, beside, milliseconds, short(row.first), short(row.later)]
