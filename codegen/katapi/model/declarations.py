"""Vocabularies, tokenizers, serializations and budgets as they are meant."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from katapi.language.source import Span


@dataclass(frozen=True, slots=True)
class Identity:
    """The name and version of a declaration."""

    name: str
    version: str

    def __str__(self) -> str:
        return f"{self.name}@{self.version}"


@dataclass(frozen=True, slots=True)
class ControlToken:
    """An id that only a template may place, the template's name for it, and how it is spelled in text."""

    id: int
    name: str
    spelling: str
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class OrdinaryToken:
    """A token of a vocabulary that is written out in the spec."""

    id: int
    text: str
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The ids of a model: control tokens by name, ordinary tokens from an artifact or written out."""

    identity: Identity
    artifact: str | None
    controls: tuple[ControlToken, ...]
    texts: tuple[OrdinaryToken, ...]
    unknown: OrdinaryToken | None
    span: Span

    def control(self, name: str) -> ControlToken | None:
        """The control token of a name (without `@`)."""
        return next((c for c in self.controls if c.name == name), None)


class Normalizer(Enum):
    """What happens to the text of a run before it is split."""

    NONE = "none"
    NFC = "nfc"


class Segmentation(Enum):
    """How a piece becomes tokens."""

    LONGEST_MATCH = "longest_match"
    BPE_BYTES = "bpe bytes"


class Decoding(Enum):
    """How ids become text again."""

    CONCAT = "concat"
    BYTES = "bytes"


class Behaviour(Enum):
    """What becomes of the matches of a pre-tokenizer's pattern."""

    ISOLATED = "isolated"


@dataclass(frozen=True, slots=True)
class Split:
    """One pattern of a pre-tokenizer."""

    regex: str
    behaviour: Behaviour
    span: Span


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """The four stages of a tokenizer and its decoder.

    `unicode` is the version of the character classes in its patterns, `normalizer_unicode` that of its normalizer's
    data: official tokenizers pin two.
    """

    identity: Identity
    unicode: str | None
    normalizer: Normalizer
    normalizer_unicode: str | None
    splits: tuple[Split, ...]
    segmentation: Segmentation
    decoding: Decoding
    span: Span


class KeyOrder(Enum):
    """The order in which the keys of an object are written."""

    AS_RECEIVED = "as_received"
    SORTED = "sorted"


class Escape(Enum):
    """Which characters of a text are escaped: what JSON demands, or all beyond ASCII as well."""

    MINIMAL = "minimal"
    ASCII = "ascii"


@dataclass(frozen=True, slots=True)
class Serialization:
    """How a JSON value is written."""

    identity: Identity
    order: KeyOrder
    item_separator: str
    key_separator: str
    escape: Escape
    indent: int | None


@dataclass(frozen=True, slots=True)
class Budget:
    """A window, the output reserved in it, and rejection of what does not fit."""

    identity: Identity
    window: int
    reserve: int
