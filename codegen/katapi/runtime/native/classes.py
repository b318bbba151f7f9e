"""The tables by which a kernel finds the class of a character in UTF-8.

leads   by the first byte of a character its class, where every character with this byte is of the class, else 255;
        the byte 255, which stands behind a text, has the class of the end: the number of classes
pages   by the upper bits of a code point the number of its page, int16
kinds   the class of each of the 64 code points of a page
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.patterns.partition import Partition

_PAGE = 64
_LAST = 0x10FFFF
_MIXED = 255


def class_tables(partition: Partition) -> dict[str, bytes]:
    """The tables of the classes that some patterns tell apart."""
    return tables_of_classes(partition.flat(), partition.count)


def tables_of_classes(flat: NDArray[np.uint8], count: int) -> dict[str, bytes]:
    """The same from the class of each code point, uint8 of shape [0x110000]; there are `count` classes."""
    kinds: dict[bytes, int] = {}
    pages = [kinds.setdefault(page.tobytes(), len(kinds)) for page in flat.reshape(-1, _PAGE)]
    leads = np.full(256, _MIXED, dtype=np.uint8)
    leads[:0x80] = flat[:0x80]
    for lead, first, last in _led():
        if (flat[first : last + 1] == flat[first]).all():
            leads[lead] = flat[first]
    leads[0xFF] = count
    return {
        "leads": leads.tobytes(),
        "pages": np.array(pages, dtype="<i2").tobytes(),
        "kinds": b"".join(kinds),
    }


def _led() -> Iterator[tuple[int, int, int]]:
    """The first bytes of characters beyond ASCII, and the first and last code point that begin with each."""
    for lead in range(0xC2, 0xF5):
        continuing = 1 if lead < 0xE0 else 2 if lead < 0xF0 else 3
        first = (lead & (0x3F >> continuing)) << 6 * continuing
        last = first + (1 << 6 * continuing) - 1
        if lead != 0xED:  # surrogates begin with it too, which are of no class
            yield lead, max(first, (0x80, 0x800, 0x10000)[continuing - 1]), min(last, _LAST)
