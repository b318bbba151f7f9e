"""Patterns and texts at random, such that patterns match often and mostly lie within what both dialects accept."""

from __future__ import annotations

from functools import cache

from hypothesis import strategies as st

from tests.field_patterns import LIVELY

_LITERALS = st.sampled_from(["a", "b", "S", "'", " ", "1", "é", "中", r"\n", r"\.", r"\x41", r"\u00e9", r"\x{1F44D}"])
_SETS = st.sampled_from(
    [r"\s", r"\S", r"\d", r"\D", r"\w", r"\W", r"\p{L}", r"\P{L}", r"\p{Lu}", r"\p{N}", r"\p{^N}", r"\p{M}", r"\p{Han}"]
)
_RANGES = st.sampled_from(["a-c", "A-Z", "0-9", "^a", "à-ÿ", "一-龥", "-", "x-"])
_ENDS = st.sampled_from(["", "", "", "", "^", "$", r"\b", r"\B", r"\A", r"\z"])
_COUNTS = st.sampled_from(["?", "*", "+", "{2}", "{1,3}", "{2,}", "{,2}"])
_MANNERS = st.sampled_from(["", "", "", "?", "+"])
_CASELESS = st.sampled_from(["a", "[ak]", "s", "'t", r"\d", "k+", r"[^as\s]", "[a-d]x|b"])


_REPEATS = st.sampled_from([""]) | _COUNTS.flatmap(lambda count: _MANNERS.map(count.__add__))
_REPEATS_OF_GROUPS = st.sampled_from(["", "?", "??", "*", "+", "+?", "{2}", "{1,2}"])
_GROUPS = st.sampled_from(["(?:", "("])
_AHEAD, _BEHIND = st.sampled_from(["(?=", "(?!"]), st.sampled_from(["(?<=", "(?<!"])
_MEMBERS = st.lists(_LITERALS | _SETS | _RANGES.filter(lambda part: part != "^a"), min_size=1, max_size=3).map("".join)
_NEGATIONS = st.sampled_from(["", "", "^"])


@st.composite
def _brackets(draw: st.DrawFn, depth: int = 1) -> str:
    """A bracket expression, some with others inside or intersected."""
    inside = draw(_MEMBERS)
    if depth and draw(st.integers(0, 3)) == 0:
        inside = f"{inside}&&{draw(_brackets(depth - 1))}"
    elif depth and draw(st.integers(0, 5)) == 0:
        inside = f"{inside}{draw(_brackets(depth - 1))}"
    return f"[{draw(_NEGATIONS)}{inside.removesuffix('-')}]"


_SINGLE = _LITERALS | _SETS | _brackets() | st.just(".")


@st.composite
def _item(draw: st.DrawFn, depth: int) -> str:
    kind = draw(st.integers(0, 9))
    if kind < 4 or not depth:
        return draw(_SINGLE) + draw(_REPEATS)
    if kind < 6:
        return draw(_GROUPS) + draw(_choice(depth - 1)) + ")" + draw(_REPEATS_OF_GROUPS)
    if kind == 6:
        return f"(?i:{draw(_CASELESS)})"
    if kind == 7:
        return draw(_AHEAD) + draw(_choice(depth - 1)) + ")"
    if kind == 8:
        return draw(_BEHIND) + draw(_SINGLE) + ")"
    return draw(_ENDS)


@cache  # to make a strategy costs more than to draw from it
def _choice(depth: int) -> st.SearchStrategy[str]:
    sequences = st.lists(_item(depth), min_size=1, max_size=3).map("".join)
    return st.lists(sequences, min_size=1, max_size=3).map("|".join)


def patterns() -> st.SearchStrategy[str]:
    """Sources of patterns; some are no pattern of the one dialect, of the other, or of both."""
    return _choice(2)


def texts(*, longest: int = 25) -> st.SearchStrategy[str]:
    """Texts of few different characters, and of all."""
    lively = st.sampled_from(LIVELY)
    few = st.lists(lively, min_size=2, max_size=3).flatmap(
        lambda some: st.text(st.sampled_from(some), max_size=longest)
    )
    return few | st.text(lively, max_size=longest) | st.text(st.sampled_from("aabS' 1\n中é"), max_size=longest)
