"""The settings of stages that are one of a few words, by themselves: the whole configuration takes longer to import."""

from __future__ import annotations

from enum import Enum


class NormalForm(Enum):
    """A Unicode normalization form (Unicode Standard Annex #15): `NFC`, `NFD`, `NFKC` or `NFKD`."""

    NFC = "NFC"
    NFD = "NFD"
    NFKC = "NFKC"
    NFKD = "NFKD"


class Behaviour(Enum):
    """What becomes of the matches of a pattern; the value is the word in tokenizer.json.

    `REMOVED`: they go. `ISOLATED`: each is a piece. `MERGED_WITH_PREVIOUS` and `MERGED_WITH_NEXT`: each is one piece
    with what stands before or behind it. `CONTIGUOUS`: matches that touch are one piece.
    """

    REMOVED = "Removed"
    ISOLATED = "Isolated"
    MERGED_WITH_PREVIOUS = "MergedWithPrevious"
    MERGED_WITH_NEXT = "MergedWithNext"
    CONTIGUOUS = "Contiguous"


class PrependScheme(Enum):
    """Where Metaspace puts its mark in front.

    `ALWAYS`: before every piece. `FIRST`: only at the beginning of the input. `NEVER`: nowhere.
    """

    ALWAYS = "always"
    FIRST = "first"
    NEVER = "never"
