"""Dates as text, in English, after what the C standard says of `strftime`."""

from __future__ import annotations

from datetime import date, datetime

_MONTHS = "January February March April May June July August September October November December".split()
_DAYS = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split()


def formatted(moment: datetime, pattern: str) -> str:
    """A date by a pattern; `%` begins a directive of one letter, or of a `-`, for no padding, and one letter."""
    printed = ""
    while pattern:
        character, pattern = pattern[0], pattern[1:]
        if character != "%":
            printed += character
            continue
        padded = not pattern.startswith("-")
        pattern = pattern.removeprefix("-")
        part = _part(moment, pattern[0])
        printed += part if padded else part.lstrip("0") or "0"
        pattern = pattern[1:]
    return printed


def _part(moment: datetime, letter: str) -> str:
    ordinal = moment.toordinal()  # 1 is a Monday
    year, month, day, hour, minute, second = moment.timetuple()[:6]
    parts = {
        "Y": str(year).rjust(4, "0"),
        "y": str(year).rjust(4, "0")[2:],
        "m": str(month).rjust(2, "0"),
        "B": _MONTHS[month - 1],
        "b": _MONTHS[month - 1][:3],
        "d": str(day).rjust(2, "0"),
        "e": str(day).rjust(2),
        "j": str(ordinal - date(year, 1, 1).toordinal() + 1).rjust(3, "0"),
        "A": _DAYS[ordinal % 7],
        "a": _DAYS[ordinal % 7][:3],
        "H": str(hour).rjust(2, "0"),
        "I": str({0: 12}.get(hour % 12, hour % 12)).rjust(2, "0"),
        "p": "PM" if hour >= 12 else "AM",
        "M": str(minute).rjust(2, "0"),
        "S": str(second).rjust(2, "0"),
        "%": "%",
    }
    return parts[letter]
