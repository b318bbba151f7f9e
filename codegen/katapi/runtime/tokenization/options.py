"""The settings of stages that are one of a few words, by themselves: the whole configuration takes longer to import."""

from __future__ import annotations

from enum import Enum


class NormalForm(Enum):
    """A Unicode normalization form (Unicode Standard Annex #15)."""

    NFC = "NFC"
    NFD = "NFD"
    NFKC = "NFKC"
    NFKD = "NFKD"


class Behaviour(Enum):
    """What becomes of the matches of a pattern; the value is the word in tokenizer.json."""

    REMOVED = "Removed"
    ISOLATED = "Isolated"
    MERGED_WITH_PREVIOUS = "MergedWithPrevious"
    MERGED_WITH_NEXT = "MergedWithNext"
    CONTIGUOUS = "Contiguous"


class PrependScheme(Enum):
    """Where Metaspace puts its mark in front: before every piece, only at the beginning of the input, or nowhere."""

    ALWAYS = "always"
    FIRST = "first"
    NEVER = "never"
