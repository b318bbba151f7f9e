"""The notation of Python against Python itself, by the Unicode data of the Python that runs."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from katapi.emit.renderer import serialization_source
from katapi.language.source import Span
from katapi.model import declarations as d
from katapi.oracle.serialize import json_text
from katapi.oracle.values import from_json
from katapi.runtime.arguments import JsonText
from katapi.runtime.errors import TemplateError
from katapi.runtime.json_types import Json
from katapi.runtime.python_notation import PythonNotation, python_text
from katapi.runtime.unicode import ALL_VERSIONS
from tests.serialization.test_standards import HUGE, WITH_NAN

RUNNING = ".".join(unicodedata.unidata_version.split(".")[:2])
known_unicode = pytest.mark.skipif(RUNNING not in ALL_VERSIONS, reason=f"Python runs with Unicode {RUNNING}")

ODD = "a'\"\\\n\t\r\x00\x7f\x85\xa0\xad é\u0378\u2028\ue000天\U0001f600\U000e0001"
TEXTS = st.text() | st.text(st.sampled_from(ODD))


def notation(unicode: str = RUNNING, order: d.KeyOrder = d.KeyOrder.AS_RECEIVED) -> d.Serialization:
    return d.Serialization(
        d.Identity("s", "1"),
        order,
        ", ",
        ": ",
        None,
        (),
        d.Floats.PYTHON,
        d.Integers.EXACT,
        d.Nan.REJECT,
        d.AbsentPairs.OMITTED,
        None,
        Span(0, 0),
        unicode,
    )


def written(settings: d.Serialization) -> PythonNotation:
    """The serialization as it is emitted."""
    names: dict[str, object] = {"PythonNotation": PythonNotation}
    exec(serialization_source(settings), names)
    made = names["S"]
    assert isinstance(made, PythonNotation)
    return made


@known_unicode
@given(WITH_NAN)
def test_it_is_what_python_writes(value: Json) -> None:
    assert written(notation()).dump(value) == (repr(value) if isinstance(value, str) else str(value))


@known_unicode
@given(TEXTS)
def test_a_text_is_its_repr(text: str) -> None:
    assert python_text(text, RUNNING) == repr(text)


@known_unicode
@pytest.mark.parametrize("plane", range(17))
def test_each_character_is_escaped_or_not(plane: int) -> None:
    for first in range(plane * 0x10000, (plane + 1) * 0x10000, 0x1000):
        text = "".join(map(chr, range(first, first + 0x1000)))
        assert python_text(text, RUNNING) == repr(text)


@pytest.mark.parametrize(
    ("character", "version", "expected"),
    [
        ("\U0001fae0", "13.0", "'\\U0001fae0'"),
        ("\U0001fae0", "14.0", "'\U0001fae0'"),
        ("\u0378", "17.0", "'\\u0378'"),
        ("\xad", "8.0", "'\\xad'"),
    ],
)
def test_what_is_printable_depends_on_the_version(character: str, version: str, expected: str) -> None:
    assert written(notation(version)).dump(character) == expected


@given(WITH_NAN, st.sampled_from(ALL_VERSIONS), st.sampled_from(d.KeyOrder))
def test_the_oracle_writes_the_same(value: Json, version: str, order: d.KeyOrder) -> None:
    settings = notation(version, order)
    assert written(settings).dump(value) == json_text(from_json(value, ()), settings)


@known_unicode
@given(WITH_NAN)
def test_a_value_that_was_met_before_is_written_alike(value: Json) -> None:
    python = written(notation())
    assert python.dump_known(value) == python.dump_known(value) == python.dump(value)


def test_what_arrived_as_text_is_written_as_the_object_in_it() -> None:
    arguments = JsonText({"a": True}, '{"a":true}')
    assert written(notation()).dump({"x": arguments}) == "{'x': {'a': True}}"


@given(HUGE)
def test_an_integer_that_python_does_not_print_is_an_error_with_its_place(number: int) -> None:
    python = written(notation())
    assert python.dump([number]) == f"[{number}]"
    with pytest.raises(TemplateError) as caught:
        python.dump({"a": [10**4300]})
    assert (caught.value.code, caught.value.where) == ("T141", "a[0]")
    with pytest.raises(TemplateError) as caught:
        python.dump([{1, 2}])  # type: ignore[list-item]  # no JSON value
    assert (caught.value.code, caught.value.where) == ("T141", "[0]")
