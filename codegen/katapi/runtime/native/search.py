"""What tells whether a text holds a character of a set, where that is compiled."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from katapi.runtime.compiled import why_pure
from katapi.runtime.native.classes import tables_of_classes
from katapi.runtime.unicode.codepoints import CodePoints


def search_for(members: CodePoints) -> Callable[[str], bool] | None:
    """A function that tells whether a text holds any of `members`, ASCII aside; None where that is not compiled."""
    if why_pure("katapi.runtime.native.characters") is not None:
        return None
    from katapi.runtime.native.characters import holds_any

    flat = np.zeros(0x110000, dtype=np.uint8)
    for first, last in members.ranges:
        flat[first : last + 1] = 1
    tables = tables_of_classes(flat, 2)
    leads, pages, kinds = tables["leads"], tables["pages"], tables["kinds"]
    outside = bytes(
        0 if byte < 0xC2 or byte == 0xFF or leads[byte] else 2 + (byte >= 0xE0) + (byte >= 0xF0) for byte in range(256)
    )
    return lambda text: holds_any(text, outside, pages, kinds)
