"""The serializations of `spec/serializations.kata` against the libraries that they are named for."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st
from jinja2.utils import htmlsafe_json_dumps

from katapi.emit.renderer import serialization_source
from katapi.language.source import Span
from katapi.model import declarations as d
from katapi.oracle.serialize import json_text
from katapi.oracle.values import from_json
from katapi.runtime.errors import TemplateError
from katapi.runtime.json_types import Json
from katapi.runtime.serialization import Serialization
from tests.specs import pass_project

NODE = shutil.which("node")

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(
    ["\x00\x1f\x7f\x80\x9f\xa0", '"\\/\b\f\n\r\t', "\u2028\u2029", "天空", "😀", "</a>&'", "\uffff", "\ue000"]
)
KEYS = TEXTS | st.sampled_from(
    ["0", "1", "10", "2", "02", "-1", "1.5", "4294967294", "4294967295", "9007199254740993", "٣", "__proto__", "é", "z"]
)
EDGES = [1.0, 1e15, 1e16, 123456789012345680000.0, 1e20, 1e21, 1.5e21, 1e-4, 1e-5, 1.25e-5, 1e-6, 1e-7, -1.5e-7, -0.0]
FLOATS = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([*EDGES, 5e-324, 1.7976931348623157e308])
INTEGERS = st.integers() | st.sampled_from(
    [s * (2**p + d) for s in (1, -1) for p in (53, 54, 63, 64, 70) for d in (-1, 0, 1)]
)
HUGE = st.sampled_from([10**308, 10**309, -(10**400), 2**1024 - 2**970, 2**1024 - 2**970 - 1])


def values(scalars: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    """JSON with some scalars in it."""
    return st.recursive(
        st.none() | st.booleans() | TEXTS | scalars,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5),
        max_leaves=16,
    )


VALUES = values(FLOATS | INTEGERS)
WITH_NAN = values(st.floats() | st.sampled_from([float("nan"), float("inf"), float("-inf")]) | INTEGERS)
WITH_ALL = values(st.floats() | INTEGERS | HUGE)


def declared(name: str) -> Serialization:
    """A serialization of the spec, as the generated renderer has it."""
    pass_project()
    found = vars(import_module("pass_models.serializations.renderer"))[name.upper()]
    assert isinstance(found, Serialization)
    return found


@given(WITH_NAN)
def test_python_json_is_json_dumps(value: Json) -> None:
    assert declared("json_dumps").dump(value) == json.dumps(value)


@given(WITH_NAN)
def test_tojson_is_the_filter_of_transformers(value: Json) -> None:
    """Which hands its arguments to `json.dumps`, but for `ensure_ascii`, which it sets to False."""
    assert declared("tojson").dump(value) == json.dumps(value, ensure_ascii=False)
    assert declared("tojson_indented").dump(value) == json.dumps(value, ensure_ascii=False, indent=4)


@given(WITH_NAN)
def test_jinja_is_the_filter_of_jinja(value: Json) -> None:
    assert declared("jinja_tojson").dump(value) == str(htmlsafe_json_dumps(value, sort_keys=True))


@given(WITH_NAN)
def test_rfc8785_is_the_library(value: Json) -> None:
    expected = outcome(lambda: rfc8785.dumps(value).decode())
    # Which of several numbers is refused first depends on the order of the keys.
    found = outcome(lambda: declared("rfc8785").dump(value))
    assert found == expected or {type(found), type(expected)} == {tuple}


def outcome(dump: Callable[[], str]) -> str | tuple[str, str]:
    """The text, or the code and the place of an error; those of a library are empty."""
    try:
        return str(dump())
    except TemplateError as error:
        return error.code, error.where
    except rfc8785.CanonicalizationError:
        return "", ""


@pytest.fixture(scope="module")
def stringify() -> Iterator[Callable[[str, int], str]]:
    """`JSON.stringify` of a JSON text as a JavaScript engine reads it, with an indent."""
    if NODE is None:
        pytest.skip("there is no `node` on this machine")
    program = (
        "require('readline').createInterface({input: process.stdin}).on('line', line => {"
        "  const [text, indent] = JSON.parse(line);"
        "  console.log(JSON.stringify(JSON.stringify(JSON.parse(text), null, indent)));"
        "});"
    )
    pipe = subprocess.PIPE
    with subprocess.Popen([NODE, "-e", program], stdin=pipe, stdout=pipe, text=True, encoding="utf-8") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        requests, answers = process.stdin, process.stdout

        def ask(text: str, indent: int) -> str:
            requests.write(json.dumps([text, indent]) + "\n")
            requests.flush()
            answer = json.loads(answers.readline())
            assert isinstance(answer, str)
            return answer

        yield ask
        requests.close()


@given(value=values(FLOATS | INTEGERS | HUGE))
def test_javascript_is_json_stringify(stringify: Callable[[str, int], str], value: Json) -> None:
    text = json.dumps(value)
    assert declared("json_stringify").dump(value) == stringify(text, 0)
    assert declared("json_stringify_indented").dump(value) == stringify(text, 2)


SETTINGS = st.builds(
    d.Serialization,
    st.just(d.Identity("s", "1")),
    st.sampled_from(d.KeyOrder),
    st.sampled_from([",", ", ", " ,\n"]),
    st.sampled_from([":", ": "]),
    st.none() | st.builds(d.Indent, st.integers(0, 3), st.sampled_from(d.LineEnd)),
    st.sets(st.sampled_from(d.Escape)).map(tuple),
    st.sampled_from(d.Floats),
    st.sampled_from(d.Integers),
    st.sampled_from(d.Nan),
    st.sampled_from(d.AbsentPairs),
    st.none(),
    st.just(Span(0, 0)),
)


def agree(settings: d.Serialization, value: Json) -> None:
    names: dict[str, object] = {"Serialization": Serialization}
    exec(serialization_source(settings), names)
    written = names["S"]
    assert isinstance(written, Serialization)
    assert outcome(lambda: written.dump(value)) == outcome(lambda: json_text(from_json(value, ()), settings))


@given(SETTINGS, WITH_ALL)
def test_under_any_settings_the_oracle_writes_the_same(settings: d.Serialization, value: Json) -> None:
    agree(settings, value)


PYTHON = d.Serialization(
    d.Identity("s", "1"),
    d.KeyOrder.AS_RECEIVED,
    ", ",
    ": ",
    d.Indent(2, d.LineEnd.LF),
    (),
    d.Floats.PYTHON,
    d.Integers.EXACT,
    d.Nan.PYTHON,
    d.AbsentPairs.OMITTED,
    None,
    Span(0, 0),
)
ONE_OTHER = [
    *(replace(PYTHON, order=order) for order in d.KeyOrder),
    *(replace(PYTHON, indent=indent) for indent in (None, d.Indent(0, d.LineEnd.LF), d.Indent(2, d.LineEnd.CRLF))),
    *(replace(PYTHON, escape=(escape,)) for escape in d.Escape),
    *(replace(PYTHON, floats=floats) for floats in d.Floats),
    *(replace(PYTHON, integers=integers) for integers in d.Integers),
    *(replace(PYTHON, nan=nan) for nan in d.Nan),
]


@pytest.mark.parametrize("settings", ONE_OTHER)
@pytest.mark.parametrize("number", [1.0, -0.0, 1e-7, 2**53 + 1, 10**400, float("nan"), float("-inf")])
def test_where_one_setting_is_not_that_of_python_the_oracle_writes_the_same(
    settings: d.Serialization, number: float
) -> None:
    agree(settings, {"\uffff": [1, {"x": number}], "\U0001f600": {}, "10": "</\x7f\x80\u2028'&é>", "9": []})


FACTS: list[tuple[str, Json, str]] = [
    # What node 20 answers.
    ("json_stringify", 1.0, "1"),
    ("json_stringify", -0.0, "0"),
    ("json_stringify", 1e20, "100000000000000000000"),
    ("json_stringify", 123456789012345680000.0, "123456789012345680000"),
    ("json_stringify", 1e21, "1e+21"),
    ("json_stringify", 1.5e300, "1.5e+300"),
    ("json_stringify", 1e-6, "0.000001"),
    ("json_stringify", -1.5e-6, "-0.0000015"),
    ("json_stringify", 1e-7, "1e-7"),
    ("json_stringify", 5e-324, "5e-324"),
    ("json_stringify", 2**53 + 1, "9007199254740992"),
    ("json_stringify", 2**64, "18446744073709552000"),
    ("json_stringify", -(10**21), "-1e+21"),
    ("json_stringify", 10**400, "null"),
    ("json_stringify", float("nan"), "null"),
    ("json_stringify", float("-inf"), "null"),
    ("json_stringify", "\x7f\u2028/<😀", '"\x7f\u2028/<😀"'),
    ("json_stringify", {"b": 1, "10": 2, "9": 3, "a": 4, "01": 5}, '{"9":3,"10":2,"b":1,"a":4,"01":5}'),
    ("json_stringify", {"4294967295": 1, "4294967294": 2}, '{"4294967294":2,"4294967295":1}'),
    ("json_stringify_indented", {"a": [1, {}], "b": []}, '{\n  "a": [\n    1,\n    {}\n  ],\n  "b": []\n}'),
    # The example of section 3.2.3 of RFC 8785.
    (
        "rfc8785",
        {"\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\U0001f600": 5, "\x80": 6, "\xf6": 7},
        '{"\\r":2,"1":4,"\x80":6,"\xf6":7,"\u20ac":1,"\U0001f600":5,"\ufb33":3}',
    ),
    (
        "json_dumps",
        [1.0, 1e20, 1e-7, -0.0, 2**64, float("inf")],
        "[1.0, 1e+20, 1e-07, -0.0, 18446744073709551616, Infinity]",
    ),
    ("json_dumps", "é\x7f😀/", '"\\u00e9\\u007f\\ud83d\\ude00/"'),
    ("tojson", "é\x7f😀</", '"é\x7f😀</"'),
    ("jinja_tojson", {"b": "<'&'>", "a": "/"}, '{"a": "/", "b": "\\u003c\\u0027\\u0026\\u0027\\u003e"}'),
    (
        "windows",
        {"b": "</a>", "a": ["\x7f\u2029é", 1e-7, 2**60 + 1, 2**53]},
        (
            "{\r\n"
            ' "b":"\\u003c\\/a\\u003e",\r\n'
            ' "a":[\r\n'
            '  "\\u007f\\u2029é",\r\n'
            "  1e-07,\r\n"
            "  1.152921504606847e+18,\r\n"
            "  9007199254740992\r\n"
            " ]\r\n"
            "}"
        ),
    ),
]


@pytest.mark.parametrize(("name", "value", "text"), FACTS)
def test_a_known_value_is_written_so(name: str, value: Json, text: str) -> None:
    assert declared(name).dump(value) == text


@pytest.mark.parametrize(
    ("name", "value", "code", "where"),
    [
        ("rfc8785", {"a": [0, 2**53]}, "T143", "a[1]"),
        ("rfc8785", [-(2**53)], "T143", "[0]"),
        ("rfc8785", float("nan"), "T140", ""),
        ("windows", [10**400], "T140", "[0]"),
        ("json_dumps", 10**5000, "T141", ""),
    ],
    ids=["unsafe", "unsafe-negative", "nan", "rounded-to-infinity", "long"],
)
def test_a_number_that_the_settings_refuse_is_a_typed_error(name: str, value: Json, code: str, where: str) -> None:
    with pytest.raises(TemplateError) as caught:
        declared(name).dump(value)
    assert (caught.value.code, caught.value.where) == (code, where)
    assert not re.search(r"\d{400}", caught.value.message)


def test_integers_at_the_edge_of_what_is_safe_are_written() -> None:
    assert declared("rfc8785").dump([2**53 - 1, -(2**53) + 1]) == "[9007199254740991,-9007199254740991]"
