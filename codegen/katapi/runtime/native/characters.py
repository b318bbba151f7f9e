"""Whether a text holds a character of a set. For mypyc."""

from __future__ import annotations

from librt.strings import read_i16_le, read_i64_le
from mypy_extensions import i64

HIGH = (0x80).to_bytes(1, "little") * 8


def holds_any(text: str, outside: bytes, pages: bytes, kinds: bytes) -> bool:
    """Whether a character of a set is in `text`, of which ASCII counts as outside.

    The tables are those of `katapi.runtime.native.classes` for two classes, of which 1 is the set: `outside` gives by
    the first byte of a character its length where all characters with it are outside. Raises UnicodeEncodeError on a
    lone surrogate.
    """
    b = text.encode("utf-8")
    end: i64 = len(b)
    b = b + b"\0" * 8
    high: i64 = read_i64_le(HIGH, 0)
    p: i64 = 0
    while p < end:
        if read_i64_le(b, p) & high == 0:
            p += 8
            continue
        c: i64 = b[p]
        if c < 0x80:
            p += 1
            continue
        step: i64 = outside[c]
        if step == 0:
            code: i64
            if c < 0xE0:
                code = (c & 0x1F) << 6 | i64(b[p + 1]) & 0x3F
                step = 2
            elif c < 0xF0:
                code = (c & 0x0F) << 12 | (i64(b[p + 1]) & 0x3F) << 6 | i64(b[p + 2]) & 0x3F
                step = 3
            else:
                code = (
                    (c & 0x07) << 18 | (i64(b[p + 1]) & 0x3F) << 12 | (i64(b[p + 2]) & 0x3F) << 6 | i64(b[p + 3]) & 0x3F
                )
                step = 4
            page: i64 = i64(read_i16_le(pages, code >> 6 << 1))
            if kinds[page << 6 | code & 63] != 0:
                return True
        p += step
    return False
