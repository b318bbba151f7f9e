"""Specs that are odd rather than wrong: deep loops are checked quickly, and no text of a spec leaves its string."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from katapi.analyse import analyse
from katapi.language.diagnostics import SpecError
from katapi.language.source import Source

BOOK = (Path(__file__).parents[2] / "spec" / "book.kata").read_text(encoding="utf-8")


def test_loops_in_loops_do_not_double_the_time() -> None:
    loops = "".join(f"each t{n} in tools ?? [] {{ " for n in range(18)) + '"x"' + " }" * 18
    text = BOOK.replace("  @bos\n", f"  @bos {loops}\n").replace("  depth: 64\n", "  depth: 64\n  tools: [object]?\n")
    start = time.monotonic()
    with pytest.raises(SpecError):  # the tools are never printed
        analyse("book", Source("book.kata", text))
    assert time.monotonic() - start < 10


@pytest.mark.parametrize("version", ['\\"\\"\\"\\nx', "", "a b", "é", "1" * 41])
def test_a_version_is_plain(version: str) -> None:
    text = BOOK.replace('template Book version "1"', f'template Book version "{version}"')
    with pytest.raises(SpecError) as caught:
        analyse("book", Source("book.kata", text))
    assert [d.code for d in caught.value.diagnostics] == ["K112"]


@pytest.mark.parametrize("depth", [0, 257, 1000])
def test_a_depth_has_bounds(depth: int) -> None:
    with pytest.raises(SpecError) as caught:
        analyse("book", Source("book.kata", BOOK.replace("depth: 64", f"depth: {depth}")))
    assert [d.code for d in caught.value.diagnostics] == ["K112"]
