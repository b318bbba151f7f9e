"""JSON text under each declared choice, against the standard library with the same choices."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from katapi.runtime.arguments import JsonText
from katapi.runtime.errors import TemplateError
from katapi.runtime.json_types import Json
from katapi.runtime.read_objects import ReadObject
from katapi.runtime.serialization import Escape, Order, Printable, Serialization

ASCII: tuple[Escape, ...] = ("ascii",)


def serialization(
    order: Order = "as_received",
    separators: tuple[str, str] = (", ", ": "),
    indent: int | None = None,
    escape: tuple[Escape, ...] = (),
) -> Serialization:
    return Serialization(
        order=order,
        item_separator=separators[0],
        key_separator=separators[1],
        indent=None if indent is None else (indent, "lf"),
        escape=escape,
        floats="python",
        integers="exact",
        nan="reject",
        absent="omitted",
    )


ORDERS: tuple[Order, ...] = ("as_received", "sorted")
ALL = [
    serialization(order, separators, indent, escape)
    for order, separators, indent, escape in itertools.product(
        ORDERS, [(", ", ": "), (",", ":"), (" ,", " : ")], [None, 0, 2, 4], [(), ASCII]
    )
]
PLAIN = serialization()


def expected(value: object, choices: Serialization) -> str:
    return json.dumps(
        value,
        ensure_ascii=choices.escape == ASCII,
        indent=None if choices.indent is None else choices.indent[0],
        separators=(choices.item_separator, choices.key_separator),
        sort_keys=choices.order == "sorted",
    )


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(
    ["\x00\x1f\x7f\x80", '"\\/\b\f\n\r\t', "\u2028\u2029", "天空", "😀", "</tool>", "<|im_end|>"]
)
NUMBERS = (
    st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([1.0, 1e20, 1e16, 1e-7, -0.0])
)
VALUES: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=16,
)


@given(VALUES, st.sampled_from(ALL))
def test_a_value_is_printed_as_the_standard_library_prints_it(value: Json, choices: Serialization) -> None:
    assert choices.dump(value) == expected(value, choices)


@given(VALUES, VALUES, st.sampled_from(ALL))
def test_around_a_source_the_text_is_the_same(first: Json, last: Json, choices: Serialization) -> None:
    """Everything but the source: the path that prints sources writes what the encoder writes."""
    mark = "a source that stands nowhere else"
    text = expected({"first": first, "at": [mark, {}], "last": last}, choices)
    value: Printable = {"first": first, "at": [JsonText({}, mark), {}], "last": last}
    assert choices.dump(value) == text.replace(json.dumps(mark), mark)


@given(VALUES, st.sampled_from(ALL))
def test_read_only_containers_print_like_plain_ones(value: Json, choices: Serialization) -> None:
    assert choices.dump(read_only(value)) == expected(value, choices)


def read_only(value: Json) -> Json:
    if isinstance(value, str) or value is None:
        return value
    if isinstance(value, Mapping):
        return MappingProxyType({key: read_only(member) for key, member in value.items()})
    if isinstance(value, Sequence):
        return tuple(read_only(element) for element in value)
    return value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1.0"),
        (1e20, "1e+20"),
        (1e16, "1e+16"),
        (1e15, "1000000000000000.0"),
        (1e-7, "1e-07"),
        (-0.0, "-0.0"),
        (2**80, "1208925819614629174706176"),
        (True, "true"),
        (None, "null"),
        ("a/b", '"a/b"'),
        ("天\u2028", '"天\u2028"'),
        ("\x1f\x7f", '"\\u001f\x7f"'),
        ([], "[]"),
        ({}, "{}"),
    ],
)
def test_single_values_are_spelled_so(value: Json, text: str) -> None:
    assert PLAIN.dump(value) == text


def test_escape_ascii_spells_a_character_beyond_the_first_plane_as_two_escapes() -> None:
    assert serialization(escape=ASCII).dump("😀") == '"\\ud83d\\ude00"'


def test_keys_are_sorted_by_code_point_at_every_level() -> None:
    value: Json = {"é": 1, "z": {"b": 1, "B": 2}, "Z": 3}
    assert serialization(order="sorted").dump(value) == '{"Z": 3, "z": {"B": 2, "b": 1}, "é": 1}'


def test_a_source_is_printed_whatever_the_choices_are() -> None:
    source = '{ "b":1,\n"a" : 1.50 }'
    for choices in ALL:
        assert choices.dump(JsonText({"b": 1, "a": 1.5}, source)) == source


def test_an_object_without_source_is_printed_by_the_choices() -> None:
    value: Printable = {"name": "f", "arguments": JsonText({"b": 1, "a": [2]})}
    assert serialization("sorted", (",", ":")).dump(value) == '{"arguments":{"a":[2],"b":1},"name":"f"}'


def test_a_source_within_indented_text_keeps_its_own_lines() -> None:
    value: Printable = [JsonText({"a": 1}, '{"a":\n1}'), JsonText({"a": 1})]
    assert serialization(indent=2).dump(value) == '[\n  {"a":\n1}, \n  {\n    "a": 1\n  }\n]'


LOOP: list[Json] = []
LOOP.append(LOOP)


@pytest.mark.parametrize("choices", [PLAIN, serialization(indent=2)], ids=["line", "indented"])
@pytest.mark.parametrize(
    ("value", "code", "where"),
    [
        (float("nan"), "T140", ""),
        ({"a": [0, float("inf")]}, "T140", "a[1]"),
        ({"a": JsonText({"x": float("-inf")})}, "T140", "a.x"),
        ([JsonText({}, "{}"), float("nan")], "T140", "[1]"),
        ({"a": {1, 2}}, "T141", "a"),
        ({"a": b"bytes"}, "T141", "a"),
        ([JsonText({}, "{}"), b"bytes"], "T141", "[1]"),
        ([JsonText({"a": float("nan")}, "{}"), float("nan")], "T140", "[1]"),
        ([10**5000], "T141", "[0]"),
        (LOOP, "T142", ""),
    ],
    ids=[
        "nan",
        "inf",
        "inf-in-object",
        "nan-beside-source",
        "set",
        "bytes",
        "bytes-beside-source",
        "nan-under-source",
        "long",
        "loop",
    ],
)
def test_what_json_lacks_is_a_typed_error(choices: Serialization, value: Printable, code: str, where: str) -> None:
    with pytest.raises(TemplateError) as caught:
        choices.dump(value)
    assert (caught.value.code, caught.value.where) == (code, where)


def test_equal_choices_are_equal() -> None:
    assert serialization(indent=2) == serialization(indent=2)
    assert serialization(indent=2) != serialization(indent=4)


@given(VALUES, st.sampled_from(ALL))
def test_what_is_remembered_is_what_would_be_written(value: Json, choices: Serialization) -> None:
    assert choices.dump_known(value) == choices.dump(value)
    assert choices.dump_known(value) == choices.dump(value)


@given(st.dictionaries(st.text(max_size=3), VALUES, max_size=3), st.sampled_from(ALL), st.sampled_from([None, 1]))
def test_what_is_remembered_by_its_text_is_what_would_be_written(
    value: dict[str, Json], choices: Serialization, indent: int | None
) -> None:
    read = ReadObject(value)
    read.source = json.dumps(value, indent=indent)
    assert choices.dump_known(read) == choices.dump(value)
    assert choices.dump_known(read) == choices.dump(value)


def test_memory_tells_apart_what_is_written_differently() -> None:
    values: list[Json] = [1, 1.0, True, "1", [1], {"1": 1}, 0.0, -0.0, {"a": 1, "b": 2}, {"b": 2, "a": 1}, None, ""]
    for _ in range(2):
        assert [PLAIN.dump_known(v) for v in values] == [PLAIN.dump(v) for v in values]
