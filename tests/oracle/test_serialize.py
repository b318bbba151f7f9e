"""The oracle's JSON text against `json.dumps` with the same settings, and where it goes its own way."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from katapi.language.source import Span
from katapi.model.declarations import (
    AbsentPairs,
    Escape,
    Floats,
    Identity,
    Indent,
    Integers,
    KeyOrder,
    LineEnd,
    Nan,
    Serialization,
)
from katapi.oracle.serialize import json_text
from katapi.oracle.values import Items, Pairs, Whole, from_json
from katapi.runtime.json_types import Json

_SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5)
)
_VALUES: st.SearchStrategy[Json] = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
)


def settings(
    *,
    order: KeyOrder = KeyOrder.AS_RECEIVED,
    item: str = ", ",
    key: str = ": ",
    escape: tuple[Escape, ...] = (),
    indent: int | None = None,
) -> Serialization:
    return Serialization(
        Identity("s", "1"),
        order,
        item,
        key,
        None if indent is None else Indent(indent, LineEnd.LF),
        escape,
        Floats.PYTHON,
        Integers.EXACT,
        Nan.REJECT,
        AbsentPairs.OMITTED,
        None,
        Span(0, 0),
    )


@given(
    _VALUES,
    st.sampled_from([KeyOrder.AS_RECEIVED, KeyOrder.SORTED]),
    st.sampled_from([", ", ",", " , "]),
    st.sampled_from([": ", ":"]),
    st.sampled_from([(), (Escape.ASCII,)]),
    st.sampled_from([None, 0, 1, 4]),
)
def test_it_is_what_json_dumps_gives(
    value: Json, order: KeyOrder, item: str, key: str, escape: tuple[Escape, ...], indent: int | None
) -> None:
    expected = json.dumps(
        value,
        sort_keys=order is KeyOrder.SORTED,
        separators=(item, key),
        ensure_ascii=Escape.ASCII in escape,
        indent=indent,
    )
    chosen = settings(order=order, item=item, key=key, escape=escape, indent=indent)
    assert json_text(from_json(value, ()), chosen) == expected


@pytest.mark.parametrize("indent", [None, 2])
def test_a_verbatim_source_stands_as_it_came_wherever_it_is(indent: int | None) -> None:
    source = '{ "b":1,"a" :2}'
    kept = Pairs((("b", Whole(1, None)), ("a", Whole(2, None))), (), source)
    chosen = settings(order=KeyOrder.SORTED, escape=(Escape.ASCII,), indent=indent)
    assert json_text(kept, chosen) == source
    within = json_text(Items((kept,), None), chosen)
    assert within == (f"[{source}]" if indent is None else f"[\n  {source}\n]")


def test_keys_are_sorted_by_code_point() -> None:
    value = from_json({"b": 1, "é": 2, "B": 3, "\U0001f600": 4, "\uffff": 5, "": 6}, ())
    text = json_text(value, settings(order=KeyOrder.SORTED))
    assert text == '{"": 6, "B": 3, "b": 1, "é": 2, "\uffff": 5, "\U0001f600": 4}'


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1.0"),
        (-0.0, "-0.0"),
        (1e16, "1e+16"),
        (123456789012345.6, "123456789012345.6"),
        (1e-7, "1e-07"),
        (10**20, "100000000000000000000"),
        ('a"\\\n\x00\x7f\u2028/', '"a\\"\\\\\\n\\u0000\x7f\u2028/"'),
    ],
)
def test_scalars(value: Json, text: str) -> None:
    assert json_text(from_json(value, ()), settings()) == text
