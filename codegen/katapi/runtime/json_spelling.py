"""How JSON is spelled where Python's own encoder does not: numbers as JavaScript has them, orders of keys, escapes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final

MAX_SAFE_INTEGER: Final = 2**53 - 1
"""The greatest integer of which no float is the nearest that is nearest to another integer as well."""

_NO_INDEX = 2**32 - 1
_INDEX = re.compile(r"0|[1-9][0-9]{0,9}")
_FIRST_EXPONENT = 21  # of ten, from which on JavaScript writes one
_LAST_EXPONENT = -7  # and down from which


def javascript_number(value: float) -> str:
    """A finite float as `Number.prototype.toString` and RFC 8785 write it: `1`, `1e+21`, `1e-7`; -0.0 is `0`.

    The digits are those of Python's `repr`, which are the fewest too. Point and exponent stand elsewhere.
    """
    text = float.__repr__(value)
    mantissa, _, exponent = text.partition("e")
    if not exponent:
        text = text.removesuffix(".0")
        return "0" if text == "-0" else text
    power = int(exponent)
    if _LAST_EXPONENT < power < _FIRST_EXPONENT:
        sign = "-" if mantissa.startswith("-") else ""
        digits = mantissa.removeprefix("-").replace(".", "")
        return sign + (digits.ljust(power + 1, "0") if power > 0 else "0." + "0" * (-power - 1) + digits)
    return f"{mantissa}e{power:+d}"


def _utf16(key: str) -> bytes:
    return key.encode("utf-16-be", "surrogatepass")


def _by_utf16(keys: Iterable[str]) -> Iterable[str]:
    return sorted(keys, key=_utf16)


def _place_in_javascript(key: str) -> int:
    """An array index is its own place; all other keys share the one behind, where they stay in order."""
    return min(int(key), _NO_INDEX) if _INDEX.fullmatch(key) else _NO_INDEX


def _indices_first(keys: Iterable[str]) -> Iterable[str]:
    return sorted(keys, key=_place_in_javascript)


ORDERS: Final[Mapping[str, Callable[[Iterable[str]], Iterable[str]]]] = {
    "as_received": lambda keys: keys,
    "sorted": sorted,
    "sorted_code_units": _by_utf16,
    "indices_first": _indices_first,
}
"""The keys of an object in each order."""


def _escapes(characters: Iterable[int]) -> dict[int, str]:
    return {character: f"\\u{character:04x}" for character in characters}


ESCAPES: Final[Mapping[str, Mapping[int, str]]] = {
    "ascii": {},  # the encoder's own
    "slash": {ord("/"): "\\/"},
    "html": _escapes(map(ord, "<>&'")),
    "line_separators": _escapes((0x2028, 0x2029)),
    "controls": _escapes(range(0x7F, 0xA0)),
}
"""What each kind of escape makes of a character. None of them stands in a JSON text outside of its strings."""
