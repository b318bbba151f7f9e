"""Differences that do not show: each is named as what it is, at its place in the text and in the JSON around it."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from katapi.divergence.characters import look_alike, name, named
from katapi.divergence.difference import Kind
from katapi.divergence.json_values import json_difference, missing_items, spelling_difference
from katapi.divergence.raw_bytes import bytes_difference
from katapi.divergence.texts import parting, text_difference
from katapi.runtime.json_types import Json
from tests.examples import examples

TEXTS = [
    ("caf\u00e9 au", "cafe\u0301 au", Kind.COMPOSITION, 3, "\u00e9", "e\u0301"),
    ("x\ud55c", "x\u1112\u1161\u11ab", Kind.COMPOSITION, 1, "\ud55c", "\u1112\u1161\u11ab"),
    ("a\u0323\u0307", "a\u0307\u0323", Kind.COMPOSITION, 0, "a\u0323\u0307", "a\u0307\u0323"),
    ("\u212b", "\u00c5", Kind.COMPOSITION, 0, "\u212b", "\u00c5"),
    ("a\r\nb", "a\nb", Kind.LINE_END, 1, "\r\n", "\n"),
    ("a\r\nb", "a\rb", Kind.LINE_END, 1, "\r\n", "\r"),
    ("a\rb", "a\nb", Kind.LINE_END, 1, "\r", "\n"),
    ("ab", "a\u200bb", Kind.INVISIBLE, 1, "", "\u200b"),
    ("ab", "ab\ufeff", Kind.INVISIBLE, 2, "", "\ufeff"),
    ("a\u200cb", "a\u200db", Kind.INVISIBLE, 1, "\u200c", "\u200d"),
    ("\u2764", "\u2764\ufe0f", Kind.INVISIBLE, 1, "", "\ufe0f"),
    ("a b", "a\u00a0b", Kind.SPACE, 1, " ", "\u00a0"),
    ("a b", "a\u3000b", Kind.SPACE, 1, " ", "\u3000"),
    ("a\tb", "a b", Kind.SPACE, 1, "\t", " "),
    ("paypal", "p\u0430ypal", Kind.LOOK_ALIKE, 1, "a", "\u0430"),
    ("\u041e", "\u039f", Kind.LOOK_ALIKE, 0, "\u041e", "\u039f"),
    ("a - b", "a \u2013 b", Kind.LOOK_ALIKE, 2, "-", "\u2013"),
    ("it's", "it\u2019s", Kind.LOOK_ALIKE, 2, "'", "\u2019"),
    ("fi!", "\ufb01!", Kind.COMPATIBILITY, 0, "fi", "\ufb01"),
    ("x2", "x\u00b2", Kind.COMPATIBILITY, 1, "2", "\u00b2"),
    ("A", "\uff21", Kind.COMPATIBILITY, 0, "A", "\uff21"),
    ("a  b", "a b", Kind.WHITE_SPACE, 2, " ", ""),
    ("a", "a\n", Kind.WHITE_SPACE, 1, "", "\n"),
    ("a\ufffd", "a\u00ff", Kind.REPLACED, 1, "\ufffd", "\u00ff"),
    ("a\ufffd b", "a b", Kind.REPLACED, 1, "\ufffd", ""),
    ("a\ufffd\ufffd b", "a\u00c3\u00a9 b", Kind.REPLACED, 1, "\ufffd\ufffd", "\u00c3\u00a9"),
    ("cat", "cut", Kind.TEXT, 1, "a", "u"),
    ("cat", "ca", Kind.TEXT, 2, "t", ""),
    ("e\u0301", "e\u0300", Kind.TEXT, 1, "\u0301", "\u0300"),
    ("e", "e\u0301", Kind.TEXT, 1, "", "\u0301"),
    ("say yes", "say no, never", Kind.TEXT, 4, "yes", "no, ne"),
]


@pytest.mark.parametrize(("one", "other", "kind", "at", "first", "second"), TEXTS)
def test_a_difference_of_texts_is_named(one: str, other: str, kind: Kind, at: int, first: str, second: str) -> None:
    for turned in (False, True):
        a, b, parts = (other, one, (second, first)) if turned else (one, other, (first, second))
        found = text_difference(a, b)
        assert found is not None
        assert (found.kind, found.start) == (kind, at)
        assert (a[at : found.ends[0]], b[at : found.ends[1]]) == parts


ODD = st.text(st.sampled_from("ae\u0301\u00e9\r\n \u00a0\u200b\ufffdo\u043e-\u2013\ufb01fi\u1112\u1161"), max_size=9)


@examples(test=300, fuzz=20_000)
@given(ODD, ODD)
def test_what_is_named_differs_and_stands_behind_what_is_the_same(one: str, other: str) -> None:
    found = text_difference(one, other)
    assert (found is None) == (one == other)
    if found is None:
        return
    back = text_difference(other, one)
    assert back is not None
    assert (back.kind, back.start, back.ends[::-1]) == (found.kind, found.start, found.ends)
    first, second = one[found.start : found.ends[0]], other[found.start : found.ends[1]]
    assert one[: found.start] == other[: found.start]
    assert max(found.ends[0], found.ends[1]) > parting(one, other) - 1
    match found.kind:
        case Kind.COMPOSITION:
            assert unicodedata.normalize("NFC", first) == unicodedata.normalize("NFC", second) != ""
        case Kind.COMPATIBILITY:
            assert unicodedata.normalize("NFKC", first) == unicodedata.normalize("NFKC", second) != ""
        case Kind.LOOK_ALIKE:
            assert look_alike(first, second)
        case Kind.LINE_END:
            assert {first, second} < {"\r\n", "\r", "\n"}
        case _:
            assert first != second


@examples(test=200, fuzz=10_000)
@given(st.text("ab", max_size=40), st.text("ab", max_size=40))
def test_the_index_at_which_texts_part(one: str, other: str) -> None:
    at = parting(one, other)
    assert one[:at] == other[:at]
    assert one[at : at + 1] != other[at : at + 1] or one == other


def test_characters_by_their_names() -> None:
    assert name("\u00e9") == "U+00E9 LATIN SMALL LETTER E WITH ACUTE"
    assert name("\r") == "U+000D CARRIAGE RETURN"
    assert name("\U0010ffff") == "U+10FFFF"
    assert named("abc") == '"abc"'
    assert named("") == ""
    assert named(" ") == '" " U+0020 SPACE'
    assert named("e\u0301") == '"e\u0301" U+0065 LATIN SMALL LETTER E, U+0301 COMBINING ACUTE ACCENT'
    assert named("\u200b") == '"\\u200b" U+200B ZERO WIDTH SPACE'
    assert named("\n" * 9).endswith("U+000A LINE FEED, and 3 more")


VALUES: list[tuple[Json, Json, Kind, str]] = [
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}, Kind.KEY_ORDER, ""),
    ({"x": [{"a": 1, "b": 2}]}, {"x": [{"b": 2, "a": 1}]}, Kind.KEY_ORDER, "x[0]"),
    ({"a": 1, "b": 2}, {"b": 3, "a": 1}, Kind.VALUE, "b"),
    ({"a": 1}, {"a": 1.0}, Kind.NUMBER, "a"),
    ({"a": 1}, {"a": True}, Kind.VALUE, "a"),
    ({"a": 0.0}, {"a": -0.0}, Kind.NUMBER, "a"),
    ({"a": None}, {}, Kind.MISSING, "a"),
    ([1, 2, 3], [1, 3], Kind.MISSING, "[1]"),
    ([1], [1, 2, 3], Kind.MISSING, "[1]"),
    ([1, 2], [3, 2, 2], Kind.VALUE, "[0]"),
    ({"c": ["caf\u00e9"]}, {"c": ["cafe\u0301"]}, Kind.COMPOSITION, "c[0], character 3"),
    ({"role": "user"}, {"role": "system"}, Kind.VALUE, "role"),
    ({"a": "1"}, {"a": 1}, Kind.VALUE, "a"),
    (['{"a": 1, "b": 2}'], ['{"b": 2, "a": 1}'], Kind.KEY_ORDER, "[0], character 2, JSON"),
    (['[{"a": 1, "b": 2}]'], ['[{"b": 2, "a": 1}]'], Kind.KEY_ORDER, "[0], character 3, JSON [0]"),
    (['["\u00e9"]'], ['["\\u00e9"]'], Kind.ESCAPE, "[0], character 2"),
    (['{"a": 1}'], ['{"a": 1.0}'], Kind.NUMBER, "[0], character 7, JSON a"),
    (['{"a": 1}'], ['{"a": 2}'], Kind.TEXT, "[0], character 6"),
]


@pytest.mark.parametrize(("one", "other", "kind", "where"), VALUES)
def test_a_difference_of_values_has_a_path(one: Json, other: Json, kind: Kind, where: str) -> None:
    found, back = json_difference(one, other), json_difference(other, one)
    assert found is not None
    assert back is not None
    assert (found.kind, found.where) == (back.kind, back.where) == (kind, where)
    assert (found.first, found.second) == (back.second, back.first)


JSON = st.recursive(
    st.none() | st.booleans() | st.sampled_from([0, 1, 1.0, -0.0, "", "a", "b", "\u00e9", "e\u0301"]),
    lambda parts: st.lists(parts, max_size=3) | st.dictionaries(st.sampled_from("abc"), parts, max_size=3),
    max_leaves=9,
)


@examples(test=300, fuzz=20_000)
@given(JSON, JSON)
def test_values_are_the_same_where_they_are_spelled_so(one: Json, other: Json) -> None:
    found, back = json_difference(one, other), json_difference(other, one)
    assert (found is None) == (json.dumps(one) == json.dumps(other))
    if found is not None:
        assert back is not None
        assert (found.kind, found.where, found.first, found.second) == (back.kind, back.where, back.second, back.first)
        same = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
        assert (found.kind is Kind.KEY_ORDER) == same


SPELLINGS = [
    ('{"a": 1}', '{"a":1}', Kind.WHITE_SPACE, " ", ""),
    ('{"a":\r\n1}', '{"a":\n1}', Kind.LINE_END, "\r\n", "\n"),
    ('["\u00e9"]', '["\\u00e9"]', Kind.ESCAPE, "\u00e9", "\\u00e9"),
    ('["a/b"]', '["a\\/b"]', Kind.ESCAPE, "/", "\\/"),
    ('["a\U0001f600"]', '["a\\ud83d\\ude00"]', Kind.ESCAPE, "\U0001f600", "\\ud83d\\ude00"),
    ('["\\u0061\\u0062"]', '["\\u0061b"]', Kind.ESCAPE, "\\u0062", "b"),
    ("[1.0]", "[1e0]", Kind.NUMBER, "1.0", "1e0"),
    ('{ "a": 1e2}', '{"a":100.0}', Kind.NUMBER, "1e2", "100.0"),
]


@pytest.mark.parametrize(("one", "other", "kind", "first", "second"), SPELLINGS)
def test_spellings_of_the_same_json(one: str, other: str, kind: Kind, first: str, second: str) -> None:
    found = spelling_difference(one, other)
    assert found is not None
    (start, end), (second_start, second_end) = found.ranges
    assert (found.kind, one[start:end], other[second_start:second_end]) == (kind, first, second)


def test_the_offset_of_a_difference_is_in_bytes() -> None:
    one, other = '{"a": "天空 é"}'.encode(), '{"a": "天空 e\u0301"}'.encode()
    found = bytes_difference({}, {}, one, other)
    assert found is not None
    assert found.where == "byte 14, a, character 3"
    assert one[14:16] == "é".encode()


def test_white_space_in_a_text_has_its_offset_and_its_path() -> None:
    found = bytes_difference({}, {}, b'{"a": "b c"}', b'{"a": "b  c"}')
    assert found is not None
    assert (found.kind, found.where) == (Kind.WHITE_SPACE, "byte 9, a, character 2")


BYTES = [
    (b"caf\xe9 au", "café au".encode(), "E9", "C3 A9"),
    (b"caf\xe9 au", b"caf? au", "E9", "3F"),
    (b"caf\xe9 au", b"caf au", "E9", ""),
    (b"\xf0\x9f\x98 a", b"\xef\xbf\xbd a", "F0 9F 98", "EF BF BD"),
    (b"\xf0\x9f\x98 a", b"\xf0\x9f\x98\x80 a", "F0 9F 98", "F0 9F 98 80"),
]


@pytest.mark.parametrize(("one", "other", "first", "second"), BYTES)
def test_what_stands_in_the_place_of_bytes_that_are_no_text(one: bytes, other: bytes, first: str, second: str) -> None:
    found, back = bytes_difference({}, {}, one, other), bytes_difference({}, {}, other, one)
    assert found is not None
    assert back is not None
    assert (found.kind, found.first, found.second) == (Kind.REPLACED, first, second)
    assert (back.kind, back.first, back.second) == (Kind.REPLACED, second, first)


@pytest.mark.parametrize("depth", [100, 250, 300, 480, 520, 900, 100_000])
@pytest.mark.parametrize("brackets", [("[", "]"), ('{"a": ', "}")])
def test_a_difference_below_any_number_of_brackets_is_named(depth: int, brackets: tuple[str, str]) -> None:
    one, other = (brackets[0] * depth + leaf + brackets[1] * depth for leaf in ('{"a": 1, "b": 2}', '{"b": 2, "a": 1}'))
    kinds = {Kind.KEY_ORDER, Kind.TEXT} if depth > 200 else {Kind.KEY_ORDER}
    raw = bytes_difference({}, {}, one.encode(), other.encode())
    inner = json_difference([one], [other])
    for found in (raw, inner):
        assert found is not None
        assert found.kind in kinds


@pytest.mark.parametrize(("one", "other"), [("[NaN, 1]", "[NaN, 2]"), ("[1e999]", "[1e998]"), ('["\\ud800"]', "[1]")])
def test_a_text_that_only_some_read_as_json_is_compared_as_a_text(one: str, other: str) -> None:
    found = json_difference([one], [other])
    assert found is not None
    assert found.kind is Kind.TEXT


def test_the_items_that_one_lacks() -> None:
    assert missing_items("abcd", "acd") == (1, 2)
    assert missing_items("acd", "abcd") == (1, 2)
    assert missing_items("abcd", "ab") == (2, 4)
    assert missing_items("abcd", "abed") == (0, 0)
    assert missing_items("abcd", "xy") == (0, 0)


@pytest.mark.parametrize(
    ("one", "other", "where"),
    [
        (b'{"m": [{"r": "user"}], "g": true}', b'{"m": [{"r": "wizard"}]}', "g"),
        (b'{"m": 1, "g": true}', b'{"m": 1}', "byte 7, g"),
        (b'{"m": [1, 2]}', b'{"m": [1]}', "byte 8, m[1]"),
    ],
)
def test_a_byte_is_named_only_where_it_is_of_what_is_missing(one: bytes, other: bytes, where: str) -> None:
    found = bytes_difference({}, {}, one, other)
    assert found is not None
    assert (found.kind, found.where) == (Kind.MISSING, where)
    assert (found.excerpts is None) is (where == "g")
