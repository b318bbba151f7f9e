"""A tokenizer's rules: every stage with its settings, in the form that artifact readers give and `build.py` takes.

Each stage is a frozen dataclass, and the kinds of a stage are a closed union, so that what works on them can match all
of them. The names are those of tokenizer.json, whose stages are the most general of the formats; readers of other
formats say the same in these words. Nested sequences are written flat: they mean the same.

What the rules are about, tokens and merges and scores, is no part of this: see `vocabulary_data.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from katapi.runtime.dataclass import dataclass
from katapi.runtime.patterns.syntax import Dialect
from katapi.runtime.tokenization.options import Behaviour as Behaviour
from katapi.runtime.tokenization.options import NormalForm as NormalForm
from katapi.runtime.tokenization.options import PrependScheme as PrependScheme

# ---- patterns


@dataclass(frozen=True)
class Verbatim:
    """A pattern that matches one text, `text`, wherever it stands."""

    text: str


@dataclass(frozen=True)
class Regex:
    """A regular expression, `source`, in the dialect of the format's own implementation, `dialect`."""

    source: str
    dialect: Dialect


Pattern: TypeAlias = Verbatim | Regex
"""What a stage looks for."""


# ---- normalizers


@dataclass(frozen=True)
class Normalize:
    """Brings text into the normalization form `form` (Unicode Standard Annex #15)."""

    form: NormalForm


@dataclass(frozen=True)
class Lowercase:
    """Maps text to lower case."""


@dataclass(frozen=True)
class StripAccents:
    """Leaves out combining marks."""


@dataclass(frozen=True)
class Nmt:
    """SentencePiece's cleaning for machine translation: controls go, odd spaces become spaces."""


@dataclass(frozen=True)
class Replace:
    """Puts `content` in the place of every match of `pattern`."""

    pattern: Pattern
    content: str


@dataclass(frozen=True)
class Prepend:
    """Puts `text` in front of a text that is not empty."""

    text: str


@dataclass(frozen=True)
class Strip:
    """Takes white space off the ends, as `left` and `right` say."""

    left: bool
    right: bool


@dataclass(frozen=True)
class BertNormalize:
    """BERT's (Devlin et al. 2019), each step where its flag says so.

    Controls go (`clean_text`), spaces round Chinese characters (`handle_chinese_chars`), no accents (`strip_accents`;
    None: as `lowercase` says), lower case (`lowercase`).
    """

    clean_text: bool
    handle_chinese_chars: bool
    strip_accents: bool | None
    lowercase: bool


@dataclass(frozen=True)
class Precompiled:
    """The vocabulary's character map as `tokenizers` applies it: to grapheme clusters, then to characters."""


@dataclass(frozen=True)
class CharacterMap:
    """The vocabulary's character map as SentencePiece applies it: the longest rule that matches, from left to right."""


@dataclass(frozen=True)
class Spaces:
    """SentencePiece's spaces: written as `mark`, one more where `dummy` says so, in front, or with `behind` at the end.

    `remove_extra` leaves out spaces at both ends, and all but one in a row.
    """

    dummy: bool
    remove_extra: bool
    mark: str
    behind: bool


Normalizer: TypeAlias = (
    Normalize
    | Lowercase
    | StripAccents
    | Nmt
    | Replace
    | Prepend
    | Strip
    | BertNormalize
    | Precompiled
    | CharacterMap
    | Spaces
)
"""A stage that rewrites text: the first of the four stages in section 1.5 of the chapter."""


# ---- pre-tokenizers


@dataclass(frozen=True)
class Split:
    """Cuts at `pattern`, with `invert` at what lies between the matches, which become what `behaviour` says."""

    pattern: Pattern
    behaviour: Behaviour
    invert: bool


@dataclass(frozen=True)
class ByteLevel:
    """GPT-2's (Radford et al. 2019): tokens that are bytes.

    Before that a space in front where there is none (`add_prefix_space`), and the cut by GPT-2's own pattern
    (`use_regex`).
    """

    add_prefix_space: bool
    use_regex: bool


@dataclass(frozen=True)
class Metaspace:
    """Writes spaces as `replacement`, puts one in front by `scheme`, and cuts before each where `split` says so."""

    replacement: str
    scheme: PrependScheme
    split: bool


@dataclass(frozen=True)
class Digits:
    """Cuts numerals off, each by itself (`individual`) or in runs."""

    individual: bool


@dataclass(frozen=True)
class Punctuation:
    """Cuts at punctuation, each character a match that becomes what `behaviour` says."""

    behaviour: Behaviour


@dataclass(frozen=True)
class Whitespace:
    r"""Keeps the matches of `\w+|[^\w\s]+`."""


@dataclass(frozen=True)
class WhitespaceSplit:
    """Cuts at white space, which goes."""


@dataclass(frozen=True)
class BertPreTokenize:
    """BERT's: cuts at white space, which goes, and round each punctuation character (Devlin et al. 2019)."""


PreTokenizer: TypeAlias = (
    Split | ByteLevel | Metaspace | Digits | Punctuation | Whitespace | WhitespaceSplit | BertPreTokenize
)
"""A stage that cuts text: the second of the four."""


# ---- segmentation


@dataclass(frozen=True)
class LongestMatch:
    """The longest token first, from left to right in the whole text: the fixture of the chapter, section 1.6."""


@dataclass(frozen=True)
class BytePairRanks:
    """Byte-pair encoding over bytes by ranks, as in tiktoken: the pair that makes the token of the lowest id merges.

    Sennrich et al. 2016, over bytes as in Radford et al. 2019.
    """


@dataclass(frozen=True, kw_only=True)
class BytePairMerges:
    """Byte-pair encoding by a list of merges: what tokenizer.json says of a BPE model beside tokens and merges.

    A character that is no token is the unknown token, or without one is left out (Sennrich et al. 2016).
    """

    over_bytes: bool
    """Pieces are taken apart into bytes, otherwise into characters."""
    ignore_merges: bool = False
    """A piece that is a token is that token, whatever the merges say."""
    byte_fallback: bool = False
    """A character that is no token becomes the tokens "<0x00>" to "<0xFF>" of its bytes, if they are all there."""
    fuse_unknown: bool = False
    """Unknown characters that follow one another are one unknown token."""
    continuing_prefix: str = ""
    """`continuing_subword_prefix`: stands before every symbol in the vocabulary that does not begin a piece."""
    word_suffix: str = ""
    """`end_of_word_suffix`: stands behind the symbol that ends a piece."""


@dataclass(frozen=True)
class BytePairScores:
    """Byte-pair encoding over characters by scores: the pair of the highest score merges (Kudo and Richardson 2018).

    With `byte_fallback` a character that is no token becomes the tokens "<0x00>" to "<0xFF>" of its bytes.
    """

    byte_fallback: bool


@dataclass(frozen=True)
class Unigram:
    """The segmentation of the highest score (Kudo 2018); `byte_fallback` as in `BytePairScores`.

    `binary32` keeps sums as SentencePiece does, otherwise in binary64.
    """

    byte_fallback: bool
    binary32: bool


@dataclass(frozen=True)
class WordPiece:
    """The longest token first, from left to right within a word (Schuster and Nakajima 2012, Devlin et al. 2019).

    `continuing_prefix` marks tokens that do not begin a word; a word of more than `longest_word` characters is unknown.
    """

    continuing_prefix: str
    longest_word: int


Segmentation: TypeAlias = LongestMatch | BytePairRanks | BytePairMerges | BytePairScores | Unigram | WordPiece
"""How a piece becomes tokens: the third of the four stages."""


# ---- post-processing


@dataclass(frozen=True)
class Frame:
    """Which ids stand `before` and `behind` a single sequence: all that a post-processor, the fourth stage, does."""

    before: tuple[int, ...] = ()
    behind: tuple[int, ...] = ()


# ---- decoders


@dataclass(frozen=True)
class DecodeBytes:
    """Joins the bytes of tokens (`ByteLevel`)."""


@dataclass(frozen=True)
class DecodeByteFallback:
    """Turns runs of the tokens "<0x00>" to "<0xFF>" into the characters that their bytes spell."""


@dataclass(frozen=True)
class DecodeMetaspace:
    """Turns `replacement` into a space, the one in front into nothing unless `scheme` is `NEVER`."""

    replacement: str
    scheme: PrependScheme


@dataclass(frozen=True)
class DecodeWordPiece:
    """Joins words with spaces, what `prefix` marks without; `cleanup` takes spaces off before punctuation."""

    prefix: str
    cleanup: bool


@dataclass(frozen=True)
class DecodeSuffix:
    """Turns `suffix`, which ends a word, into a space (`BPEDecoder`)."""

    suffix: str


@dataclass(frozen=True)
class DecodeReplace:
    """Puts `content` in the place of every match of `pattern` within a token."""

    pattern: Pattern
    content: str


@dataclass(frozen=True)
class DecodeStrip:
    """Takes up to `start` and `stop` times the character `content` off the ends."""

    content: str
    start: int
    stop: int


@dataclass(frozen=True)
class Fuse:
    """Joins all tokens to one text for the decoders that follow."""


@dataclass(frozen=True)
class Spaced:
    """Joins tokens with a space between: what tokenizer.json means by no decoder."""


Decoder: TypeAlias = (
    DecodeBytes
    | DecodeByteFallback
    | DecodeMetaspace
    | DecodeWordPiece
    | DecodeSuffix
    | DecodeReplace
    | DecodeStrip
    | Fuse
    | Spaced
)
"""A stage on the way back, from tokens to text."""


# ---- the whole


@dataclass(frozen=True)
class UnicodeVersions:
    """Which version of the Unicode Character Database each kind of data is taken from.

    The defaults are those of tokenizers 0.23.3, whose parts come with data of different ages:

    - `patterns`: classes and white space in regular expressions, and white space elsewhere (Oniguruma 6.9.10);
    - `normalization`: normalization forms and combining marks (the crate unicode-normalization-alignments 0.1.12);
    - `characters`: lower case and numerals (the standard library of Rust);
    - `categories`: punctuation, controls and accents of BERT's stages (the crate unicode_categories 0.1.1);
    - `graphemes`: grapheme clusters, for SentencePiece's character map (the crate unicode-segmentation 1.13).
    """

    patterns: str = "16.0"
    normalization: str = "9.0"
    characters: str = "17.0"
    categories: str = "8.0"
    graphemes: str = "17.0"


@dataclass(frozen=True)
class AddedToken:
    """A token beside the model's own, with the settings by which an official tokenizer looks for it in text.

    Katapi never looks for one. A `control` token is one that no text may yield in any other way either. `id` and
    `content`, its spelling, are what counts; `special`, `normalized`, `lstrip`, `rstrip` and `single_word` are kept as
    tokenizer.json has them.
    """

    id: int
    content: str
    control: bool
    special: bool = True
    normalized: bool = False
    lstrip: bool = False
    rstrip: bool = False
    single_word: bool = False

    @classmethod
    def of_file(
        cls,
        id: int,
        content: str,
        *,
        special: bool,
        normalized: bool = False,
        lstrip: bool = False,
        rstrip: bool = False,
        single_word: bool = False,
    ) -> AddedToken:
        """From a file, which does not say whether a token is a control token.

        A single character and a run of white space are text, unless the file calls them special: many add the line
        break, or spaces in a row, as tokens.
        """
        control = special or not (len(content) == 1 or content.replace("▁", " ").isspace())
        return cls(id, content, control, special, normalized, lstrip, rstrip, single_word)


def added_tokens(control: Mapping[int, str], text: Mapping[int, str] | None = None) -> tuple[AddedToken, ...]:
    """Tokens beside the model's own, by id: those that only a template may place, and those that are text."""
    return (
        *(AddedToken(token, content, control=True) for token, content in control.items()),
        *(AddedToken(token, content, control=False) for token, content in (text or {}).items()),
    )


@dataclass(frozen=True)
class TokenizerConfiguration:
    """All stages of one tokenizer, in the order in which text, and then ids, pass them.

    `normalizers`, `pretokenizers`, `segmentation` and `frame` make ids of text, `decoders` text of ids. `unknown` is
    the id of what is no token, `added_tokens` are those beside the model's own, and `unicode` says which data the
    stages use.
    """

    normalizers: tuple[Normalizer, ...]
    pretokenizers: tuple[PreTokenizer, ...]
    segmentation: Segmentation
    frame: Frame
    decoders: tuple[Decoder, ...]
    unknown: int | None = None
    added_tokens: tuple[AddedToken, ...] = ()
    unicode: UnicodeVersions = UnicodeVersions()
