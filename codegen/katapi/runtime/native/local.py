"""Normalizers under which a character depends at most on those beside it, by compiled code where there is some."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Final

from katapi.runtime.compiled import why_pure
from katapi.runtime.unicode.codepoints import Tie

if TYPE_CHECKING:
    from katapi.runtime.native.rewriting import Rewriter

_MODULES: Final = tuple(f"katapi.runtime.native.{name}" for name in ("merging", "rewriting", "membership"))
_PAGE: Final = 64
_STAYS: Final = "~"  # between characters that are tried, if it stays itself
_MOST_IDLE: Final = 4


class LocalRewriting:
    """Normalizes as `normalize` does, of which it asks what it has not met before. Safe to share between threads."""

    def __init__(
        self,
        normalize: Callable[[str], str],
        ties: Callable[[], tuple[Tie, ...]],
        is_plain: Callable[[int, int], bool],
    ) -> None:
        """At most six ties hold two sets together of which neither has all characters.

        `is_plain` may say that the characters from one code point to another stay, and are in no set of a tie that has
        not all characters.
        """
        from katapi.runtime.native.membership import first_outside  # there is none where nothing is compiled

        self._first_outside = first_outside
        self._normalize = normalize
        self._ties = ties
        self._is_plain = is_plain
        self._idle: list[Rewriter] = []
        self._settled = bytearray(0x110000 // 8)  # a bit for each character that stays, whatever is beside it
        self._rows: dict[int, list[tuple[int, bytes]] | None] = {}

    def __call__(self, text: str) -> str:
        """The normalized text, `text` itself where nothing changes."""
        first_outside = self._first_outside
        place = first_outside(text, self._settled, 0)
        while place >= 0 and (first := ord(text[place]) & -_PAGE) not in self._rows:
            self._learned(first)
            place = first_outside(text, self._settled, place)
        if place < 0:
            return text
        try:
            rewriter = self._idle.pop()
        except IndexError:
            from katapi.runtime.native.rewriting import Rewriter

            rewriter = Rewriter(self._learned, self._normalize)
        rewritten = rewriter.rewrite(text)
        if len(self._idle) < _MOST_IDLE:
            self._idle.append(rewriter)
        return rewritten

    def _learned(self, first: int) -> list[tuple[int, bytes]] | None:
        """What is known of a page, as `Rewriter` takes it. Which characters stay is noted beside."""
        if first not in self._rows:
            from katapi.runtime.native.rewriting import PLAIN

            rows = self._rows_of(first)
            if first not in range(0xD800, 0xE000):  # surrogates are refused
                for code in range(first, first + _PAGE):
                    if rows is None or rows[code - first][0] == PLAIN:
                        self._settled[code >> 3] |= 1 << (code & 7)
            self._rows[first] = rows
        return self._rows[first]

    def _rows_of(self, first: int) -> list[tuple[int, bytes]] | None:
        from katapi.runtime.native.rewriting import ASKED, BEFORE, BEHIND, CHANGES, LONGEST, PLAIN, TIED_TO_PLAIN

        last = first + _PAGE - 1
        if self._is_plain(first, last):
            return None
        bits = [PLAIN] * _PAGE
        for bit, (before, behind) in self._bits_of_ties:
            for shift, members in ((BEHIND, before), (BEFORE, behind)):
                for begin, end in members.between(first, last) if members is not None else ():
                    for code in range(begin, end + 1):
                        bits[code - first] |= bit << shift
        alone = [code for code in range(first, last + 1) if not bits[code - first] & TIED_TO_PLAIN]
        images = dict(zip(alone, self._images([*map(chr, alone)]), strict=True))
        rows: list[tuple[int, bytes]] = []
        for code, ties in enumerate(bits, start=first):
            image = images.get(code, "").encode()
            if code not in images or len(image) > LONGEST:
                rows.append((ties | ASKED, b""))
            else:
                rows.append((ties if image == chr(code).encode() else ties | CHANGES, image))
        return None if all(ties == PLAIN for ties, _ in rows) else rows

    def _images(self, characters: list[str]) -> list[str]:
        """What characters become that none of `_STAYS` is tied to."""
        if self._normalize(_STAYS) == _STAYS:
            images = self._normalize(_STAYS.join(["", *characters, ""])).split(_STAYS)
            if len(images) == len(characters) + 2:  # or one of them becomes it
                return images[1:-1]
        return [*map(self._normalize, characters)]

    @cached_property
    def _bits_of_ties(self) -> list[tuple[int, Tie]]:
        """The bit of each tie: the lowest where its first set has all characters, the next where its second has."""
        ties: list[tuple[int, Tie]] = []
        bit = 2
        for tie in self._ties():
            if tie[0] is None:
                ties.append((1, tie))
            elif tie[1] is None:
                ties.append((2, tie))
            else:
                bit *= 2
                ties.append((bit, tie))
        return ties


def local_rewriting(
    normalize: Callable[[str], str],
    ties: Callable[[], tuple[Tie, ...]],
    is_plain: Callable[[int, int], bool],
) -> LocalRewriting | None:
    """A `LocalRewriting`; None where that is not compiled."""
    return None if why_pure(*_MODULES) is not None else LocalRewriting(normalize, ties, is_plain)
