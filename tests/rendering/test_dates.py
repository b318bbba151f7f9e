"""Dates as text: what `strftime` prints in English, whatever the locale, and a record that holds what was given."""

from __future__ import annotations

import json
import locale
from collections.abc import Iterator
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from katapi.oracle.dates import formatted
from katapi.runtime.dates import DIRECTIVES, format_date
from katapi.runtime.errors import RequestError
from tests.specs import PASS, model_of

NOON = datetime.fromisoformat("2025-03-09T12:05:07")
dates = st.datetimes(min_value=datetime.fromisoformat("1000-01-01"))


@pytest.fixture
def another_locale() -> Iterator[None]:
    """Names of months in another language, where the machine has one."""
    before = locale.setlocale(locale.LC_TIME)
    for name in ("de_DE.UTF-8", "fr_FR.UTF-8", "es_ES.UTF-8"):
        try:
            locale.setlocale(locale.LC_TIME, name)
        except locale.Error:
            continue
        break
    yield
    locale.setlocale(locale.LC_TIME, before)


@given(dates, st.sampled_from([d for d in DIRECTIVES if "-" not in d and d != "%e"]))
def test_a_directive_prints_what_strftime_prints(date: datetime, directive: str) -> None:
    assert format_date(date, directive) == date.strftime(directive)


@given(dates, st.lists(st.sampled_from([*DIRECTIVES, " ", "d", "-"])).map("".join))
def test_the_oracle_prints_the_same(date: datetime, pattern: str) -> None:
    assert format_date(date, pattern) == formatted(date, pattern)


@pytest.mark.parametrize(
    ("date", "text"),
    [
        ("2025-03-09T00:05:07", "Sunday Sun March Mar 2025 25 03 3 09 9  9 068 00 0 12 12 AM 05 07 %"),
        ("2024-12-31T12:00:00", "Tuesday Tue December Dec 2024 24 12 12 31 31 31 366 12 12 12 12 PM 00 00 %"),
        ("0007-01-01T23:59:59", "Monday Mon January Jan 0007 07 01 1 01 1  1 001 23 23 11 11 PM 59 59 %"),
    ],
)
@pytest.mark.usefixtures("another_locale")
def test_every_directive_in_english(date: str, text: str) -> None:
    pattern = "%A %a %B %b %Y %y %m %-m %d %-d %e %j %H %-H %I %-I %p %M %S %%"
    assert set(pattern.split()) == set(DIRECTIVES)
    assert format_date(datetime.fromisoformat(date), pattern) == text


def test_a_percent_sign_begins_no_directive_after_another() -> None:
    assert format_date(NOON, "%%d %d%%-d") == "%d 09%-d"


def test_a_date_of_the_request_stands_in_the_record() -> None:
    model = model_of(PASS / "dates.kata")
    request = {"messages": [], "now": "2025-03-09T14:05:07", "birthday": "2000-01-01"}
    result = model.assemble(json.dumps(request).encode())
    assert "Sunday, 9 March 2025, 2:05 PM" in result.rendered.text
    assert result.record.request == {**request, "birthday": "2000-01-01T00:00:00"}


@pytest.mark.parametrize(
    ("given_now", "code"), [({}, "R112"), ({"now": None}, "R113"), ({"now": "9 March"}, "R115"), ({"now": 1}, "R113")]
)
def test_there_is_no_clock(given_now: dict[str, object], code: str) -> None:
    model = model_of(PASS / "dates.kata")
    with pytest.raises(RequestError) as caught:
        model.assemble(json.dumps({"messages": [], **given_now}).encode())
    assert (caught.value.code, caught.value.where) == (code, "now")
