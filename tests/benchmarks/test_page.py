"""What is written: the sections of the page, its tables, and the plot."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from tools.benchmarks.__main__ import ENVIRONMENT
from tools.benchmarks.page import PAGE, written
from tools.benchmarks.plot import Ratios, svg
from tools.benchmarks.sections import SECTIONS
from tools.benchmarks.tables import table

SVG = "{http://www.w3.org/2000/svg}"


def test_the_page_has_a_place_for_each_section() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for section in SECTIONS:
        once = written(page, section, "found")
        assert once.count("found") == page.count("found") - _between(page, section).count("found") + 1
        assert written(once, section, "found") == once
        assert _between(once, section).strip() == "found"


def _between(page: str, section: str) -> str:
    return page.partition(f"<!-- {section}: written by make bench -->")[2].partition(f"<!-- end of {section} -->")[0]


def test_a_section_without_a_place_is_refused() -> None:
    with pytest.raises(ValueError, match="no place for speed"):
        written("# Benchmarks\n", "speed", "found")


def test_a_table_has_as_many_cells_as_its_head() -> None:
    assert table(["a", "b"], [["1", "x|y"]]) == "| a | b |\n| --- | --- |\n| 1 | x\\|y |\n"
    with pytest.raises(ValueError, match="1 cells under a head of 2"):
        table(["a", "b"], [["1"]])


def test_the_plot_places_ratios_on_the_axis() -> None:
    ratios: Ratios = {"One & two": {"even": (1.0, 10.0), "slower": (0.1, None), "absent": (None, None)}}
    drawn = ET.fromstring(svg({"As list": ratios}))
    even = next(line for line in drawn.iter(f"{SVG}line") if line.get("class") == "even")
    circles = [float(circle.get("cx", "")) for circle in drawn.iter(f"{SVG}circle")]
    assert circles[0] == float(even.get("x1", ""))
    assert circles[2] < circles[0] < circles[1]
    assert circles[1] - circles[0] == pytest.approx(circles[0] - circles[2], abs=0.2)
    texts = [text.text for text in drawn.iter(f"{SVG}text")]
    assert "One & two" in texts
    assert "absent" not in texts
    assert "prefers-color-scheme: dark" in (drawn.findtext(f"{SVG}style") or "")


def test_the_plot_has_a_panel_for_each_form_with_the_same_rows() -> None:
    drawn = ET.fromstring(svg({"As list": {"V": {"a": (1.0, None)}}, "As array": {"V": {"b": (1.0, None)}}}))
    places = [(float(c.get("cx", "")), float(c.get("cy", ""))) for c in drawn.iter(f"{SVG}circle")]
    evens = [float(line.get("x1", "")) for line in drawn.iter(f"{SVG}line") if line.get("class") == "even"]
    assert [x for x, _ in places] == evens
    assert evens[0] < evens[1]
    assert places[0][1] < places[1][1]  # each panel has the rows of both
    assert {"As list", "As array", "a", "b"} <= {text.text for text in drawn.iter(f"{SVG}text")}


def test_a_plot_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing to plot"):
        svg({"As list": {"One": {"absent": (None, None)}}})


def test_peers_are_kept_to_one_thread() -> None:
    assert ENVIRONMENT["TOKENIZERS_PARALLELISM"] == "false"
    for library in ("RAYON", "OMP", "OPENBLAS", "MKL"):
        assert ENVIRONMENT[f"{library}_NUM_THREADS"] == "1"
