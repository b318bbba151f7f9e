"""Sets of code points as parts of bracket expressions."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from katapi.runtime.unicode import tables
from katapi.runtime.unicode.codepoints import CodePoints, Planes, ranges_of


def _category(name: str) -> CodePoints:
    return tables.general_category(name, "16.0")


SAMPLE = CodePoints("2D 41-5A 5D-5E 3B1-3C9 4E00 1F600-1F64F")


@pytest.mark.parametrize(
    ("text", "planes"),
    [
        ("", Planes.ASCII),
        ("a\x7f", Planes.ASCII),
        ("\x80", Planes.BMP),
        ("\uffff", Planes.BMP),
        ("a\U00010000", Planes.ALL),
    ],
)
def test_planes_of_a_text(text: str, planes: Planes) -> None:
    assert Planes.of(text) is planes


def test_planes_of_a_lone_surrogate() -> None:
    with pytest.raises(UnicodeEncodeError):
        Planes.of("a\ud800")


@pytest.mark.parametrize("planes", Planes)
@pytest.mark.parametrize(
    "code_points",
    [SAMPLE, _category("N"), tables.WHITE_SPACE, _category("Pd")],
)
def test_members_below_the_limit_and_no_others(code_points: CodePoints, planes: Planes) -> None:
    inside = re.compile(f"[{code_points.within(planes)}]")
    expected = {c for c in _members(code_points) if c < planes.value}
    found = {c for c in range(planes.value) if not 0xD800 <= c < 0xE000 and inside.match(chr(c))}
    assert found == expected


@given(st.text())
def test_an_empty_set_matches_nothing(text: str) -> None:
    nothing = _category("M").within(Planes.ASCII)  # there is no mark in ASCII
    assert re.search(f"[{nothing}]", text) is None
    assert re.sub(f"[^{nothing}]", "", text) == ""


@pytest.mark.parametrize(
    ("named", "members", "others"),
    [
        (_category("L"), "aÀ中ªӀ𐐀", "1 -\u0301_"),
        (_category("N"), "1²Ⅷ९", "a五"),
        (tables.WHITE_SPACE, " \t\n\r\x85\xa0\u2028\u3000", "\u200b\x1c\ufeff"),
        (_category("Lu"), "AÀΩ", "aǅª"),
        (_category("M"), "\u0301\u0903\u20dd", "a"),
    ],
)
def test_members_of_the_pinned_classes(named: CodePoints, members: str, others: str) -> None:
    inside = re.compile(f"[{named.within(Planes.ALL)}]")
    assert all(map(inside.match, members))
    assert not any(map(inside.match, others))


def test_a_family_is_the_union_of_its_categories() -> None:
    parts = (
        _category("Lu"),
        _category("Ll"),
        _category("Lt"),
        _category("Lm"),
        _category("Lo"),
    )
    assert _members(*parts) == _members(_category("L"))


def _members(*sets: CodePoints) -> set[int]:
    return {c for part in sets for first, last in part.ranges for c in range(first, last + 1)}


@given(st.integers(0, 0x120), st.integers(0, 0x120))
def test_ranges_between_two_code_points(first: int, last: int) -> None:
    inside = CodePoints(tuple(SAMPLE.between(first, last)))
    assert _members(inside) == _members(SAMPLE) & set(range(first, last + 1))


@given(st.lists(st.frozensets(st.integers(0, 40)), max_size=4))
def test_the_union_of_sets(sets: list[frozenset[int]]) -> None:
    union = CodePoints.union(*(CodePoints(ranges_of(members)) for members in sets))
    assert union.ranges == CodePoints(ranges_of(frozenset().union(*sets))).ranges


@given(st.frozensets(st.integers(0, 40)), st.frozensets(st.integers(0, 40)))
def test_a_set_without_another(members: frozenset[int], others: frozenset[int]) -> None:
    left = CodePoints(ranges_of(members)).without(CodePoints(ranges_of(others)))
    assert _members(left) == members - others
