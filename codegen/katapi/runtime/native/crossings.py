"""Between which characters of three bytes a token can reach, and which of them are tokens. For mypyc."""

from __future__ import annotations

from typing import Final

from librt.vecs import vec
from mypy_extensions import i32, i64

from katapi.runtime.native.vocabulary import Vocabulary, counts_as_whole, word

_CROSSING_BITS: Final = 20
_PARTS_CROSS: Final = 1 << 17  # where it says of a byte and the next whether a token begins with both: behind the bits
_ALONE: Final = 2  # one has no more than these


def characters(vocabulary: Vocabulary) -> bytes:
    """The ids of characters of three bytes."""
    ids = vec[i32]([-1] * (1 << 16))
    token: i64 = 0
    while token < vocabulary.count:
        if vocabulary.size(token) == 3 and vocabulary.is_token(token) and vocabulary.place[token] >= 0:
            start: i64 = vocabulary.start(token)
            text = vocabulary.joined[start : start + 3]
            if is_wide(text):
                ids[place_of(word(text, 0, 3)) >> 2] = i32(token)
        token += 1
    return memoryview(ids).tobytes()


def crossings(vocabulary: Vocabulary, any_whole: bool) -> bytes:
    """Between which characters of three bytes a token can reach."""
    bits = bytearray(_PARTS_CROSS + 1024)
    token: i64 = 0
    while token < vocabulary.count:
        size: i64 = vocabulary.size(token)
        if size > 1 and counts_as_whole(vocabulary, token, any_whole):
            start: i64 = vocabulary.start(token)
            mark(bits, vocabulary.joined[start : start + size])
        token += 1
    return bytes(bits)


def parts_differ(vocabulary: Vocabulary) -> bool:
    """Whether a token that cannot be made begins or ends where a piece can be cut.

    Then a part of a piece can have its bytes, and is not that token, while a piece with them is.
    """
    token: i64 = 0
    while token < vocabulary.count:
        size: i64 = vocabulary.size(token)
        if size > 2 and vocabulary.place[token] < 0 and vocabulary.is_token(token):
            start: i64 = vocabulary.start(token)
            text = vocabulary.joined[start : start + size]
            if is_wide(text[:3]) or is_wide(text[-3:]):
                return True
        token += 1
    return False


def is_wide(text: bytes) -> bool:
    """Whether it is a character of three bytes."""
    return len(text) == 3 and is_wide_lead(text[0]) and text[1] & 0xC0 == 0x80 and text[2] & 0xC0 == 0x80


def mark(bits: bytearray, text: bytes) -> None:
    """Marks what one token holds both of: its neighbouring characters, and what its ends may be parts of."""
    size: i64 = len(text)
    start: i64 = 0
    while start < 2 and start < size and text[start] & 0xC0 == 0x80:
        start += 1
    ahead = text[:start]  # the end of a character, where it is not longer than that
    p: i64 = start
    while p < size:
        lead: i64 = text[p]
        if not is_wide_lead(lead):
            ahead = b""
            p += 1
            continue
        here = text[p : p + 3]
        if len(ahead) > 0:
            mark_all(bits, ahead, here)
        ahead = here
        p += 3


def mark_all(bits: bytearray, left: bytes, right: bytes) -> None:
    """Marks all pairs of a character that ends with `left` and one that begins with `right`.

    One byte is the end of too many characters. It is marked as it is, and so is what stands behind it.
    """
    if len(left) == 1:
        alone: i64 = _PARTS_CROSS + ((left[0] & 63) << 4 | right[0] & 15)
        if len(right) == 1:
            bits[alone] = _ALONE
            return
        bits[alone] = max(bits[alone], 1)
        mark_pair(bits, left, right)
        return
    for before in completed(left, True):
        for behind in completed(right, False):
            mark_pair(bits, before, behind)


def mark_pair(bits: bytearray, left: bytes, right: bytes) -> None:
    """Marks two characters, or parts of them."""
    mixed: i64 = crossing_of(word(left, 0, len(left)), word(right, 0, len(right)))
    bits[mixed >> 3] = bits[mixed >> 3] | (1 << (mixed & 7))


def completed(part: bytes, at_end: bool) -> list[bytes]:
    """All characters that a part of one can be the end or the beginning of."""
    found = [part]
    while len(found[0]) < 3:
        longer: list[bytes] = []
        for text in found:
            if not at_end:
                longer += [text + bytes([byte]) for byte in range(0x80, 0xC0)]
            else:
                longer += [bytes([byte]) + text for byte in range(0xE0, 0xF0)]
        found = longer
    return found


def is_wide_lead(byte: i64) -> bool:
    """Whether it begins a character of three bytes."""
    return byte >> 4 == 0xE


def place_of(character: i64) -> i64:
    """Where the id of such a character stands, whose first byte is in the lowest place."""
    return ((character & 15) << 12 | (character >> 8 & 63) << 6 | character >> 16 & 63) << 2


def crossing_of(before: i64, here: i64) -> i64:
    """The bit for two characters of three bytes, the first byte of each in the lowest place."""
    return (before * 0x9E3779B1 ^ here * 0x85EBCA77) >> 8 & ((1 << _CROSSING_BITS) - 1)
