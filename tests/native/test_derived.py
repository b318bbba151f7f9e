"""Derived tables: kept under a digest of all that they depend on, and made again where their file was damaged."""

from __future__ import annotations

import gc
import subprocess
import sys
import tracemalloc
from importlib import import_module
from pathlib import Path

import pytest

from katapi.runtime.compiled import why_pure
from katapi.runtime.native.engine import BYTE_LEVEL, DERIVATION
from katapi.runtime.native.table_file import read_tables, table_file
from katapi.runtime.tokenization.interface import Tokenizer

TABLES = {"one": b"abc", "none": b"", "two": bytes(range(256))}


def test_a_file_gives_back_its_tables(tmp_path: Path) -> None:
    path = tmp_path / "tables"
    path.write_bytes(table_file(TABLES))
    assert read_tables(path) == TABLES


def test_every_damaged_byte_is_found(tmp_path: Path) -> None:
    whole = table_file(TABLES)
    path = tmp_path / "tables"
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x21]) + whole[place + 1 :])
        assert read_tables(path) != TABLES or place < whole.index(b"\n"), place
        path.write_bytes(whole[:place])
        assert read_tables(path) is None
    path.write_bytes(whole + b"x")
    assert read_tables(path) is None
    assert read_tables(tmp_path / "missing") is None


_REASON = why_pure(*BYTE_LEVEL, *DERIVATION)
_compiled = pytest.mark.skipif(_REASON is not None, reason=str(_REASON))
_CODE = """
import katapi
tokenizer = katapi.load_tokenizer("gpt2")
print(katapi.engine(tokenizer).form, flush=True)
input()
ids = tokenizer.encode("Hello world")
print(katapi.engine(tokenizer).form, ids)
"""


def _tokenizer() -> Tokenizer:
    made: Tokenizer = import_module("katapi_models.gpt2.tokenizer").tokenizer.__wrapped__()
    return made


@_compiled
def test_a_damaged_file_is_made_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KATAPI_CACHE", str(tmp_path))
    ids = _tokenizer().encode("Hello world")
    (path,) = [path for path in tmp_path.rglob("*") if path.is_file()]
    whole = path.read_bytes()
    for damaged in (b"", whole[: len(whole) // 2], whole[:-9] + b"\0" + whole[-8:]):
        path.write_bytes(damaged)
        assert _tokenizer().encode("Hello world") == ids
        assert path.read_bytes() == whole


@_compiled
def test_a_cache_that_cannot_be_written_costs_only_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("KATAPI_CACHE", str(tmp_path / "file"))
    tokenizer = _tokenizer()
    assert tokenizer.encode("Hello world") == [15496, 995]
    assert tokenizer.engine.form == "compiled"


@_compiled
def test_tables_that_came_with_katapi_are_read_before_any_are_derived(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KATAPI_CACHE", str(tmp_path / "one"))
    ids = _tokenizer().encode("Hello world")
    (path,) = [path for path in tmp_path.rglob("*") if path.is_file()]
    monkeypatch.setattr(import_module("katapi.runtime.native.derived"), "SHIPPED", path.parent)
    monkeypatch.setenv("KATAPI_CACHE", str(tmp_path / "two"))
    assert _tokenizer().encode("Hello world") == ids
    assert not (tmp_path / "two").exists()


@_compiled
def test_memory_is_bounded() -> None:
    """The tables, an encoder, and its memos, which do not grow with the text."""
    _tokenizer().encode("Hello")
    gc.collect()
    tracemalloc.start()
    try:
        kept = _tokenizer()
        for number in range(40_000):
            kept.encode(f"{number * 7919} words of all kinds {number:x}{number * 104729:x}{number * 1299709:x}")
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 24_000_000, f"{held:,} bytes are held"


@_compiled
def test_two_processes_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Both stand before their first text until both do; then neither sees a part of what the other writes."""
    monkeypatch.setenv("KATAPI_CACHE", str(tmp_path))
    command = [sys.executable, "-c", _CODE]
    both = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    for process in both:
        assert process.stdout is not None
        assert process.stdout.readline() == "compiled\n"
    assert not [*tmp_path.iterdir()]
    for process in both:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    assert [process.communicate()[0] for process in both] == ["compiled [15496, 995]\n"] * 2
    (path,) = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert read_tables(path) is not None
