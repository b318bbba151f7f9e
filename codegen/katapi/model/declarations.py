"""Vocabularies, tokenizers, serializations and budgets as they are meant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from katapi.language.source import Span
from katapi.runtime.budget.policy import Budget as Policy
from katapi.runtime.tokenization import configuration as c
from katapi.runtime.tokenization.counted import counted


@dataclass(frozen=True, slots=True)
class Identity:
    """The name and version of a declaration."""

    name: str
    version: str

    def __str__(self) -> str:
        return f"{self.name}@{self.version}"


@dataclass(frozen=True, slots=True)
class TokenFlags:
    """The settings by which an official tokenizer looks for an added token in text, named as in tokenizer.json."""

    special: bool = True
    normalized: bool = False
    lstrip: bool = False
    rstrip: bool = False
    single_word: bool = False


@dataclass(frozen=True, slots=True)
class ControlToken:
    """An id that only a template may place, the template's name for it, and how it is spelled in text."""

    id: int
    name: str
    spelling: str
    span: Span = field(compare=False, repr=False)
    flags: TokenFlags = TokenFlags()


@dataclass(frozen=True, slots=True)
class AddedToken:
    """A token beside the model's own that is text."""

    id: int
    text: str
    span: Span = field(compare=False, repr=False)
    flags: TokenFlags = TokenFlags()


@dataclass(frozen=True, slots=True)
class TokenRange:
    """Tokens in a row that no template names; `pattern` is as `counted` takes it."""

    first: int
    last: int
    pattern: str
    span: Span = field(compare=False, repr=False)
    flags: TokenFlags = TokenFlags()

    def spellings(self) -> dict[int, str]:
        """The spelling of each id."""
        return counted(self.first, self.last, self.pattern)


@dataclass(frozen=True, slots=True)
class UnusedIds:
    """Ids that no token has."""

    first: int
    last: int
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class OrdinaryToken:
    """A token of a vocabulary that is written out in the spec."""

    id: int
    text: str
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Artifact:
    """A row of `artifacts.lock`, and the digest that the spec asks of it.

    `bare`: the added tokens that the file lists are not those of the vocabulary.
    """

    name: str
    sha256: str | None
    bare: bool
    span: Span


PAD_NAMES = ("pad", "finetune_right_pad_id", "finetune_right_pad", "endoftext")
"""The names of control tokens that fill a batch, best first."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The ids of a model: control tokens by name, ordinary tokens from an artifact or written out.

    `reserved` are control tokens without a name, `added` tokens beside the model's own that are text. `unknown` stands
    for text that no token spells; it may be one of the control tokens. `unused` are ids that no token has, `size` is
    how many rows the model's embedding has, where the spec says so.
    """

    identity: Identity
    artifact: Artifact | None
    controls: tuple[ControlToken, ...]
    reserved: tuple[TokenRange, ...]
    added: tuple[AddedToken | TokenRange, ...]
    texts: tuple[OrdinaryToken, ...]
    unknown: OrdinaryToken | None
    unused: tuple[UnusedIds, ...]
    size: int | None
    span: Span

    def control(self, name: str) -> ControlToken | None:
        """The control token of a name (without `@`)."""
        return next((c for c in self.controls if c.name == name), None)

    @property
    def pad(self) -> ControlToken | None:
        """The control token that fills the short rows of a batch; None where no name says which."""
        named = map(self.control, PAD_NAMES)
        return next((control for control in named if control is not None), None)

    def control_spellings(self) -> dict[int, str]:
        """The spelling of every id that no text yields."""
        out = {control.id: control.spelling for control in self.controls}
        for row in self.reserved:
            out |= row.spellings()
        return out

    @property
    def spelled_unknown(self) -> OrdinaryToken | None:
        """The unknown token where it is one of an artifact's own, so that text can spell it."""
        if self.artifact is None or self.unknown is None or self.unknown.id in self.control_spellings():
            return None
        return self.unknown

    def added_texts(self) -> dict[int, str]:
        """The text of every added token that is text, and of an unknown token that is text."""
        out: dict[int, str] = {}
        for row in self.added:
            out |= row.spellings() if isinstance(row, TokenRange) else {row.id: row.text}
        if self.spelled_unknown is not None:
            out[self.spelled_unknown.id] = self.spelled_unknown.text
        return out


@dataclass(frozen=True, slots=True)
class DeclaredPattern:
    """A regular expression of a stage, and where it stands: at the opening backquote."""

    source: str
    span: Span


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """The stages of a tokenizer and its decoder, as the runtime takes them.

    `unicode` gives the version of each kind of Unicode data that a stage needs, by the names of `UnicodeVersions`.
    `before` and `behind` are what the post-processor puts around a single sequence.
    """

    identity: Identity
    unicode: Mapping[str, str]
    normalizers: tuple[c.Normalizer, ...]
    pretokenizers: tuple[c.PreTokenizer, ...]
    segmentation: c.Segmentation
    before: tuple[ControlToken, ...]
    behind: tuple[ControlToken, ...]
    decoders: tuple[c.Decoder, ...]
    patterns: tuple[DeclaredPattern, ...]
    span: Span

    def configuration(self) -> c.TokenizerConfiguration:
        """The stages, without what the vocabulary adds to them."""
        return c.TokenizerConfiguration(
            normalizers=self.normalizers,
            pretokenizers=self.pretokenizers,
            segmentation=self.segmentation,
            frame=c.Frame(tuple(token.id for token in self.before), tuple(token.id for token in self.behind)),
            decoders=self.decoders,
            unicode=c.UnicodeVersions(**self.unicode),
        )


class KeyOrder(Enum):
    """The order in which the keys of an object are written."""

    AS_RECEIVED = "as_received"
    SORTED = "sorted"
    SORTED_CODE_UNITS = "sorted_code_units"
    INDICES_FIRST = "indices_first"


class Escape(Enum):
    """Characters of a text that are escaped beside those that JSON demands."""

    ASCII = "ascii"
    SLASH = "slash"
    HTML = "html"
    LINE_SEPARATORS = "line_separators"
    CONTROLS = "controls"


class LineEnd(Enum):
    """What ends a line of indented JSON."""

    LF = "lf"
    CRLF = "crlf"


@dataclass(frozen=True, slots=True)
class Indent:
    """Each item on a line of its own, so many spaces a level from the margin."""

    spaces: int
    line_end: LineEnd


class Floats(Enum):
    """Whose spelling of a float is written."""

    PYTHON = "python"
    JAVASCRIPT = "javascript"


class Integers(Enum):
    """What becomes of an integer that a 64-bit float may not hold."""

    EXACT = "exact"
    ROUNDED = "rounded"
    SAFE = "safe"


class Nan(Enum):
    """What is written for NaN and the infinities."""

    REJECT = "reject"
    PYTHON = "python"
    NULL = "null"


class AbsentPairs(Enum):
    """What is written for a pair of an object of the template whose value is absent."""

    OMITTED = "omitted"
    NULL = "null"


@dataclass(frozen=True, slots=True)
class Serialization:
    """How a JSON value is written; `like` is the name of the one whose settings it took first.

    `python` is the version of Unicode for the notation of Python, in which only `order` and `absent` mean something;
    None for JSON.
    """

    identity: Identity
    order: KeyOrder
    item_separator: str
    key_separator: str
    indent: Indent | None
    escape: tuple[Escape, ...]
    floats: Floats
    integers: Integers
    nan: Nan
    absent: AbsentPairs
    like: str | None
    span: Span
    python: str | None = None


@dataclass(frozen=True, slots=True)
class Budget:
    """A budget: what it says, as the runtime takes it."""

    identity: Identity
    policy: Policy
    span: Span
