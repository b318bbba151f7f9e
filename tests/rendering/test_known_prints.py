"""What a def printed of a value is remembered, and printed again as it was."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

import katapi
from katapi.runtime.assembly import assemble_ids
from katapi.runtime.boundaries import Boundary, guarded
from katapi.runtime.budget.counting import TokenCounter
from katapi.runtime.errors import TemplateError
from katapi.runtime.json_types import Json
from katapi.runtime.known_prints import LONGEST, MOST_CHARACTERS, known_prints
from katapi.runtime.known_values import MOST_KNOWN
from katapi.runtime.printed import END_SAMPLED, SAMPLED, Printed, fixed, kept, rendering_of, text_of
from katapi.runtime.read_objects import read_object
from katapi.runtime.segments import Content, ControlSegment, Literal, LiteralSegment, Path, Site
from katapi_models.book.vocabulary import Control

TOKENIZER = katapi.load("book").tokenizer
SITE = Site(1, 1)
BEGINNING = fixed(LiteralSegment(Literal("{"), SITE), ControlSegment(Control.USER, SITE), SAMPLED)
END = fixed(ControlSegment(Control.END_USER, SITE), END_SAMPLED, LiteralSegment(Literal("}"), SITE))

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 2)
    | st.sampled_from([0.0, -0.0, 1.0])
    | st.sampled_from(["", "a", "1"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=4,
)
PATHS = st.sampled_from([("tools", 0), ("tools", 1), ("tools", 0, "function")])


def prints(out: list[Printed], value: Json, path: Path) -> None:
    """The value, so that what is alike to `==` alone does not pass for it; an object key by key, in its order."""
    if value == "refused":
        raise TemplateError("no", code="T100", where="a.kata:1")
    if isinstance(value, Mapping):
        out.append(BEGINNING)
        out.extend((Content(f"{key}: {inner!r}"), (*path, key), 0) for key, inner in value.items())
        out.append(END)
    out.append((Content(repr(value)), path, None))


@given(st.lists(st.tuples(JSON, PATHS), max_size=12))
def test_it_prints_what_the_def_prints(values: list[tuple[Json, Path]]) -> None:
    remembering = known_prints(prints)
    found: list[Printed] = []
    expected: list[Printed] = []
    for value, path in [*values, *values]:
        remembering(found, value, path)
        prints(expected, value, path)
    assert rendering_of(found) == rendering_of(expected)
    assert text_of(found) == text_of(expected)
    assert assemble_ids(found, TOKENIZER) == assemble_ids(expected, TOKENIZER)
    assert TokenCounter(TOKENIZER).count(found) == TokenCounter(TOKENIZER).count(expected)


@given(st.lists(st.sampled_from(["a", "1"]), max_size=4))
def test_a_block_keeps_what_was_remembered_piece_by_piece(values: list[str]) -> None:
    remembering = known_prints(prints)
    found: list[Printed] = []
    expected: list[Printed] = []
    for value in values:
        remembering(found, value, ("tools", 0))
        prints(expected, value, ("tools", 0))
    assert rendering_of([kept(found)]) == rendering_of([kept(expected)])


def test_a_content_that_was_remembered_is_guarded() -> None:
    remembering = known_prints(prints)
    boundaries = (Boundary("[END]", escape=None, rule="a.kata:1"), Boundary("[A]", escape="(A)", rule="a.kata:2"))
    for content, spelled in (("[END]", None), ("[A]", "(A)"), ("other", "other")):
        out: list[Printed] = []
        remembering(out, {"name": content}, ("tools", 0))
        if spelled is None:
            with pytest.raises(TemplateError, match="T103"):
                guarded(out, boundaries)
        else:
            assert text_of(guarded(out, boundaries)).endswith(f"{{'name': '{spelled}'}}")


def test_tools_are_known_by_the_texts_of_all() -> None:
    calls: list[Json] = []

    def counted(out: list[Printed], value: Json, path: Path) -> None:
        calls.append(value)
        prints(out, value, path)

    remembering = known_prints(counted)
    one, other = (read_object({"name": name}, f'{{"name": "{name}"}}') for name in "ab")
    out: list[Printed] = []
    for tools in ((one,), (one, other), (other, one), (one, other), (one,), ({"name": "a"},), ({"name": "a"},)):
        remembering(out, tools, ("tools",))
    assert calls == [(one,), (one, other), (other, one), ({"name": "a"},)]


def test_a_known_value_is_not_printed_anew() -> None:
    calls: list[Json] = []

    def counted(out: list[Printed], value: Json, path: Path) -> None:
        calls.append(value)
        prints(out, value, path)

    remembering = known_prints(counted)
    out: list[Printed] = []
    for _ in range(3):
        remembering(out, {"name": "a"}, ("tools", 0))
        remembering(out, read_object({"name": "a"}, '{"name": "a"}'), ("tools", 0))
        out.clear()  # what a caller does with its list changes nothing that is remembered
    assert len(calls) == 2  # by its text, and by its value
    remembering(out, {"name": "a"}, ("tools", 1))
    assert len(calls) == 3
    for number in range(MOST_KNOWN):
        remembering(out, number, ())
    remembering(out, {"name": "a"}, ("tools", 0))
    assert calls[-1] == {"name": "a"}


def test_errors_come_each_time() -> None:
    remembering = known_prints(prints)
    out: list[Printed] = []
    for _ in range(2):
        with pytest.raises(TemplateError, match="T100"):
            remembering(out, "refused", ("tools", 0))
    assert out == []


def test_the_memory_is_bounded() -> None:
    calls: list[Json] = []

    def counted(out: list[Printed], value: Json, path: Path) -> None:
        calls.append(value)
        out.append((Content(str(value)), path, 0))

    remembering = known_prints(counted)
    long, longer = "x" * (LONGEST // 4), "x" * LONGEST
    out: list[Printed] = []
    for value in ("a", long, longer, "a", long, longer):
        remembering(out, value, ())
    assert calls == ["a", long, longer, longer]
    calls.clear()
    for number in range(MOST_CHARACTERS // len(long)):
        remembering(out, f"{number}{long}", ())
    remembering(out, "a", ())
    assert calls[-1] == "a"
