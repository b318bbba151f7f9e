"""Lower case, a character at a time, over the data of one Unicode version (The Unicode Standard, section 3.13)."""

from __future__ import annotations

from functools import cached_property

from katapi.runtime.dataclass import dataclass


@dataclass(frozen=True, eq=False)
class LowerCase:
    """The characters that change in `version`; `mappings` as `tools/unicode_tables.py` writes it (`41=61 130=69+307`).

    What depends on neighbours is left out: a sigma at the end of a word becomes σ as well, as `char::to_lowercase` of
    the Rust standard library has it.
    """

    version: str
    mappings: str

    @cached_property
    def table(self) -> dict[int, str]:
        """Code point → its lower case, for `str.translate`."""
        pairs = (item.partition("=") for item in self.mappings.split())
        return {int(upper, 16): "".join(chr(int(p, 16)) for p in parts.split("+")) for upper, _, parts in pairs}
