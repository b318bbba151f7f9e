"""The kernel of byte-level encoders, which is written in C (`kernel.c`): it cuts texts and looks their pieces up."""

from collections.abc import Callable
from typing import final

_Missing = Callable[[bytes, int, bool], bytes]

@final
class Kernel:
    """Encodes texts. Safe to share between threads.

    Each method raises TypeError for what is no str, UnicodeEncodeError on a lone surrogate, and what is raised by what
    it asks.
    """

    def __init__(self, tables: dict[str, bytes], make: Callable[[], _Missing]) -> None:
        """`tables` as `katapi.runtime.native.derived.derive_tables` gives them.

        What `make` gives is asked, by one thread at a time, for what no table tells: the ids, packed as int32, of a
        piece that begins the given bytes and has the given length. The flag says that it is a part of a piece. Raises
        ValueError on tables of wrong lengths.
        """

    def encode(self, text: str, /) -> list[int]:
        """The ids of a text; of equal ids there is one object."""

    def packed(self, text: str, /) -> bytearray:
        """The same as int32, one behind the other."""

    def packed64(self, text: str, /) -> bytes:
        """The same as int64."""

    def count(self, text: str, /) -> int:
        """How many they are."""

    def pieces(self, text: str, /) -> list[bytes]:
        """What the text is cut into, in UTF-8."""
