"""Rewriting a text where a character changes by itself, or with those beside it that it depends on. For mypyc.

What a character becomes is learned a page of 64 code points at a time, and what several become together is remembered;
all else is copied. Each code point has two sets of bits: two neighbours are rewritten together where one bit is both in
the set that the first has for what stands behind it and in the set that the second has for what stands before it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from librt.strings import BytesWriter, read_i64_le, write_i64_le
from librt.vecs import vec
from mypy_extensions import i32, i64

from katapi.runtime.native.merging import MASKS, MIX

PLAIN: Final = 0x201
"""What stands for a character that stays, and depends on none but those that depend on every character."""
BEHIND: Final = 0
"""The lowest of the 8 bits for what stands behind a character."""
BEFORE: Final = 8
"""The lowest of the 8 bits for what stands before it."""
TIED_TO_PLAIN: Final = 2 << BEHIND | 1 << BEFORE
"""The bits that tie a character to a plain one beside it."""
CHANGES: Final = 1 << 16
"""Marks a character that changes where it depends on none beside it."""
ASKED: Final = 1 << 17
"""Marks one of which only the whole normalizer knows what it becomes by itself."""
LONGEST: Final = 7
"""Bytes up to which what a character becomes is learned; for longer ones the whole normalizer is asked."""
_ALL: Final = 0xFF
_PAGE: Final = 64
_PAGES: Final = 0x110000 // _PAGE
_LENGTH: Final = 56  # the bits below the length of up to 7 bytes
_SHORT_BITS: Final = 11
_LONG_ENTRIES: Final = 1 << 14
_LONGEST_KEPT: Final = 128  # bytes
PADDING: Final = b"\xff" * 16  # behind a text, so that nothing reads beyond it; the byte begins no character


class Rewriter:
    """Rewrites texts, and learns from each what the next ones need. Not to be shared between threads."""

    def __init__(
        self, learned: Callable[[int], list[tuple[int, bytes]] | None], normalized: Callable[[str], str]
    ) -> None:
        """`learned` gives what is known of the 64 code points from one on, and `normalized` what a text becomes.

        Of each code point that is its bits with the marks above, and what it becomes by itself; None says that all of
        them are `PLAIN`.
        """
        self._learned = learned
        self._normalized = normalized
        self._pages = vec[i32]([-1] * _PAGES)  # 0 for a page that is plain, else its number
        self._held: i64 = _PAGE  # how many code points are known
        self._bits = vec[i32]([PLAIN] * (8 * _PAGE))
        self._images = vec[i64]([0] * (8 * _PAGE))  # up to 7 bytes, and their number in the highest
        self._short = vec[i64]([-1] * (2 << _SHORT_BITS))  # what was rewritten, and what it became, as images
        self._long: dict[bytes, bytes] = {}
        plain = bytearray(256)
        for code in range(0x80):
            plain[code] = 1 if self._bits_of(code) & 0xFFFFFFFF == PLAIN else 0
        self._plain = bytes(plain)  # by a byte of ASCII whether the character is plain
        self._printable_is_plain = 0 not in self._plain[0x20:0x7F]

    def rewrite(self, text: str) -> str:
        """What a text becomes; the same object where nothing changes. Raises UnicodeEncodeError on a lone surrogate."""
        b = text.encode("utf-8")
        n: i64 = len(b)
        b = b + PADDING
        out = BytesWriter()
        plain = self._plain
        pages = self._pages
        printable = self._printable_is_plain
        spaces: i64 = 0x2020202020202020
        ones: i64 = 0x0101010101010101
        high: i64 = -9187201950435737472  # the highest bit of each of eight bytes
        masks = MASKS
        mix: i64 = MIX
        short = self._short
        done: i64 = 0  # up to where the text was put out
        p: i64 = 0
        while p < n:
            c: i64 = b[p]
            if c < 0x80:
                if plain[c] != 0:
                    p += 1
                    if printable:
                        # Eight bytes at a time, as long as none is a control or beyond ASCII.
                        word: i64 = read_i64_le(b, p)
                        while (word | (word + ones) | (word - spaces)) & high == 0:
                            p += 8
                            word = read_i64_le(b, p)
                    continue
                code: i64 = c
            elif c < 0xE0:
                code = (c & 0x1F) << 6 | i64(b[p + 1]) & 0x3F
            elif c < 0xF0:
                code = (c & 0x0F) << 12 | (i64(b[p + 1]) & 0x3F) << 6 | i64(b[p + 2]) & 0x3F
            else:
                code = code_at(b, p)
            width: i64 = 1 if c < 0x80 else 2 if c < 0xE0 else 3 if c < 0xF0 else 4
            page: i64 = i64(pages[code >> 6])
            if page == 0:
                p += width
                continue
            place: i64 = page << 6 | code & 63 if page > 0 else self._place(code)
            bits: i64 = i64(self._bits[place])
            if bits == PLAIN:
                p += width
                continue
            start: i64 = p
            together = bits & ASKED != 0
            if bits >> BEFORE & 1 != 0 and p > done:
                start -= 1
                while i64(b[start]) & 0xC0 == 0x80:
                    start -= 1
                together = True
            p += width
            while p < n:
                c = b[p]
                following: i64 = PLAIN
                if plain[c] == 0:
                    code = code_at(b, p)
                    following = self._bits_of(code)
                if following >> BEFORE & bits & _ALL == 0:
                    break
                together = True
                bits = following
                p += 1 if c < 0x80 else 2 if c < 0xE0 else 3 if c < 0xF0 else 4
            image: i64 = -1
            size: i64 = p - start
            if size < 8:
                key: i64 = read_i64_le(b, start) & read_i64_le(masks, size << 3) | size << _LENGTH
                if together:
                    slot: i64 = (key * mix >> 40 & ((1 << _SHORT_BITS) - 1)) << 1
                    image = short[slot + 1] if short[slot] == key else self._short_image(b[start:p], key, slot)
                else:
                    image = self._images[place]
                if image == key:
                    continue
            if image >= 0:
                copy(out, b, done, start)
                size = image >> _LENGTH
                write_i64_le(out, image)
                out.truncate(i64(len(out)) - 8 + size)
                done = p
                continue
            source = b[start:p]
            result = self._long_image(source)
            if result != source:
                copy(out, b, done, start)
                out.write(result)
                done = p
        if done == 0:
            return text
        copy(out, b, done, n)
        return out.getvalue().decode("utf-8")

    def _short_image(self, source: bytes, key: i64, slot: i64) -> i64:
        """What up to 7 bytes become, packed as they are; -1 where that is longer."""
        result = self._long_image(source)
        if len(result) > LONGEST:
            return -1
        image: i64 = packed(result)
        self._short[slot] = key
        self._short[slot + 1] = image
        return image

    def _long_image(self, source: bytes) -> bytes:
        """What several characters become."""
        known = self._long.get(source)
        if known is not None:
            return known
        result = self._normalized(source.decode("utf-8")).encode("utf-8")
        if len(source) <= _LONGEST_KEPT:
            if len(self._long) >= _LONG_ENTRIES:
                self._long = {}
            self._long[source] = result
        return result

    def _bits_of(self, code: i64) -> i64:
        """The bits of a code point, and what it is marked with."""
        place: i64 = self._place(code)  # first, as this may put others in the place of the vecs
        return i64(self._bits[place])

    def _place(self, code: i64) -> i64:
        """Where what is known of a code point stands."""
        page: i64 = i64(self._pages[code >> 6])
        if page < 0:
            page = self._learn(code >> 6)
        return page << 6 | code & 63

    def _learn(self, number: i64) -> i64:
        """Learns a page, and gives its number."""
        rows = self._learned(int(number << 6))
        page: i64 = 0
        if rows is not None:
            i: i64 = self._held
            page = i >> 6
            if i == i64(len(self._bits)):
                self._make_room()
            for bits, image in rows:
                self._bits[i] = i32(bits)
                self._images[i] = packed(image)
                i += 1
            self._held = i
        self._pages[number] = i32(page)
        return page

    def _make_room(self) -> None:
        """Makes room for twice as many code points."""
        held: i64 = self._held
        bits = vec[i32]([PLAIN] * int(2 * held))
        images = vec[i64]([0] * int(2 * held))
        i: i64 = 0
        while i < held:
            bits[i] = self._bits[i]
            images[i] = self._images[i]
            i += 1
        self._bits = bits
        self._images = images


def code_at(b: bytes, p: i64) -> i64:
    """The code point of the character at `p`."""
    c: i64 = b[p]
    if c < 0x80:
        return c
    if c < 0xE0:
        return (c & 0x1F) << 6 | i64(b[p + 1]) & 0x3F
    if c < 0xF0:
        return (c & 0x0F) << 12 | (i64(b[p + 1]) & 0x3F) << 6 | i64(b[p + 2]) & 0x3F
    return (c & 0x07) << 18 | (i64(b[p + 1]) & 0x3F) << 12 | (i64(b[p + 2]) & 0x3F) << 6 | i64(b[p + 3]) & 0x3F


def packed(image: bytes) -> i64:
    """Up to 7 bytes and their number."""
    value: i64 = i64(len(image)) << _LENGTH
    shift: i64 = 0
    for byte in image:
        value |= i64(byte) << shift
        shift += 8
    return value


def copy(out: BytesWriter, b: bytes, start: i64, end: i64) -> None:
    """Puts out `b[start:end]`, behind which `b` has 8 bytes more."""
    if end - start > 64:
        out.write(b[start:end])
        return
    while start < end:
        write_i64_le(out, read_i64_le(b, start))
        start += 8
    if start > end:
        out.truncate(i64(len(out)) - (start - end))
