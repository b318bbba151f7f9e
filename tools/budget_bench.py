"""Measure how long filling a budget takes, beside tokenizing everything once and beside the chapter's algorithm.

usage: python tools/budget_bench.py [MODEL]... [--rounds N] [--most N]

`make budgets` does it for all models and writes the section of docs/budget.md between two comment lines; with models or
--most, which leaves larger conversations out, the section is printed and nothing is written.

The texts are cut out of the documents of this repository and the modules of the standard library. Each conversation is
assembled as a whole once, and filled into its budget once, before anything is timed: what the tokenizer remembers of
texts is there for both sides. Where the chapter's algorithm is timed, the ids must be those that it gives.

Calls are interleaved in one process and one thread, and who goes first alternates. A ratio is the median of the ratios
of the rounds, in processor time; after five seconds no round of a size begins. Of the chapter's algorithm only the
assembling of its candidates is timed, neither its grouping nor the reading of requests.

Exit status: 1 where the ids differ.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import random
import resource
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import katapi
from katapi.oracle.budget import fitted
from katapi.runtime.budget.measure import Measure
from katapi.runtime.budget.policy import Allotment, Budget, Grouping, Misfit, Order, Section
from katapi.runtime.json_types import Json, JsonObject
from katapi.runtime.model import Model
from katapi.runtime.request_model import RequestModel

ROOT = Path(__file__).parents[1]
DOCUMENT = ROOT / "docs" / "budget.md"
BEGIN, END = "<!-- written by tools/budget_bench.py -->\n", "<!-- end -->\n"
SMALL = (50, 100, 200)
LARGE = (100, 1_000, 10_000)
WINDOW, OF_MESSAGES = 128_000, 10_000  # so many tokens for so many messages; for fewer, fewer
CALLS = 3  # of tools, in a turn of an agent
LONGEST = 5  # seconds, after which no round of a size begins
LENGTHS = (200, 500, 900, 1600)  # characters


class BenchError(Exception):
    """The comparison would not be fair."""


@dataclass(frozen=True)
class Task:
    """One row: a model, what its conversations are made of, and how the history is taken apart."""

    model: str
    kind: str
    grouping: Grouping


@dataclass(frozen=True)
class Case:
    """One conversation of a task, read, and its budget."""

    model: Model[RequestModel]
    plain: JsonObject
    request: RequestModel
    budget: Budget
    tokens: int


@dataclass(frozen=True)
class Beside:
    """Filling beside assembling the whole: the median ratio, the time of filling in seconds, and how it was known."""

    ratio: float
    seconds: float
    tokens: int
    in_windows: int
    tried: int


@dataclass(frozen=True)
class Row:
    """What was measured for a task, by the number of messages."""

    task: Task
    whole: dict[int, Beside]
    chapter: dict[int, float]


TASKS = [
    Task("qwen3", "chat", Grouping.BY_TURN),
    Task("qwen3", "chat", Grouping.BY_MESSAGE),
    Task("qwen3", "agent", Grouping.BY_MESSAGE),
    Task("qwen3", "reasoning", Grouping.BY_TURN),
    Task("qwen3", "reasoning", Grouping.BY_MESSAGE),
    Task("gemma3", "chat", Grouping.BY_TURN),
    Task("llama2", "chat", Grouping.BY_TURN),
    Task("deepseek-v3", "agent", Grouping.BY_TURN),
    Task("gpt-oss", "agent", Grouping.BY_TURN),
    Task("kimi-k2", "chat", Grouping.BY_TURN),
    Task("kimi-k2", "agent", Grouping.BY_TURN),
    Task("glm-4.5", "agent", Grouping.BY_MESSAGE),
    Task("hermes-3-llama-3.1", "agent", Grouping.BY_TURN),
]


class Texts:
    """Texts out of what every checkout and every Python has."""

    def __init__(self) -> None:
        modules = sorted(Path(os.__file__).parent.glob("*.py"))[:150]
        files = [*sorted(ROOT.glob("docs/*.md")), ROOT / "spec" / "LANGUAGE.md", *modules]
        self._whole = "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in files)

    def conversation(self, kind: str, length: int) -> list[Json]:
        """A conversation of a kind with so many messages, a question of the user last."""
        drawn = random.Random(f"{kind} {length}")
        messages: list[Json] = [{"role": "system", "content": "Be brief and exact. " * 20}]
        while len(messages) < length - 1:
            messages += self._turn(kind, len(messages), drawn)[: length - 1 - len(messages)]
        return [*messages, {"role": "user", "content": self._text(drawn)}]

    def _turn(self, kind: str, start: int, drawn: random.Random) -> list[Json]:
        turn: list[JsonObject] = [{"role": "user", "content": self._text(drawn)}]
        for at in range(0 if kind == "chat" else CALLS):
            name = f"c{start + at:08d}"
            function: JsonObject = {"name": "look", "arguments": {"at": self._text(drawn)[:100]}}
            calls: list[Json] = [{"id": name, "type": "function", "function": function}]
            turn.append({"role": "assistant", "content": "", "tool_calls": calls})
            turn.append({"role": "tool", "tool_call_id": name, "content": self._text(drawn)})
        turn.append({"role": "assistant", "content": self._text(drawn)})
        if kind == "reasoning":
            turn = [
                {**message, "reasoning_content": self._text(drawn)} if message["role"] == "assistant" else message
                for message in turn
            ]
        return [*turn]

    def _text(self, drawn: random.Random) -> str:
        length = drawn.choice(LENGTHS)
        start = drawn.randrange(len(self._whole) - length)
        return self._whole[start : start + length]


def case_of(task: Task, texts: Texts, length: int, room: int | None) -> Case:
    """A conversation, and a budget with a room; None for half of what the whole has."""
    model = katapi.load(task.model)
    plain: JsonObject = {"messages": texts.conversation(task.kind, length)}
    if task.model == "gpt-oss":
        plain = {**plain, "now": "2026-01-01T00:00:00"}
    request = model.decode_request(json.dumps(plain).encode())
    tokens = len(model.assemble(request))
    history = Allotment(Section.HISTORY, Order.NEWEST_FIRST, Misfit.SKIP, task.grouping)
    return Case(model, plain, request, Budget("bench@1", tokens // 2 if room is None else room, 0, (history,)), tokens)


def by_chapter(case: Case) -> tuple[list[int], float]:
    """The ids that the chapter's algorithm gives, and the seconds that assembling its candidates took."""
    spent = 0.0

    def count(part: JsonObject) -> int:
        nonlocal spent
        request = case.model.decode_request(json.dumps(part).encode())
        start = time.process_time()
        try:
            return len(case.model.assemble(request))
        finally:
            spent += time.process_time() - start

    part = fitted(case.plain, case.budget, count)
    return case.model.assemble(json.dumps(part).encode()).input_ids.tolist(), spent


def check(case: Case, ids: list[int]) -> None:
    """Raises BenchError where filling gives other ids than the chapter's algorithm."""
    if case.model.assemble(case.request, case.budget).input_ids.tolist() != ids:
        raise BenchError(f"{case.model.name}: other ids than those of the chapter's algorithm")


def filling(case: Case) -> float:
    """The seconds that filling the budget takes, and assembling what is kept."""
    start = time.process_time()
    case.model.assemble(case.request, case.budget)
    return time.process_time() - start


def assembling(case: Case) -> float:
    """The seconds that assembling the whole takes."""
    start = time.process_time()
    case.model.assemble(case.request)
    return time.process_time() - start


def beside_whole(case: Case, rounds: int) -> Beside:
    """Filling beside assembling the whole."""
    in_windows, tried = windows_of(case)
    fills, ratios = [], []
    gc.collect()
    start = time.process_time()
    for turn in range(rounds):
        if turn and time.process_time() - start > LONGEST:
            break
        if turn % 2:
            fill, whole = filling(case), assembling(case)
        else:
            whole, fill = assembling(case), filling(case)
        fills.append(fill)
        ratios.append(fill / whole)
    return Beside(statistics.median(ratios), statistics.median(fills), case.tokens, in_windows, tried)


def beside_chapter(case: Case, rounds: int) -> float:
    """The chapter's algorithm beside filling, as the median ratio. Raises BenchError where the ids differ."""
    check(case, by_chapter(case)[0])
    ratios = []
    for turn in range(rounds):
        fill = 0.0 if turn % 2 else filling(case)
        spent = by_chapter(case)[1]
        fill = fill or filling(case)
        ratios.append(spent / fill)
    return statistics.median(ratios)


def windows_of(case: Case) -> tuple[int, int]:
    """Of how many items it was known in a window what they change, and how many were tried."""
    found: list[bool] = []
    within = Measure._in_window

    def counted(self: Measure[RequestModel], item: tuple[int, ...]) -> int | None:
        length = within(self, item)
        found.append(length is not None)
        return length

    with mock.patch.object(Measure, "_in_window", counted):
        case.model.assemble(case.request, case.budget)
    return sum(found), len(found)


def memory_of(case: Case) -> tuple[float, float]:
    """The megabytes that assembling the whole adds to the process at most, and that filling the budget does."""
    return _added(assembling, case), _added(filling, case)


def _added(work: Callable[[Case], float], case: Case) -> float:
    """What a process of its own, begun as a copy of this one, has at most beyond what it begins with."""
    gc.collect()
    outcome, told = os.pipe()
    child = os.fork()
    if child == 0:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        work(case)
        added = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        os.write(told, str(added).encode())
        os._exit(0)
    os.close(told)
    with os.fdopen(outcome) as answer:
        kilobytes = int(answer.read())
    os.waitpid(child, 0)
    return kilobytes * 1024 / 1e6


def measured(task: Task, texts: Texts, most: int, rounds: int) -> Row:
    """A row of the table. Raises BenchError."""
    chapter: dict[int, float] = {}
    for length in SMALL:
        case = case_of(task, texts, length, None)
        chapter[length] = beside_chapter(case, rounds)
    whole: dict[int, Beside] = {}
    for length in (length for length in LARGE if length <= most):
        case = case_of(task, texts, length, WINDOW * length // OF_MESSAGES)
        whole[length] = beside_whole(case, rounds)
    return Row(task, whole, chapter)


def name_of(task: Task) -> str:
    """A task in words."""
    return f"{task.model}, {task.kind}, {task.grouping.value}"


def tables(rows: list[Row]) -> Iterator[str]:
    """The two tables as lines."""
    lengths = [*rows[0].whole]
    yield "| | " + " | ".join(f"{length:,}" for length in lengths) + " | growth | tokens | in windows |"
    yield "| --- |" + " --- |" * (len(lengths) + 3)
    for row in rows:
        ratios = [f"{row.whole[length].ratio:.2f}×" for length in lengths]
        last = row.whole[lengths[-1]]
        growth = last.seconds / row.whole[lengths[-2]].seconds if len(lengths) > 1 else 1.0
        cells = [*ratios, f"{growth:.1f}×", f"{last.tokens:,}", f"{last.in_windows:,} of {last.tried:,}"]
        yield f"| {name_of(row.task)} | " + " | ".join(cells) + " |"
    yield ""
    yield "| | " + " | ".join(str(length) for length in SMALL) + " |"
    yield "| --- |" + " --- |" * len(SMALL)
    for row in rows:
        yield f"| {name_of(row.task)} | " + " | ".join(f"{row.chapter[length]:.0f}×" for length in SMALL) + " |"


def section(rows: list[Row], rounds: int, memory: tuple[float, float, Task]) -> str:
    """What stands between the two comment lines."""
    whole, filled, task = memory
    largest = [*rows[0].whole][-1]
    first, *rest = "\n".join(tables(rows)).split("\n\n")
    where = f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores that others use too"
    machine = f"Processor time on one thread, medians of up to {rounds} rounds ({where})"
    return f"""
Filling a budget, beside assembling the whole conversation once (rendering and tokenizing), by the number of messages.
Less is better; 1× is as long as that. The window has {WINDOW:,} tokens for {OF_MESSAGES:,} messages and as much less
for fewer; newest first, skip. `growth` is the time of the last column beside that of the one before it, for ten times
the messages; `tokens` are those of the longest conversation; `in windows` is of how many of its items it was known
without printing all that is kept. {machine}:

{first}

The chapter's algorithm, which assembles every candidate, beside filling the budget, for a window of half of the tokens.
More is better for Katapi:

{rest[0]}

At {largest:,} messages ({name_of(task)}) assembling the whole adds {whole:.0f} MB at most to the memory of a process
that has read the request and met its texts; filling the budget adds {filled:.0f} MB (beyond memory freed before, which
both use again).

"""


def main() -> int:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL")
    parser.add_argument("--rounds", type=int, default=5, metavar="N")
    parser.add_argument("--most", type=int, default=LARGE[-1], metavar="N", help="the most messages")
    options = parser.parse_args()
    tasks = [task for task in TASKS if not options.models or task.model in options.models]
    if not tasks:
        parser.error(f"there are tasks for {', '.join(dict.fromkeys(task.model for task in TASKS))}")
    texts, rows = Texts(), []
    try:
        for task in tasks:
            rows.append(measured(task, texts, options.most, options.rounds))
            print("\n".join(tables(rows[-1:])), file=sys.stderr, flush=True)
    except BenchError as error:
        print(f"budget_bench: {error}", file=sys.stderr)
        return 1
    length = [*rows[0].whole][-1]
    memory = memory_of(case_of(tasks[0], texts, length, WINDOW * length // OF_MESSAGES))
    text = section(rows, options.rounds, (*memory, tasks[0]))
    if options.models or options.most < LARGE[-1]:
        print(text)
    else:
        page = DOCUMENT.read_text(encoding="utf-8")
        before, after = page[: page.index(BEGIN) + len(BEGIN)], page[page.index(END) :]
        DOCUMENT.write_text(before + text + after, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
