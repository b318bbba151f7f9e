"""JSON values and dates as fields: nothing coerced, nothing shared with the caller."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from katapi.runtime.errors import RequestError
from katapi.runtime.fields import DateField, JsonObjectField, JsonValueField
from katapi.runtime.request_model import RequestModel, decode_request
from tests.validation import validated


class Fields(RequestModel):
    value: JsonValueField = None
    object: JsonObjectField | None = None
    date: DateField | None = None


def refused(**fields: object) -> RequestError:
    with pytest.raises(RequestError) as caught:
        validated(Fields, fields)
    return caught.value


@pytest.mark.parametrize(
    ("text", "date"),
    [("2025-03-09", datetime(2025, 3, 9)), ("2025-03-09T14:05:07", datetime(2025, 3, 9, 14, 5, 7))],  # noqa: DTZ001
)
def test_a_date_is_a_day_or_a_second_without_time_zone(text: str, date: datetime) -> None:
    assert validated(Fields, {"date": text}).date == date
    assert validated(Fields, {"date": date}).date == date


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2025-3-9",
        "20250309",
        "2025-02-29",
        "2025-03-09 14:05:07",
        "2025-03-09T14:05",
        "2025-03-09T24:00:00",
        "2025-03-09T14:05:60",
        "2025-03-09T14:05:07Z",
        "2025-03-09T14:05:07+00:00",
        "2025-03-09T14:05:07.5",
        "2025-03-09\n",
        "２０２５-03-09",
        "0000-01-01",
    ],
)
def test_any_other_text_is_no_date(text: str) -> None:
    error = refused(date=text)
    assert (error.code, error.where) == ("R115", "date")


@pytest.mark.parametrize("value", [0, 1741529107, 1.5, True, [], {}])
def test_no_other_value_is_a_date(value: object) -> None:
    assert refused(date=value).code == "R113"


@pytest.mark.parametrize("value", [datetime(2025, 3, 9, tzinfo=UTC), datetime(2025, 3, 9, microsecond=1)])  # noqa: DTZ001
def test_a_python_date_that_the_text_form_cannot_hold_is_refused(value: datetime) -> None:
    assert refused(date=value).code == "R115"


@pytest.mark.parametrize(
    ("value", "code", "where"),
    [
        (float("nan"), "R105", "value"),
        ({"a": [0, float("-inf")]}, "R105", "value.a[1]"),
        ({"a": "\ud800"}, "R108", "value.a"),
        ({"a": {"\udfff": 1}}, "R108", "value.a"),
        ([{1: 2}], "R113", "value[0]"),
        ([b"x"], "R113", "value[0]"),
        ({"a": {1, 2}}, "R113", "value.a"),
        pytest.param(object(), "R113", "value", id="an object of Python"),
    ],
    ids=repr,
)
def test_a_python_value_that_json_lacks_is_refused(value: object, code: str, where: str) -> None:
    error = refused(value=value)
    assert (error.code, error.where) == (code, where)


def test_a_value_within_itself_is_refused() -> None:
    loop: list[object] = []
    loop.append(loop)
    assert refused(value=loop).code == "R109"


@pytest.mark.parametrize("value", [[], "{}", None, 1])
def test_only_an_object_is_an_object(refusal: Callable[[object], RequestError], value: object) -> None:
    error = refusal({"messages": [], "tools": [value]})
    assert (error.code, error.where) == ("R113", "tools[0]")


def test_the_order_of_keys_and_the_kinds_of_numbers_stay() -> None:
    fields = decode_request(Fields, b'{"object": {"b": 1, "a": 1.0, "c": 12345678901234567890}}').request
    assert repr(fields.object) == "{'b': 1, 'a': 1.0, 'c': 12345678901234567890}"


def test_a_later_change_by_the_caller_does_not_reach_the_request() -> None:
    mine: dict[str, list[int]] = {"a": [1]}
    request = validated(Fields, {"object": mine, "value": mine})
    mine["a"].append(2)
    assert request.object == {"a": [1]}
    assert request.value == {"a": [1]}
