"""Reads scores as the reference reads them, so that ties between segmentations fall the same way."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?")
_DIGITS_LIMIT = (1 << 64) - 1  # digits that would make the whole number greater are dropped
_SAFE_DIGITS = 20  # fewer digits than this are within that limit
_GREATEST_POWER = 308  # of ten, in binary64


def read_score(number: str) -> float:
    """A JSON number as serde_json reads it without its feature float_roundtrip; for `json.loads(…, parse_float=…)`.

    The digits are taken as one whole number, converted to binary64, and multiplied or divided by a power of ten. The
    result can be one unit in the last place beside the nearest value, which is what Hugging Face tokenizers compute
    with. Raises `ValueError` where `number` is no JSON number, or too great for binary64.
    """
    found = _NUMBER.fullmatch(number)
    if found is None:
        raise ValueError(f"{number!r} is no number")
    sign, whole, fraction, exponent = found.groups()
    if exponent is None and len(whole) + len(fraction or "") < _SAFE_DIGITS:
        simple = float(int(whole + (fraction or ""))) / float(10 ** len(fraction or ""))
        return -simple if sign else simple
    digits, power = 0, int(exponent or 0)
    for place, digit in enumerate(whole + (fraction or "")):
        if digits * 10 + int(digit) > _DIGITS_LIMIT:
            power += max(0, len(whole) - place)
            break
        digits = digits * 10 + int(digit)
        power -= place >= len(whole)
    value = float(digits)
    while power < -_GREATEST_POWER and value:
        value /= 1e308
        power += _GREATEST_POWER
    if power > _GREATEST_POWER and value:
        raise ValueError(f"{number} is too great a number")
    if value:
        value = value / float(10**-power) if power < 0 else value * float(10**power)
    if value == float("inf"):
        raise ValueError(f"{number} is too great a number")
    return -value if sign else value
