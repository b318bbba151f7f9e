"""SentencePiece's precompiled character map, unpacked into a dictionary.

Four bytes give the size of a double array in bytes, the least significant first; then it comes, as 32-bit units; then
the results, each ended by a zero byte. In a unit, bits 0 to 7 and 31 are the label, bit 8 says that a key ends here,
and bits 10 and up, times 256 where bit 9 is set, are the offset to the children: the child by a label stands at the
exclusive or of index, offset and label, and the value at the child by label 0.
"""

from __future__ import annotations

from functools import lru_cache


@lru_cache(maxsize=64)
def rules(data: bytes) -> dict[str, str]:
    """What each key becomes. A key that is no whole text never matches one and is left out."""
    size = int.from_bytes(data[:4], "little")
    units = [int.from_bytes(data[at : at + 4], "little") for at in range(4, 4 + size, 4)]
    results = data[4 + size :]
    found: dict[bytes, int] = {}
    waiting = [(b"", 0)]
    while waiting:
        key, index = waiting.pop()
        unit = units[index]
        children = index ^ (unit >> 10) << (8 if unit & 1 << 9 else 0)
        if unit & 1 << 8:
            found[key] = units[children] & 0x7FFFFFFF
        for label in range(1, 256):
            child = children ^ label
            if child < len(units) and units[child] & 0x800000FF == label:
                waiting.append((key + bytes([label]), child))
    return {
        text: results[begin : results.index(b"\0", begin)].decode(errors="replace")
        for key, begin in found.items()
        if key and _is_text(key)
        for text in [key.decode()]
    }


def _is_text(data: bytes) -> bool:
    return data.decode(errors="ignore").encode() == data
