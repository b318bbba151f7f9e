"""Dates as text, in English whatever the locale: the language's `format`, with directives of C's `strftime`."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from functools import lru_cache

MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
"""January is at 0."""
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
"""Monday is at 0, as `datetime.weekday` counts."""

DIRECTIVES: dict[str, Callable[[datetime], str]] = {
    "%Y": lambda d: f"{d.year:04}",
    "%y": lambda d: f"{d.year % 100:02}",
    "%m": lambda d: f"{d.month:02}",
    "%-m": lambda d: str(d.month),
    "%B": lambda d: MONTHS[d.month - 1],
    "%b": lambda d: MONTHS[d.month - 1][:3],
    "%d": lambda d: f"{d.day:02}",
    "%-d": lambda d: str(d.day),
    "%e": lambda d: f"{d.day:2}",
    "%j": lambda d: f"{d.timetuple().tm_yday:03}",
    "%A": lambda d: DAYS[d.weekday()],
    "%a": lambda d: DAYS[d.weekday()][:3],
    "%H": lambda d: f"{d.hour:02}",
    "%-H": lambda d: str(d.hour),
    "%I": lambda d: f"{_hour(d):02}",
    "%-I": lambda d: str(_hour(d)),
    "%p": lambda d: "AM" if d.hour < 12 else "PM",
    "%M": lambda d: f"{d.minute:02}",
    "%S": lambda d: f"{d.second:02}",
    "%%": lambda d: "%",
}
"""What each directive prints; there are no others."""

DIRECTIVE = re.compile(r"%-?.?", re.DOTALL)
"""A directive of a format, known or not."""


def _hour(date: datetime) -> int:
    return (date.hour + 11) % 12 + 1


@lru_cache(maxsize=64)
def format_date(date: datetime, pattern: str) -> str:
    """A date by a pattern of known directives; the compiler has refused all others. A day comes with many requests."""
    return DIRECTIVE.sub(lambda found: DIRECTIVES[found[0]](date), pattern)
