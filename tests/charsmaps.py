"""Writes precompiled character maps, to test what reads them."""

from __future__ import annotations

from collections.abc import Mapping

Trie = dict[int, "Trie"]

_ENDS_KEY = 1 << 8
_IS_VALUE = 1 << 31


def character_map(entries: Mapping[str, str]) -> bytes:
    """The bytes of a map from keys, none of them empty, to what they become."""
    results = b""
    values: dict[bytes, int] = {}
    for key, result in entries.items():
        values[key.encode()] = len(results)
        results += result.encode() + b"\0"
    units = _double_array(values)
    size = max(units) // 256 * 256 + 256
    trie = b"".join(units.get(index, 0).to_bytes(4, "little") for index in range(size))
    return len(trie).to_bytes(4, "little") + trie + results


def _double_array(values: Mapping[bytes, int]) -> dict[int, int]:
    """The units of a trie by index. Each node gets the first free place where its children do not stand already."""
    units: dict[int, int] = {0: 0}
    bases = {0}
    waiting = [(b"", 0)]
    for prefix, index in waiting:
        labels = sorted({key[len(prefix)] for key in values if key.startswith(prefix) and len(key) > len(prefix)})
        ends_key = prefix in values
        taken = [0, *labels] if ends_key else labels
        base = next(
            base
            for base in range(1, 1 << 21)
            if base not in bases and not units.keys() & {base ^ label for label in taken}
        )
        bases.add(base)
        units[index] |= (index ^ base) << 10 | (_ENDS_KEY if ends_key else 0)
        if ends_key:
            units[base] = _IS_VALUE | values[prefix]
        for label in labels:
            units[base ^ label] = label
            waiting.append((prefix + bytes([label]), base ^ label))
    return units
