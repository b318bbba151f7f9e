"""A run of one character, or of two in turn, takes at most three times as long a byte as English prose.

Compared is the least processor time of several tries, prose and run in turn; a machine that does other work besides
gets more tries.
"""

from __future__ import annotations

import gzip
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from pydoc_data.topics import topics

import pytest

import katapi
from katapi.runtime.artifacts.any_file import read_tokenizer_file
from katapi.runtime.tokenization.build import build_tokenizer
from katapi.runtime.tokenization.interface import Tokenizer

_SHARED = Path(__file__).parents[2].parent / "shared" / "artifacts"
_SIZE = 300_000  # bytes
_PROSE = "".join(topics.values())[:_SIZE]
_TIMES = 3
_NAMES = (
    "qwen3",
    "bert-base-cased.tokenizer.json",
    "bert-uncased-gte.tokenizer.json",
    "gemma4.tokenizer.json",
    "llama2.tokenizer.json",
    "mistral-v3.tokenizer.json",
    "phi-3-mini.tokenizer.json",
    "t5-small.tokenizer.json",
    "t5.spiece.model",
    "xlm-roberta.tokenizer.json",
    "xlnet-base-cased.tokenizer.json",
)
_UNITS = {
    "letters": "a",
    "capitals": "A",
    "digits": "0",
    "spaces": " ",
    "tabs": "\t",
    "line ends": "\n",
    "carriage returns": "\r\n",
    "signs": "=",
    "two in turn": "ab",
    "accented letters": "é",
    "taken apart": "e\u0323\u0302",
    "ideographs": "中",
    "kana": "か",
    "emoji": "\U0001f642",
    "flags": "\U0001f1e6",
    "joined emoji": "\U0001f469\u200d",
    "Hangul letters": "\u1100",
    "joined consonants": "\u0915\u094d",
    "marks of two kinds": "\u0301\u0323",
}
_SLOWER = {
    # One long piece, which is merged in compiled Python; short ones are looked up in C.
    ("qwen3", "two in turn"): 6,
    ("qwen3", "accented letters"): 6,
    ("qwen3", "taken apart"): 6,
    ("qwen3", "kana"): 6,
    ("qwen3", "joined emoji"): 8,
    # A run of marks is one cluster, which is put in order in pure Python.
    ("qwen3", "marks of two kinds"): 120,
    ("bert-uncased-gte.tokenizer.json", "marks of two kinds"): 30,
    ("xlnet-base-cased.tokenizer.json", "marks of two kinds"): 30,
    # All characters are one word, and in it most places have many tokens.
    ("t5-small.tokenizer.json", "marks of two kinds"): 12,
    ("xlm-roberta.tokenizer.json", "marks of two kinds"): 12,
    ("xlm-roberta.tokenizer.json", "signs"): 10,
    ("t5-small.tokenizer.json", "Hangul letters"): 9,
    ("t5-small.tokenizer.json", "joined consonants"): 9,
    ("xlm-roberta.tokenizer.json", "Hangul letters"): 9,
    ("xlm-roberta.tokenizer.json", "joined consonants"): 9,
    ("xlnet-base-cased.tokenizer.json", "Hangul letters"): 6,
    # One word that no memo holds is segmented, as prose hardly is.
    ("t5.spiece.model", "digits"): 8,
    ("t5.spiece.model", "two in turn"): 8,
    ("xlm-roberta.tokenizer.json", "digits"): 8,
    ("xlnet-base-cased.tokenizer.json", "accented letters"): 8,
    # Clusters are found in pure Python.
    ("t5-small.tokenizer.json", "flags"): 6,
    ("t5-small.tokenizer.json", "joined emoji"): 20,
    ("xlm-roberta.tokenizer.json", "flags"): 6,
    ("xlm-roberta.tokenizer.json", "joined emoji"): 20,
    ("xlnet-base-cased.tokenizer.json", "flags"): 6,
    ("xlnet-base-cased.tokenizer.json", "joined emoji"): 20,
}


@cache
def tokenizer(name: str) -> Tokenizer:
    """A tokenizer whose engine is compiled, from a file, or one that Katapi comes with."""
    path = _SHARED / f"{name}.gz"
    if "." not in name:
        found = katapi.load_tokenizer(name).tokenizer
    elif path.exists():
        file = read_tokenizer_file(gzip.decompress(path.read_bytes()), where=name)
        found = build_tokenizer(file.configuration, file.data)
    else:
        pytest.skip("../shared/artifacts is not there")
    if found.engine.form != "compiled":
        pytest.skip(found.engine.reason)
    found.count(_PROSE)
    return found


def seconds(work: Callable[[], object]) -> float:
    """The processor time of one call."""
    start = time.process_time()
    work()
    return time.process_time() - start


@pytest.mark.parametrize("kind", _UNITS)
@pytest.mark.parametrize("name", _NAMES)
def test_a_run_takes_at_most_some_times_what_prose_takes(name: str, kind: str) -> None:
    subject = tokenizer(name)
    unit = _UNITS[kind]
    run = unit * (_SIZE // len(unit.encode()))
    bound = _SLOWER.get((name, kind), _TIMES) * len(run.encode()) / len(_PROSE.encode())
    usual = taken = float("inf")
    for _ in range(12):
        usual = min(usual, seconds(lambda: subject.count(_PROSE)))
        taken = min(taken, seconds(lambda: subject.count(run)))
        if taken < bound * usual:
            return
    pytest.fail(f"{taken / usual:.1f} times as long")
