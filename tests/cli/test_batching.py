"""`katapi batch`: several requests, in files or lines, as the arrays of one batch."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import katapi
from tests.command import here

REQUESTS = [
    {"messages": [{"role": "user", "content": "天空"}]},
    {
        "messages": [{"role": "user", "content": "是"}, {"role": "assistant", "content": "蓝色"}],
        "add_generation_prompt": False,
    },
    {"messages": [{"role": "system", "content": "简洁回答"}, {"role": "user", "content": "天空为什么是蓝色？"}]},
]
LINES = "\n\n".join(json.dumps(request) for request in REQUESTS).encode() + b"\r\n"


def inputs() -> list[katapi.ModelInput]:
    return [katapi.load("book").assemble(json.dumps(request).encode()) for request in REQUESTS]


def written(*arguments: str, folder: Path, stdin: bytes = b"") -> dict[str, NDArray[np.int64]]:
    file = folder / "batch.npz"
    done = here("batch", "book", *arguments, "-o", str(file), stdin=stdin)
    assert (done.status, done.out, done.err) == (0, "", "")
    with np.load(file) as arrays:
        return {name: arrays[name] for name in arrays.files}


def same(found: dict[str, NDArray[np.int64]], expected: object, names: set[str]) -> None:
    assert found.keys() == names
    for name, array in found.items():
        value: NDArray[np.int64] = getattr(expected, name)
        assert np.array_equal(array, value), name
        assert array.dtype == value.dtype, name


PADDED = {"input_ids", "attention_mask", "position_ids", "labels", "lengths"}
PACKED = {"input_ids", "position_ids", "labels", "lengths", "cu_seqlens"}


def test_files_one_by_one(tmp_path: Path) -> None:
    files = [tmp_path / f"{index}.json" for index in range(3)]
    for file, request in zip(files, REQUESTS, strict=True):
        file.write_text(json.dumps(request, indent=2))
    found = written(*map(str, files), folder=tmp_path)
    same(found, katapi.batch(inputs(), "left"), PADDED)


def test_lines_of_a_file_and_of_standard_input(tmp_path: Path) -> None:
    file = tmp_path / "requests.jsonl"
    file.write_bytes(LINES)
    expected = katapi.batch(inputs(), "right", pad_to_multiple_of=16, pad_id=3)
    how = ("--padding", "right", "--pad-to-multiple-of", "16", "--pad-id", "3")
    same(written(str(file), *how, folder=tmp_path), expected, PADDED)
    same(written("-", *how, folder=tmp_path, stdin=LINES), expected, PADDED)


def test_a_packed_row(tmp_path: Path) -> None:
    same(written("-", "--padding", "packed", folder=tmp_path, stdin=LINES), katapi.pack(inputs()), PACKED)


def test_parameters_go_to_every_request(tmp_path: Path) -> None:
    found = written("-", "--param", "add_generation_prompt=false", folder=tmp_path, stdin=LINES)
    assert 6 not in found["input_ids"][[0, 2]]


@pytest.mark.parametrize(
    ("arguments", "stdin", "status", "said"),
    [
        (
            ["-"],
            LINES + b'{"messages": [{"role": "x"}]}',
            1,
            "katapi: request error R110 at standard input:6, messages[0]",
        ),
        (["-"], b"", 1, "katapi: tokenizer error V120: there is no input"),
        (["-", "--rows", "9"], LINES, 1, "katapi: tokenizer error V123 at row 1, column 8: "),
        (["-", "--policy", "None"], LINES, 1, "katapi: budget error B101 at standard input:1, policy"),
        (["-", "--padding", "packed", "--pad-id", "3"], LINES, 2, "a packed row has no padding"),
        (["no such file"], b"", 2, "cannot be read"),
        ([], b"", 2, "FILE"),
    ],
)
def test_what_is_wrong_is_said(arguments: list[str], stdin: bytes, status: int, said: str, tmp_path: Path) -> None:
    file = tmp_path / "batch.npz"
    done = here("batch", "book", *arguments, "-o", str(file), stdin=stdin)
    assert (done.status, done.out) == (status, "")
    assert said in " ".join(done.err.split())
    assert not file.exists()
