"""A precompiled character map applied from left to right, the longest key first. For mypyc.

The units of the trie are those of `katapi.runtime.tokenization.charsmap`, 32 bits each.
"""

from __future__ import annotations

from typing import Final

from librt.strings import BytesWriter, read_i32_le, read_i64_le
from mypy_extensions import i64

from katapi.runtime.native.rewriting import PADDING, copy

_LABEL: Final = 0x800000FF
_VALUE: Final = 0x7FFFFFFF


class LongestPrefixRewriter:
    """Rewrites texts by one map; nothing of it changes, so threads may share it."""

    def __init__(self, units: bytes, results: bytes) -> None:
        """The units of the trie, and the results, each of which is ended by a zero byte."""
        self._units = units
        self._results = results
        self._root: i64 = self._children(0)
        alone = bytearray(256)
        for byte in range(1, 0x80):
            alone[byte] = 1 if self._is_no_key_in_ascii(byte) else 0
        self._alone = bytes(alone)  # whether a character stays where one of ASCII stands behind it
        self._printable_is_alone = 0 not in self._alone[0x20:0x7F]

    def rewrite(self, text: str) -> str:
        """What a text becomes; the same object where nothing changes. Raises UnicodeEncodeError on a lone surrogate."""
        b = text.encode("utf-8")
        n: i64 = len(b)
        b = b + PADDING
        out = BytesWriter()
        alone = self._alone
        printable = self._printable_is_alone
        spaces: i64 = 0x2020202020202020
        ones: i64 = 0x0101010101010101
        high: i64 = -9187201950435737472  # the highest bit of each of eight bytes
        done: i64 = 0  # up to where the text was put out
        p: i64 = 0
        while p < n:
            if printable:
                # Eight bytes at a time, as long as none is a control or beyond ASCII: all but the last stay.
                word: i64 = read_i64_le(b, p)
                while (word | (word + ones) | (word - spaces)) & high == 0:
                    p += 7
                    word = read_i64_le(b, p)
            c: i64 = b[p]
            if alone[c] != 0 and b[p + 1] < 0x80:
                p += 1
                continue
            index: i64 = self._root
            q: i64 = p
            end: i64 = 0  # of the longest key
            begin: i64 = 0  # of its result
            while q < n:
                c = b[q]
                index ^= c
                unit: i64 = self._unit(index)
                if c == 0 or unit & _LABEL != c:
                    break
                index ^= (unit >> 10) << (8 if unit & 0x200 != 0 else 0)
                q += 1
                if unit & 0x100 != 0 and i64(b[q]) & 0xC0 != 0x80:
                    end = q
                    begin = self._unit(index) & _VALUE
            if end == 0:
                c = b[p]
                p += 1 if c < 0x80 else 2 if c < 0xE0 else 3 if c < 0xF0 else 4
                continue
            copy(out, b, done, p)
            self._put(out, begin)
            p = end
            done = end
        if done == 0:
            return text
        copy(out, b, done, n)
        return out.getvalue().decode("utf-8")

    def _put(self, out: BytesWriter, begin: i64) -> None:
        """Puts out the result that begins at a place; one that begins within a character begins with U+FFFD."""
        results = self._results
        size: i64 = len(results)
        if begin < size and i64(results[begin]) & 0xC0 == 0x80:
            end: i64 = begin
            while results[end] != 0:
                end += 1
            out.write(results[begin:end].decode("utf-8", "replace").encode("utf-8"))
            return
        while begin < size and results[begin] != 0:
            out.append(results[begin])
            begin += 1

    def _is_no_key_in_ascii(self, byte: i64) -> bool:
        """Whether a byte of ASCII is no key, and begins none that goes on in ASCII."""
        index: i64 = self._root ^ byte
        unit: i64 = self._unit(index)
        if unit & _LABEL != byte:
            return True
        if unit & 0x100 != 0:
            return False
        following: i64 = 1
        while following < 0x80:
            if self._unit(self._children(index) ^ following) & _LABEL == following:
                return False
            following += 1
        return True

    def _children(self, index: i64) -> i64:
        """Where the children of the unit at `index` stand, by label 0."""
        unit: i64 = self._unit(index)
        return index ^ (unit >> 10) << (8 if unit & 0x200 != 0 else 0)

    def _unit(self, index: i64) -> i64:
        """The unit at `index`; beyond the end of the trie one that is no child of another."""
        if index << 2 >= i64(len(self._units)):
            return _LABEL
        return i64(read_i32_le(self._units, index << 2)) & 0xFFFFFFFF
