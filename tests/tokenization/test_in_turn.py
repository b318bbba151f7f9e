"""One pattern for several that cut in turn gives the pieces that they give one after the other."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cache
from importlib import import_module

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from katapi.runtime.patterns.in_turn import in_turn
from katapi.runtime.patterns.matcher import Matcher, compile_pattern
from katapi.runtime.patterns.properties import PROPERTIES
from katapi.runtime.patterns.syntax import parse
from katapi.runtime.tokenization import configuration as c
from katapi.runtime.tokenization.build_stages import build_pretokenizer
from katapi.runtime.tokenization.joint_split import joint_split
from katapi.runtime.tokenization.options import Behaviour
from katapi.runtime.tokenization.pretokenizers import Chained, Split
from tests.examples import examples
from tests.field_patterns import LIVELY, TIKTOKEN

GENERATED = import_module("katapi_models.deepseek_v3_tokens.tokenizer")
DEEPSEEK: c.TokenizerConfiguration = GENERATED.CONFIGURATION
STAGES: dict[str, tuple[Sequence[c.PreTokenizer], c.UnicodeVersions]] = {
    "deepseek": (DEEPSEEK.pretokenizers, DEEPSEEK.unicode),
    "each numeral": (
        [c.Digits(individual=True), c.ByteLevel(add_prefix_space=False, use_regex=True)],
        c.UnicodeVersions(),
    ),
    "numerals of another version": (
        [c.Digits(individual=False), c.ByteLevel(add_prefix_space=False, use_regex=True)],
        c.UnicodeVersions(patterns="16.0", characters="9.0"),
    ),
}
JOINT = {name: joint_split(*stages) for name, stages in STAGES.items()}
ONE_BY_ONE = {
    name: Chained(*(build_pretokenizer([stage], unicode) for stage in stages))
    for name, (stages, unicode) in STAGES.items()
}

KANA = r"[一-龥\x{3040}-ヿ]+"
OUTER = [r"\p{N}", r"\p{N}+", r"\p{N}{1,3}", KANA, "[a-c]{1,2}", r"\s", r"\S+", r"[\s1]+", r"\p{Cn}{1,9}"]
LAST = [
    *TIKTOKEN.values(),
    GENERATED.PATTERN_3.source,
    "b+",
    r"\p{Lu}\p{Ll}|\p{N}{2}",
    r"\w+(?=\s)|\s+$",
    r"(?<=\d)[a-z]+|\b\w|\s+",
]
CHARACTERS = " \n\t\r!'1２〇一中かァ・ー゛\u3040\u3097\x01\x7f\u0301\u0378abcABx"
TEXTS = st.lists(
    st.sampled_from([*CHARACTERS, *LIVELY, "12345", "\u0378\u3040"]) | st.characters(exclude_categories=["Cs"]),
    max_size=24,
).map("".join)


@pytest.mark.parametrize("name", STAGES)
@examples(test=500, fuzz=5000)
@given(text=TEXTS)
@example(text="\u3040\x01\u3040\u3097中・文\x01\x01a 1")
@example(text="a  1  中  b 1234567")
def test_declared_stages(name: str, text: str) -> None:
    joint = JOINT[name]
    assert joint is not None
    assert joint.split(text, True) == ONE_BY_ONE[name].split(text, True)


@cache
def joint_of(*sources: str) -> Matcher | None:
    root = in_turn([parse(source, PROPERTIES) for source in sources], "16.0")
    return None if root is None else Matcher(root, "16.0")


@examples(test=200, fuzz=5000)
@given(patterns=st.tuples(st.lists(st.sampled_from(OUTER), max_size=3), st.sampled_from(LAST)), text=TEXTS)
@example(patterns=([r"\p{N}{1,3}"], "b+"), text="12345b")
@example(patterns=([r"\S+"], "b+"), text="ab ba")
@example(patterns=([r"\S+", "[a-c]{1,2}"], r"\w+(?=\s)|\s+$"), text="abc abd  ")
def test_any_patterns(patterns: tuple[list[str], str], text: str) -> None:
    sources = [*patterns[0], patterns[1]]
    joint = joint_of(*sources)
    if joint is None:
        return
    cut = Chained(*(Split(compile_pattern(source, unicode="16.0"), Behaviour.ISOLATED) for source in sources))
    pieces = cut.split(text, True)
    assert joint.total
    assert joint.split(text) == pieces
    assert [text[start:end] for start, end in joint.spans_by_automaton(text)] == pieces


@pytest.mark.parametrize(
    ("sources", "found"),
    [
        ((r"\p{N}{1,3}", r"\s+|\p{L}+"), True),
        ((r"\p{N}{1,3}", r"\d{2}|\s+"), False),  # it would cut "123" once more
        ((r"\p{N}", r"\d{2}|\s+"), True),
        ((r"\p{N}+", r"\d{2}|\s+"), True),
        ((r"\p{N}+?", r"\s+"), False),
        ((r" ?\p{N}", r"\s+"), False),
        ((r"\p{N}", r"\s*"), False),  # it matches the empty text
    ],
)
def test_of_which_patterns(sources: tuple[str, ...], found: bool) -> None:
    assert (joint_of(*sources) is not None) is found


def test_one_pass_with_stretches() -> None:
    """What makes it fast: the standard library can match it, and text can be cut before spaces."""
    built = build_pretokenizer(DEEPSEEK.pretokenizers, DEEPSEEK.unicode)
    assert isinstance(built, Split)
    assert built.stretches is not None
    assert built.stretches.cut("a b1 中 1") == ("a", ["b1", "中", "1"])


@pytest.mark.parametrize("unit", ["a", " ", "1", "\n", "中", "\x01", "\u3040", "\x01\u3040", " \n", "ab \n"])
def test_time_is_linear(unit: str) -> None:
    """Sixteen times the text may take at most sixty-four times as long."""
    joint = JOINT["deepseek"]
    assert joint is not None
    for end in ("", "x", " "):
        short, long = (unit * (size // len(unit)) + end for size in (1 << 11, 1 << 15))
        joint.split(short, True)
        assert seconds(joint, long) < 64 * seconds(joint, short) + 0.2


def seconds(split: Split, text: str) -> float:
    start = time.process_time()
    split.split(text, True)
    return time.process_time() - start
