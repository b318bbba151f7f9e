"""The tokens of a vocabulary in one piece of memory: bytes by id, each made when it is asked for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from katapi.runtime.dataclass import dataclass
from katapi.runtime.errors import ArtifactError

_CONTINUES = 0b10  # the highest two bits of a byte of UTF-8 that does not begin a character
_FOLLOWING = np.repeat(np.arange(4, dtype=np.uint8), [0xC0, 0x20, 0x10, 0x10])  # how many bytes, by the first
_PAYLOADS = np.array([0x7F, 0x1F, 0x0F, 0x07], dtype=np.int32)  # what of the first byte counts, by how many follow
AT_ONCE = 4096
"""How many tokens are taken together where something is made of all, which then is never there as a whole."""


class Tokens(Sequence[bytes]):
    """The bytes of each id from 0 on; the ids in `gaps` have no token, and no bytes.

    In `joined` the token of id i is `joined[bounds[i] : bounds[i + 1]]`; `bounds` are int32 of shape [ids + 1], in
    bytes.
    """

    def __init__(self, joined: bytes, bounds: NDArray[np.int32], gaps: Collection[int] = ()) -> None:
        self.joined = joined
        self.bounds = bounds
        self.gaps = frozenset(gaps)
        self._bounds = bounds.data  # gives integers of Python's own, and faster

    @classmethod
    def of(cls, tokens: Iterable[bytes], gaps: Collection[int] = ()) -> Tokens:
        """From the bytes of each id."""
        listed = [*tokens]
        return cls(b"".join(listed), bounds_of([*map(len, listed)]), gaps)

    @classmethod
    def by_id(cls, tokens: Mapping[int, bytes]) -> Tokens:
        """From a mapping of ids, all of them from 0 on; those between that it lacks are gaps."""
        size = max(tokens, default=-1) + 1
        gaps = [token for token in range(size) if token not in tokens] if len(tokens) < size else []
        return cls.of([tokens.get(token, b"") for token in range(size)], gaps)

    def __len__(self) -> int:
        """How many ids there are, gaps included."""
        return len(self._bounds) - 1

    @overload
    def __getitem__(self, index: int) -> bytes: ...
    @overload
    def __getitem__(self, index: slice) -> list[bytes]: ...
    def __getitem__(self, index: int | slice) -> bytes | list[bytes]:
        """The bytes of an id, none for a gap."""
        if isinstance(index, slice):
            return [self[token] for token in range(*index.indices(len(self)))]
        if not 0 <= index < len(self):
            raise IndexError(index)
        return self.joined[self._bounds[index] : self._bounds[index + 1]]

    def __iter__(self) -> Iterator[bytes]:
        """The bytes of all ids."""
        joined = self.joined
        return iter([joined[start:end] for start, end in pairwise(self.bounds.tolist())])

    def has(self, token: int) -> bool:
        """Whether there is a token with this id."""
        return 0 <= token < len(self) and token not in self.gaps

    def texts(self) -> Texts:
        """The tokens as text. Raises `ArtifactError` A110 where one is not UTF-8."""
        starts = self.bounds[:-1][np.diff(self.bounds) > 0]
        inside = np.frombuffer(self.joined, dtype=np.uint8)[starts] >> 6 == _CONTINUES
        if inside.any():
            raise self._no_text(int(starts[inside][0]))
        for start, end in pairwise([*self.bounds[:-1:AT_ONCE].tolist(), len(self.joined)]):
            try:
                self.joined[start:end].decode()
            except UnicodeDecodeError as error:
                raise self._no_text(start + error.start) from None
        return Texts(self.joined, self.bounds, "utf-8")

    def letters(self) -> Texts:
        """The tokens with a character for each byte, U+0000 to U+00FF."""
        return Texts(self.joined, self.bounds, "latin-1")

    def _no_text(self, place: int) -> ArtifactError:
        token = int(np.searchsorted(self.bounds, place, side="right")) - 1
        return ArtifactError(
            f"the token {token} is {self[token]!r}, which is no text in UTF-8",
            code="A110",
            help="only byte-pair encoding over bytes can use this vocabulary",
        )


def bounds_of(lengths: ArrayLike) -> NDArray[np.int32]:
    """Where each of some parts begins, and at last where all end: int32 of shape [parts + 1].

    `lengths` are whole numbers of shape [parts], 2 GB together at most.
    """
    sizes = np.asarray(lengths)
    bounds = np.zeros(len(sizes) + 1, dtype=np.int32)
    np.cumsum(sizes, dtype=np.int32, out=bounds[1:])
    return bounds


@dataclass(frozen=True, eq=False, slots=True)
class Texts:
    """The texts of tokens, each made when it is asked for: id i has `joined[bounds[i] : bounds[i + 1]]`.

    `bounds` are int32 of shape [ids + 1], in bytes, as are all places here; none lies within a character.
    """

    joined: bytes
    """All texts, one behind the other."""
    bounds: NDArray[np.int32]
    encoding: Literal["utf-8", "latin-1"]
    """How `joined` is encoded; Latin-1 where a byte is a character."""

    def lengths(self) -> NDArray[np.int32]:
        """The length of each in characters (code points): int32 of shape [ids]."""
        lengths = np.diff(self.bounds)
        full = lengths > 0
        if self.encoding == "utf-8" and full.any():
            begins = np.frombuffer(self.joined, dtype=np.uint8) >> 6 != _CONTINUES
            lengths[full] = np.add.reduceat(begins, self.bounds[:-1][full], dtype=np.int32)
        return lengths

    def ids(self, chosen: NDArray[np.bool_]) -> dict[str, int]:
        """The id of each chosen token by its text; of two alike the later counts. `chosen` is bool of shape [ids]."""
        joined, encoding = self.joined, self.encoding
        starts, ends, ids = self.bounds[:-1][chosen], self.bounds[1:][chosen], np.flatnonzero(chosen)
        return {
            joined[start:end].decode(encoding): token
            for start, end, token in zip(starts.data, ends.data, ids.data, strict=True)
        }

    def codes_at(self, places: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The code point that begins at each place, and the place behind it, both int32 of shape [places].

        A place at the end of all texts or behind it has any code point.
        """
        data = np.frombuffer(self.joined or b"\0", dtype=np.uint8)
        leads = data.take(places, mode="clip")
        codes, following = leads.astype(np.int32), places + np.int32(1)
        if self.encoding == "utf-8":
            more = _FOLLOWING[leads]
            codes &= _PAYLOADS[more]
            for count in range(1, len(_PAYLOADS)):
                longer = np.flatnonzero(more >= count)
                codes[longer] = codes[longer] << 6 | data[following[longer]] & 0x3F
                following[longer] += 1
        return codes, following

    def codes_before(self, places: NDArray[np.int32]) -> NDArray[np.int32]:
        """The code point that ends at each place, int32 of shape [places]; any at the beginning of all texts."""
        data = np.frombuffer(self.joined or b"\0", dtype=np.uint8)
        starts = np.maximum(places - np.int32(1), 0)
        if self.encoding == "utf-8":
            for _ in range(1, len(_PAYLOADS)):
                starts -= data[starts] >> 6 == _CONTINUES
        return self.codes_at(starts)[0]
