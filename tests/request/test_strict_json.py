"""Bytes to JSON: what is refused, where the error points, and that what passes is what the standard library reads."""

from __future__ import annotations

import json
import math
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from katapi.runtime.errors import RequestError
from katapi.runtime.json_faults import first_fault
from katapi.runtime.json_types import Json
from katapi.runtime.strict_json import MAX_DEPTH, MAX_SUBSTITUTIONS, Substitution, decode_json

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
VALUES: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


def read(raw: bytes, max_depth: int = MAX_DEPTH) -> Json:
    return decode_json(raw, invalid_utf8="strict", max_depth=max_depth).value


def refused(raw: bytes, max_depth: int = MAX_DEPTH) -> RequestError:
    with pytest.raises(RequestError) as caught:
        read(raw, max_depth)
    return caught.value


FAULTS = [
    (b"", "R100", "1:1"),
    (b" \n ", "R100", "2:2"),
    (b'{"content":"\xff"}', "R101", "byte 12"),
    (b'{"content":"\xe5\xa4\xa9\xe7\xa9"}', "R101", "byte 15"),
    (b'"\xed\xa0\x80"', "R101", "byte 1"),
    (b"\xff\xfe{\x00}\x00", "R101", "byte 0"),
    (b"\xef\xbb\xbf{}", "R102", "byte 0"),
    (b"nonsense", "R103", "1:1"),
    (b'{"a": 1,\n "b" 2}', "R103", "2:6"),
    (b'{"\xe5\xa4\xa9": ?}', "R103", "1:7"),
    (b"{} {}", "R103", "1:4"),
    (b"[1, 2", "R103", "1:6"),
    (b"[1, 2,]", "R103", "1:6"),
    (b"[,1]", "R103", "1:2"),
    (b"[1,,2]", "R103", "1:4"),
    (b'{"a":1,}', "R103", "1:7"),
    (b'{,"a":1}', "R103", "1:2"),
    (b"{1:2}", "R103", "1:2"),
    (b'{"a":}', "R103", "1:6"),
    (b'{"a', "R103", "1:2"),
    (b'["a', "R103", "1:2"),
    (b'["\\x"]', "R103", "1:3"),
    (b'["\\u12g4"]', "R103", "1:3"),
    (b'["a\nb"]', "R103", "1:4"),
    (b"[01]", "R103", "1:3"),
    (b"[1.]", "R103", "1:3"),
    (b"[-]", "R103", "1:2"),
    (b"[True]", "R103", "1:2"),
    (b"{'a': 1}", "R103", "1:2"),
    (b"[1] // note", "R103", "1:5"),
    (b"[\xc2\xa01]", "R103", "1:2"),
    (b'{"messages":[{"role":"user","role":"system"}]}', "R104", "messages[0].role"),
    (b'{"a":1,"\\u0061":2}', "R104", "a"),
    (b'{"a b":[1,NaN]}', "R105", '["a b"][1]'),
    (b'{"x":Infinity}', "R105", "x"),
    (b'{"x":-Infinity}', "R105", "x"),
    (b"NaN", "R105", "1:1"),
    (b'{"x":1e400}', "R106", "x"),
    (b'{"x":[-1.5E+309]}', "R106", "x[0]"),
    (b'{"x":' + b"9" * 4301 + b"}", "R107", "x"),
    (b'[{"x":"\\ud800"}]', "R108", "[0].x"),
    (b'[{"x":"\\udc00\\ud800"}]', "R108", "[0].x"),
    (b'[{"x":"\\ud83d\\\\\\ude00"}]', "R108", "[0].x"),
    (b'{"\\udfff":1}', "R108", '["\\udfff"]'),
    (b"[" * 129, "R109", "1:129"),
    (b"[\n" * 200 + b"]" * 200, "R109", "129:1"),
    (b'["\\"",' + b"[" * 200 + b"]" * 201, "R109", "1:134"),
    (b'["\\\\",' + b"[" * 200 + b"]" * 201, "R109", "1:134"),
]


@pytest.mark.parametrize(("raw", "code", "where"), FAULTS, ids=[repr(raw[:30]) for raw, _, _ in FAULTS])
def test_each_fault_has_its_code_and_its_place(raw: bytes, code: str, where: str) -> None:
    error = refused(raw)
    assert (error.code, error.where) == (code, where)


def test_the_second_of_two_equal_keys_is_the_fault() -> None:
    fault = first_fault('{"a": 1,\n   "a": 2}', max_depth=9)
    assert fault is not None
    assert (fault.line, fault.column) == (2, 4)


def test_the_first_of_several_faults_is_told() -> None:
    assert refused(b'{"a": NaN, "b": 1e999, "b": oops').where == "a"


@pytest.mark.parametrize(
    "raw",
    [
        b'{"b": 1, "a": {"b": 2}}',
        b" [ ] \r\n\t",
        '"天\\n\\u5929\\ud83d\\ude00😀\\/"'.encode(),
        b'"\\\\ud800 is six characters after a backslash"',
        b"[" * 128 + b"]" * 128,
        b'"' + b"[" * 1000 + b'"',
        b'["' + b'\\"[' * 1000 + b'"]',
        b"[" + b"[],{}," * 1000 + b"null]",
        b"[-" + b"9" * 4300 + b"]",
        b"[1e-400, 1.7976931348623157e308, 123456789012345678901234567890]",
    ],
    ids=lambda raw: repr(raw[:30]),
)
def test_what_passes_is_what_the_standard_library_reads(raw: bytes) -> None:
    assert read(raw) == json.loads(raw)


def test_minus_zero_is_an_integer_and_minus_zero_point_zero_a_float() -> None:
    value = read(b"[-0, -0.0]")
    assert isinstance(value, list)
    assert isinstance(value[0], int)
    assert math.copysign(1.0, value[1]) == -1.0


def test_keys_keep_their_order() -> None:
    value = read(b'{"b":1,"a":2,"c":3}')
    assert isinstance(value, dict)
    assert list(value) == ["b", "a", "c"]


@given(VALUES, st.booleans(), st.sampled_from([None, 1]))
def test_every_json_value_survives(value: Json, ascii_only: bool, indent: int | None) -> None:
    assert read(json.dumps(value, ensure_ascii=ascii_only, indent=indent).encode()) == value


@given(
    VALUES, st.integers(0, 60), st.integers(0, 2), st.sampled_from('"\\[]{},:0-.eE tN\x00\n/uD8') | st.text(max_size=1)
)
def test_fast_and_slow_reader_agree(value: Json, at: int, removed: int, inserted: str) -> None:
    whole = json.dumps(value)
    text = whole[:at] + inserted + whole[at + removed :]
    try:
        read(text.encode(), max_depth=3)
        accepted = True
    except RequestError:
        accepted = False
    assert accepted == (first_fault(text, max_depth=3) is None)


@given(st.binary(max_size=40) | st.text('[]{}",:\\u dD8cC0\n1.eE-+NaInfity', max_size=24).map(str.encode))
def test_nothing_but_a_request_error_on_two_lines_comes_out(raw: bytes) -> None:
    try:
        value = read(raw)
    except RequestError as error:
        lines = str(error).split("\n")
        assert len(lines) <= 2
        assert all(line.isprintable() for line in lines)
    else:
        assert value == json.loads(raw)


@pytest.mark.parametrize("unit", [b"[", b'{"a":', b'[{"a":'])
def test_ten_megabytes_of_brackets_are_refused_at_once(unit: bytes) -> None:
    raw = unit * (10_000_000 // len(unit))
    start = time.process_time()
    assert refused(raw).code == "R109"
    assert time.process_time() - start < 5  # a tenth of that on a slow machine


def test_depth_beyond_what_python_reads_is_no_recursion_error() -> None:
    assert refused(b"[" * 500_000 + b"]" * 500_000, max_depth=1_000_000).code == "R109"


def test_a_lower_limit_of_the_process_on_digits_is_no_value_error() -> None:
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    try:
        assert refused(b'{"n":' + b"7" * 1000 + b"}").where == "n"
    finally:
        sys.set_int_max_str_digits(limit)


def test_a_higher_limit_of_the_process_changes_nothing() -> None:
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        assert refused(b'{"n":' + b"7" * 5000 + b"}").code == "R107"
    finally:
        sys.set_int_max_str_digits(limit)


def test_replaced_bytes_are_listed_by_place() -> None:
    decoded = decode_json(b'["\xff\xc0 \xef\xbf\xbd\xe5\xa4", 1]', invalid_utf8="replace", max_depth=9)
    assert decoded.value == ["�� ��", 1]
    assert decoded.substitutions == (
        Substitution("request", "bytes 2 to 3", "invalid UTF-8 replaced by 2 × U+FFFD"),
        Substitution("request", "bytes 8 to 9", "invalid UTF-8 replaced by 1 × U+FFFD"),
    )


@given(st.lists(st.sampled_from([b"a", "天".encode(), "�".encode(), b"\xff", b"\xe5\xa4", b"\xf0\x9f", b"\x80"])))
def test_replaced_bytes_are_those_that_strict_decoding_refuses(pieces: list[bytes]) -> None:
    raw = b'"' + b"".join(pieces) + b'"'
    decoded = decode_json(raw, invalid_utf8="replace", max_depth=1)
    kept = bytearray(raw)
    for entry in reversed(decoded.substitutions):
        first, _, last = entry.where.removeprefix("bytes ").removeprefix("byte ").partition(" to ")
        del kept[int(first) : int(last or first) + 1]
    kept.decode("utf-8")
    assert decoded.value == raw.decode("utf-8", "replace")[1:-1]


def test_the_list_of_replaced_bytes_is_bounded_and_its_last_entry_counts_the_rest() -> None:
    decoded = decode_json(b'"' + b"\xff\xef\xbf\xbd" * 5000 + b'"', invalid_utf8="replace", max_depth=1)
    *listed, rest = decoded.substitutions
    assert len(listed) == MAX_SUBSTITUTIONS
    assert rest.where == f"from byte {1 + 4 * MAX_SUBSTITUTIONS} on"
    assert rest.what == f"invalid UTF-8 replaced by {5000 - MAX_SUBSTITUTIONS} × U+FFFD"
