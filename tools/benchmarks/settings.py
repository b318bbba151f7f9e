"""How much is measured."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class Settings(NamedTuple):
    """What the command line says."""

    folder: Path
    """Where files for the peers are written."""
    vocabularies: list[str]
    """Their names in `vocabularies.DECLARED`."""
    quick: bool
    rounds: int
    """How often each side meets each text."""

    @property
    def chunks(self) -> int:
        """Parts of 64 KiB of each kind of document."""
        return 3 if self.quick else 8

    @property
    def conversations(self) -> int:
        """The most conversations whose messages are encoded."""
        return 60 if self.quick else 1000

    @property
    def requests(self) -> int:
        """The most conversations that are requests."""
        return 30 if self.quick else 120

    @property
    def longest(self) -> int:
        """The bytes of the longest text."""
        return 1_000_000 if self.quick else 10_000_000

    @property
    def patience(self) -> float:
        """After this many seconds for one text, no longer one of its kind is tried."""
        return 2.0 if self.quick else 4.0
