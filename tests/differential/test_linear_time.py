"""Time grows as the text does, whatever the text: ten times the text takes about ten times as long."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import katapi
from tests.differential.small_files import SMALL

FILES = (
    "bytes like qwen3, tokenizer.json",
    "bytes like deepseek-v3, tokenizer.json",
    "bytes like falcon, tokenizer.json",
    "bytes like clip, tokenizer.json",
    "characters like llama2, tokenizer.json",
    "unigram like t5, tokenizer.json",
    "unigram like xlnet, tokenizer.json",
    "words like bert-uncased, tokenizer.json",
    "bpe like llama2, .model",
    "unigram like t5, .model",
    "ranks like o200k, .tiktoken",
)
SIZE = 1_000  # characters
GROWTH = 25  # linear is 10, quadratic 100


def binary(size: int) -> str:
    return random.Random(size).randbytes(size).decode("latin-1")


def run_of(unit: str) -> Callable[[int], str]:
    return lambda size: unit * (size // len(unit))


TEXTS: dict[str, Callable[[int], str]] = {
    "a": run_of("a"),
    "circumflexes": run_of("^"),
    "spaces": run_of(" "),
    "line ends": run_of("\n"),
    "letters with marks": run_of("e\u0301"),
    "marks": run_of("\u0323\u0301"),
    "emoji": run_of("🙂"),
    "ideographs": run_of("漢"),
    "bytes": binary,
}


@cache
def tokenizer(name: str) -> katapi.FileTokenizer:
    file = SMALL[name]()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        path.write_bytes(file.data)
        return katapi.tokenizer_from_file(path, pattern=file.pattern)


def seconds(work: Callable[[], object], runs: int) -> float:
    """The least time of some runs, of this process alone."""
    times: list[float] = []
    for _ in range(runs):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("name", FILES)
def test_time_is_linear(name: str, kind: str) -> None:
    subject = tokenizer(name)
    short, long = TEXTS[kind](SIZE), TEXTS[kind](10 * SIZE)
    few, many = subject.encode(short), subject.encode(long)
    check(lambda: subject.encode(short), lambda: subject.encode(long))
    check(lambda: subject.decode_text(few), lambda: subject.decode_text(many))


def check(short: Callable[[], object], long: Callable[[], object]) -> None:
    """A machine that was busy with something else gets more chances."""
    bound = GROWTH * seconds(short, 3) + 0.01
    assert any(seconds(long, runs) <= bound for runs in (1, 5))
