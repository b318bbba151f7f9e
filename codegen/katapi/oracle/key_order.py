"""The orders of keys: by code point, by UTF-16 code unit as RFC 8785 has it, or as ECMA-262 orders properties."""

from __future__ import annotations

from collections.abc import Sequence

from katapi.model.declarations import KeyOrder
from katapi.oracle.values import Value


def ordered(pairs: tuple[tuple[str, Value], ...], order: KeyOrder) -> Sequence[tuple[str, Value]]:
    """The pairs of an object in an order of their keys."""
    match order:
        case KeyOrder.AS_RECEIVED:
            return pairs
        case KeyOrder.SORTED:
            return sorted(pairs, key=lambda pair: [ord(character) for character in pair[0]])
        case KeyOrder.SORTED_CODE_UNITS:
            return sorted(pairs, key=lambda pair: [unit for character in pair[0] for unit in units(character)])
        case KeyOrder.INDICES_FIRST:
            indices = [pair for pair in pairs if _is_index(pair[0])]
            others = [pair for pair in pairs if not _is_index(pair[0])]
            return sorted(indices, key=lambda pair: int(pair[0])) + others


def _is_index(key: str) -> bool:
    """Whether a key is the decimal spelling of an integer from 0 to 2^32 - 2."""
    if not 0 < len(key) <= 10 or any(character not in "0123456789" for character in key):
        return False
    return str(int(key)) == key and int(key) <= 2**32 - 2


def units(character: str) -> list[int]:
    """The UTF-16 code units of a character."""
    beyond = ord(character) - 0x10000
    return [ord(character)] if beyond < 0 else [0xD800 + (beyond >> 10), 0xDC00 + (beyond & 0x3FF)]
