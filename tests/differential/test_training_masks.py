"""tools/training_masks: what the model wrote is told from prompts, and differences are sorted into kinds.

The comparison itself needs transformers and TRL's templates: `make masks`. These are the parts that need neither.
"""

from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

import katapi
from tests.specs import ROOT
from tools.training_masks import report
from tools.training_masks.kinds import Change, Kind, Spelling, Where, changes, faults, untold
from tools.training_masks.models import KATAPI, TRL, Side
from tools.training_masks.peer import facts
from tools.training_masks.written import Ids, Turn, common, written

USER, MODEL, END, LINE, THINK, CLOSE = range(6)
WORDS = {USER: "<u>", MODEL: "<m>", END: "<end>", LINE: "\n", THINK: "<think>", CLOSE: "</think>"}
SPELLING = Spelling(lambda ids: "".join(WORDS.get(i, chr(i)) for i in ids), {USER, MODEL, END, THINK, CLOSE})
A, B, C = map(ord, "abc")


def judged(ids: Ids, *turns: Turn | None) -> str:
    """One letter a token: r for a reply, ? for what is not told."""
    return "".join("?" if told is None else ".r"[told] for told in written(ids, turns, {END}))


ASKED = [USER, A, END, LINE]
PROMPT = [*ASKED, MODEL]
ANSWERED = [*PROMPT, B, END, LINE]


def test_a_reply_is_what_follows_its_prompt_up_to_the_token_that_ends_it() -> None:
    first = Turn(ASKED, PROMPT, ANSWERED)
    assert judged(ANSWERED, first) == ".....rr."
    again = [*ANSWERED, USER, C, END, LINE]
    whole = [*again, MODEL, B, B, END, LINE]
    assert judged(whole, first, Turn(again, [*again, MODEL], whole)) == ".....rr......rrr."


def test_a_reply_without_an_end_goes_to_where_its_message_ends() -> None:
    after = [*PROMPT, B, B]
    assert judged([*after, USER, C], Turn(ASKED, PROMPT, after)) == ".....rr.."


def test_the_header_of_the_next_message_can_be_what_ends_a_reply() -> None:
    after = [*PROMPT, B]
    turn = Turn(ASKED, PROMPT, after)
    assert written([*after, USER, C], [turn], {USER}) == [False] * 5 + [True, True, False]
    assert written(after, [turn], {USER}) == [False] * 5 + [True]


def test_a_reply_that_is_printed_otherwise_as_history_is_not_told() -> None:
    first = Turn(ASKED, PROMPT, [*PROMPT, THINK, A, CLOSE, B, END, LINE])
    again = [*ANSWERED, USER, C, END, LINE]
    whole = [*again, MODEL, THINK, C, CLOSE, B, END, LINE]
    assert judged(whole, first, Turn(again, [*again, MODEL], whole)) == ".....??......rrrrr."


def test_a_reply_can_follow_without_a_generation_prompt() -> None:
    assert judged([*ASKED, B, END], Turn(ASKED, ASKED, [*ASKED, B, END])) == "....rr"


def test_nothing_ends_a_reply_that_has_ended() -> None:
    whole = [*PROMPT, B, END, USER, C]
    assert (
        written(whole, [Turn(ASKED, PROMPT, [*PROMPT, B, END])], {END, USER})
        == [False] * 5 + [True, True] + [False] * 2
    )


def test_what_is_not_told_ends_with_the_token_that_ends_the_reply() -> None:
    assert judged([*PROMPT, B, END, LINE], Turn(ASKED, PROMPT, [*PROMPT, B, C, END])) == ".....r?."


def test_what_it_begins_with_is_told_where_the_rest_is_not() -> None:
    assert judged([*PROMPT, B, C, LINE], Turn(ASKED, PROMPT, [*PROMPT, B, END, LINE])) == ".....r??"


def test_a_prompt_with_more_than_the_history_has_is_no_beginning() -> None:
    assert judged(ANSWERED, Turn(ASKED, [*PROMPT, THINK], ANSWERED)) == ".....??."


def test_nothing_is_told_behind_a_history_that_is_another_until_a_prompt_fits_again() -> None:
    first = Turn([USER, C, END], [USER, C, END, MODEL], [USER, C, END, MODEL, B, END])
    again = [*ANSWERED, USER, C, END, LINE]
    whole = [*again, MODEL, B, END]
    assert judged(whole, first, Turn(again, [*again, MODEL], whole)) == ".???????????.rr"
    assert judged(ANSWERED, None) == "????????"


BLOCKS = st.lists(st.tuples(st.booleans(), st.lists(st.sampled_from([A, B, C]))), max_size=8)


@given(BLOCKS)
def test_of_a_template_that_prints_message_by_message_all_is_told(blocks: list[tuple[bool, list[int]]]) -> None:
    ids: list[int] = []
    turns: list[Turn] = []
    wrote: list[bool | None] = []
    for reply, content in blocks:
        before = [*ids]
        ids += [MODEL if reply else USER, *content, END, LINE]
        wrote += [False, *[reply] * (len(content) + 1), False]
        if reply:
            turns.append(Turn(before, [*before, MODEL], [*ids]))
    assert written(ids, turns, {END}) == wrote


@given(st.lists(st.integers(0, 2)), st.lists(st.integers(0, 2)))
def test_what_two_sequences_begin_with(one: list[int], other: list[int]) -> None:
    same = common(one, other)
    assert one[:same] == other[:same]
    assert one[: same + 1] != other[: same + 1] or same == len(one) == len(other)


@pytest.mark.parametrize(
    ("mask", "told", "where"),
    [
        ("rr.", ".r.", [Where.PROMPT]),
        ("rr.", ".?.", [Where.PROMPT]),
        (".rr", ".r.", [Where.BEHIND]),
        (".rr", ".?.", [Where.BEHIND]),
        ("r..", "..r", [Where.ELSEWHERE, Where.END]),
        (".r.", ".rr", [Where.END]),
        ("..r", ".rr", [Where.REPLY]),
        ("...", ".?.", []),
        ("rrr", "r.r", [Where.PROMPT]),
        (".r.", ".r.", []),
        ("", "", []),
    ],
)
def test_where_a_mask_is_wrong(mask: str, told: str, where: list[Where]) -> None:
    found = faults(
        [letter == "r" for letter in mask],
        [None if letter == "?" else letter == "r" for letter in told],
        [MODEL, A, B][: len(mask)],
        SPELLING,
    )
    assert [kind.where for kind in found] == where


def test_a_kind_is_known_by_what_it_covers_and_the_control_token_before_it() -> None:
    ids = [MODEL, A, END, LINE, USER, A, B]
    marked = [False, False, False, True, False, True, True]
    assert faults(marked, [False, True, True, False, False, False, False], ids, SPELLING) == [
        Kind(Where.END, "a<end>", "<m>"),
        Kind(Where.BEHIND, "\n", "<end>"),
        Kind(Where.ELSEWHERE, "…", "<u>"),
    ]


def test_what_only_one_marks_where_nothing_is_told() -> None:
    told = [None, None, False, None]
    assert untold([True, True, True, False], [False, True, False, False], told, [A, B, C, A], SPELLING) == ["a"]


@pytest.mark.parametrize(
    ("ids", "shape"),
    [
        ([A], "a"),
        ([A, B], "…"),
        ([LINE, LINE], "\n\n"),
        ([LINE, A, B, LINE, END], "\n…\n<end>"),
        ([THINK, CLOSE], "<think></think>"),
        ([], ""),
    ],
)
def test_the_shape_of_a_stretch(ids: Ids, shape: str) -> None:
    assert SPELLING.shape(ids) == shape


def test_what_one_template_prints_in_place_of_the_other() -> None:
    assert changes([A, END, B], [A, THINK, CLOSE, END, C], SPELLING) == [
        Change("", "<think></think>"),
        Change("b", "c"),
    ]
    assert changes(ANSWERED, [*ANSWERED, USER], SPELLING) == [Change("", "<u>")]
    assert changes([A, A], [A], SPELLING) == [Change("a", "")]
    assert changes(ANSWERED, ANSWERED, SPELLING) == []


def test_a_change_without_a_known_reason_is_an_error() -> None:
    assert "ends it" in report.why_changed(Change("", "<u>"), ["<u>"])
    assert "thought" in report.why_changed(Change("", "<think></think>"), ["<u>"])
    for change in (Change("", "x"), Change("x", "<u>"), Change("<think>", "<think>\n")):
        with pytest.raises(report.Unexplained):
            report.why_changed(change, ["<u>"])


def test_what_a_mask_marks_stands_in_brackets() -> None:
    side = Side([MODEL, A, END, LINE], [False, True, True, False], [None] * 4)
    assert report.marked(side, SPELLING) == "<m>⟪a<end>⟫\n"


def test_bars_and_line_breaks_do_not_break_a_table() -> None:
    assert report.table(["a"], [[report.code("<|x|>\n")]]) == "| a |\n| --- |\n| `<\\|x\\|>\\n` |\n"


@pytest.mark.parametrize(("ours", "theirs", "word"), [(0, 2, "better"), (1, 0, "worse"), (1, 2, "same")])
def test_the_verdict(ours: int, theirs: int, word: str) -> None:
    counts = {KATAPI: Counter({"m": ours}), TRL: Counter({"m": theirs})}
    assert report.verdict(counts) == word


def test_the_document_has_a_row_for_each_template_and_no_other() -> None:
    text = (ROOT / "docs" / "masks.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\S+) \| `(\S+_training\.jinja)` \|", text, re.MULTILINE)
    assert rows == [(model, fact.training.rpartition("/")[2]) for model, fact in facts().items()]
    assert facts().keys() <= {*katapi.models()}
