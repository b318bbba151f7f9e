"""The compiled engines of tokenizers that cut text by no pattern: byte-pair encoding over characters, unigram, WordPiece.

Which of them a configuration has, what their tables are derived from, and in what form they take text. Where there is
none, `NotDerivable` says why. The modules that run compiled are imported here where they are needed, so that this one
can be imported without them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.compiled import EngineForm
from katapi.runtime.tokenization import configuration as c
from katapi.runtime.tokenization.aligned import AlignedText
from katapi.runtime.tokenization.engine import NOT_COMPILED, PieceEngine
from katapi.runtime.tokenization.options import PrependScheme
from katapi.runtime.tokenization.stages import Normalizer
from katapi.runtime.tokenization.tokens import Tokens
from katapi.runtime.tokenization.vocabulary_data import VocabularyData

if TYPE_CHECKING:
    from typing_extensions import Buffer

PENALTY: Final = 10.0
"""How much less than the lowest score an unknown character scores."""
_PACKAGE: Final = "katapi.runtime.native"
_BYTE_PAIRS: Final = ("merging", "byte_pairs", "trie", "tables")
MODULES: Final = {
    kind: tuple(f"{_PACKAGE}.{name}" for name in (*_BYTE_PAIRS, *names))
    for kind, names in {
        c.BytePairMerges: ("character_pairs", "character_tables"),
        c.BytePairScores: ("character_pairs", "character_tables"),
        c.Unigram: ("character_pairs", "character_tables", "words", "word_tables", "unigram"),
        c.WordPiece: ("words", "word_tables", "word_pieces"),
    }.items()
}
"""The compiled modules that a segmentation needs."""
_MARK: Final = "▁"  # how vocabularies write a space


class Encoder(Protocol):
    """A compiled encoder; it keeps memory from one text to the next, so only one thread at a time may use it."""

    @property
    def out(self) -> Buffer:
        """The ids of the last text, int32, and anything behind them."""
        ...

    def encode(self, text: str) -> int:
        """Encodes a text, and gives the number of ids."""
        ...


Form: TypeAlias = "Callable[[str, bool], str | None]"
"""A text, and whether the input begins with it, in the form that an encoder takes; None where only the pure can."""


class UnpatternedEngine:
    """Encodes in compiled code; `pure` is the same engine in pure Python, which finds the spans.

    Safe to share between threads: each call has an encoder of its own, of those that no other call has.
    """

    def __init__(self, pure: PieceEngine, encoder: Callable[[], Encoder], form: Form, modules: tuple[str, ...]) -> None:
        self.form = EngineForm("compiled", modules, "the extensions are there")
        self._pure = pure
        self._new = encoder
        self._form = form
        self._idle: list[Encoder] = []

    @property
    def positional(self) -> bool:
        """Whether the ids depend on `first`."""
        return self._pure.positional

    def encode(self, text: str, first: bool) -> list[int]:
        """The ids of a normalized text."""
        own = self._form(text, first)
        if own is None:
            return self._pure.encode(text, first)
        encoder = self._taken()
        count = encoder.encode(own)
        ids = memoryview(encoder.out)[:count].tolist()
        self._idle.append(encoder)
        return ids

    def encode_array(self, text: str, first: bool) -> NDArray[np.int32]:
        """The same as int32 of shape [n]."""
        own = self._form(text, first)
        if own is None:
            return self._pure.encode_array(text, first)
        encoder = self._taken()
        count = encoder.encode(own)
        ids = np.frombuffer(encoder.out, dtype=np.int32, count=count).copy()
        self._idle.append(encoder)
        return ids

    def count(self, text: str, first: bool) -> int:
        """How many they are."""
        own = self._form(text, first)
        if own is None:
            return self._pure.count(text, first)
        encoder = self._taken()
        count = encoder.encode(own)
        self._idle.append(encoder)
        return count

    def encode_aligned(self, text: AlignedText, first: bool) -> tuple[list[int], NDArray[np.int64]]:
        """The same, and the source of each token: int64 of shape [n, 2], half-open ranges of bytes."""
        return self._pure.encode_aligned(text, first)

    def _taken(self) -> Encoder:
        """An encoder that no other call has; one that fails in a call does not come back."""
        try:
            return self._idle.pop()
        except IndexError:
            return self._new()


class InSpaces:
    """A normalizer that writes spaces as marks, for an encoder that takes spaces: it leaves them, and `whole` aligns."""

    def __init__(self, whole: Normalizer, prefix: str) -> None:
        self._whole = whole
        self._prefix = prefix

    def normalize(self, text: str) -> str:
        """The text with spaces for marks."""
        return self._prefix + text.replace(_MARK, " ") if text else text

    def align(self, text: AlignedText) -> AlignedText:
        """The normalized text, with the source of each character."""
        return self._whole.align(text)


def in_spaces(rules: c.TokenizerConfiguration, whole: Normalizer) -> Normalizer | None:
    """What stands in for the normalizer of a tokenizer whose encoder takes spaces for marks; None where nothing can."""
    match rules.normalizers:
        case (c.Replace(c.Verbatim(" "), "▁"),):
            return InSpaces(whole, "")
        case (c.Prepend("▁"), c.Replace(c.Verbatim(" "), "▁")):
            return InSpaces(whole, " ")
        case _:
            return None


def unpatterned(
    rules: c.TokenizerConfiguration, data: VocabularyData, pure: PieceEngine, *, spaces: bool
) -> UnpatternedEngine:
    """The compiled engine of a tokenizer, over the tokens that text can yield; `spaces`: of texts as `in_spaces` has.

    Raises `NotDerivable` where there is none.
    """
    match rules.segmentation:
        case c.BytePairMerges() | c.BytePairScores():
            form = _form_of_runs(rules.pretokenizers, spaces)
            encoder = _character_pairs(rules, data)
        case c.Unigram():
            words = _marks_words(rules.pretokenizers)
            form = _as_it_is if words else _form_of_runs(rules.pretokenizers, spaces)
            encoder = _unigram(rules, data, words=words)
        case c.WordPiece():
            form, encoder = _as_it_is, _word_pieces(rules, data)
        case _:
            raise _not_derivable(NOT_COMPILED)
    return UnpatternedEngine(pure, encoder, form, MODULES[type(rules.segmentation)])


# ---- the form of texts


def _as_it_is(text: str, first: bool) -> str:
    return text


def _as_spaces(text: str, first: bool) -> str | None:
    """Marks become spaces; spaces among them are no marks, and such a text is rare."""
    return None if " " in text else text.replace(_MARK, " ")


def _form_of_runs(stages: tuple[c.PreTokenizer, ...], spaces: bool) -> Form:
    """That of texts which are not cut, but may get a mark in front."""
    match stages:
        case ():
            return _as_it_is if spaces else _as_spaces
        case (c.Split(c.Verbatim(" "), invert=False),):  # there are none
            return _as_it_is if spaces else _as_spaces
        case (c.Metaspace("▁", scheme, split=False),):

            def marked(text: str, first: bool) -> str:
                text = text.replace(_MARK, " ")
                puts = scheme is PrependScheme.ALWAYS or (first and scheme is PrependScheme.FIRST)
                return " " + text if puts and text and text[0] != " " else text

            return marked
        case _:
            raise _not_derivable("its pre-tokenizers have no compiled form")


# ---- the encoders


def _character_pairs(rules: c.TokenizerConfiguration, data: VocabularyData) -> Callable[[], Encoder]:
    from katapi.runtime.native.character_pairs import CharacterPairEncoder
    from katapi.runtime.native.character_tables import CharacterVocabulary, derive_characters

    segmentation = rules.segmentation
    merges, order = b"", b""
    match segmentation:
        case c.BytePairMerges(over_bytes=False, ignore_merges=False, continuing_prefix="", word_suffix=""):
            merges = data.merges.astype("<i4").tobytes()
        case c.BytePairScores():
            from katapi.runtime.tokenization.scored_pieces import ranks_of

            assert rules.unknown is not None
            data = data.hiding({rules.unknown})
            order = np.array(ranks_of(data.scores), dtype="<i4").tobytes()
        case _:
            raise _not_derivable("it merges other symbols than characters")
    if not segmentation.byte_fallback:
        raise _not_derivable("it has no tokens for bytes")
    joined, bounds, reachable = _in_spaces(data)
    vocabulary = CharacterVocabulary(joined, bounds, reachable, _byte_tokens(data.byte_tokens), merges, order)
    tables = derive_characters(vocabulary)
    return lambda: CharacterPairEncoder(tables)


def _unigram(rules: c.TokenizerConfiguration, data: VocabularyData, *, words: bool) -> Callable[[], Encoder]:
    from katapi.runtime.native.unigram import UnigramEncoder
    from katapi.runtime.native.word_tables import word_tables

    segmentation, unknown = rules.segmentation, rules.unknown
    assert isinstance(segmentation, c.Unigram)
    if unknown is None:
        raise _not_derivable("it has no unknown token")
    tables = word_tables(*_in_spaces(data), b"")
    tables |= _class_tables(_classes(rules) if words else None)
    tables["scores"] = data.scores.astype("<f8").tobytes()
    tables["byte_tokens"] = _byte_tokens(data.byte_tokens if segmentation.byte_fallback else [None] * 256)
    score, single = data.lowest - PENALTY, segmentation.binary32
    return lambda: UnigramEncoder(tables, unknown, score, words, single)


def _word_pieces(rules: c.TokenizerConfiguration, data: VocabularyData) -> Callable[[], Encoder]:
    from katapi.runtime.native.word_pieces import WordPieceEncoder
    from katapi.runtime.native.word_tables import word_tables

    segmentation, unknown = rules.segmentation, rules.unknown
    assert isinstance(segmentation, c.WordPiece) and unknown is not None
    classes = _classes(rules)
    if classes is None:
        raise _not_derivable("its pre-tokenizers have no compiled form")
    tokens = data.tokens
    prefix = segmentation.continuing_prefix.encode()
    tables = word_tables(_padded(tokens.joined), tokens.bounds.astype("<i4").tobytes(), _bits(data), prefix)
    tables |= _class_tables(classes)
    longest = segmentation.longest_word
    return lambda: WordPieceEncoder(tables, unknown, longest)


# ---- what the tables are derived from


def _in_spaces(data: VocabularyData) -> tuple[bytes, bytes, bytes]:
    """The bytes of all tokens with spaces for marks, where each begins, and which text can yield.

    A token that holds a space beside is none of those: to texts in this form it would be alike to another.
    """
    joined, bounds = data.tokens.joined, data.tokens.bounds
    mark = _MARK.encode()
    letters = np.frombuffer(joined + bytes(len(mark)), dtype=np.uint8)
    marks = letters[: len(joined)] == mark[0]
    for place in range(1, len(mark)):
        marks &= letters[place : place + len(joined)] == mark[place]
    before = np.concatenate([[0], np.cumsum(marks)])
    shorter = bounds - (len(mark) - 1) * before[bounds]
    reachable = data.is_reachable()
    with_space = np.searchsorted(bounds, np.flatnonzero(letters[: len(joined)] == ord(" ")), side="right") - 1
    reachable[with_space] = False
    return _padded(joined.replace(mark, b" ")), shorter.astype("<i4").tobytes(), reachable.astype(np.uint8).tobytes()


def _bits(data: VocabularyData) -> bytes:
    return data.is_reachable().astype(np.uint8).tobytes()


def _padded(joined: bytes) -> bytes:
    return joined + b"\xff" * 16  # as `tables.PAD`: tokens are read eight bytes at a time


def _byte_tokens(tokens: list[int | None]) -> bytes:
    return np.array([-1 if token is None else token for token in tokens], dtype="<i4").tobytes()


def _marks_words(stages: tuple[c.PreTokenizer, ...]) -> bool:
    """Whether text is cut into words that begin with a mark."""
    match stages:
        case (c.Metaspace("▁", PrependScheme.ALWAYS, split=True),):
            return True
        case (c.WhitespaceSplit(), c.Metaspace("▁", PrependScheme.ALWAYS, split=True)):
            return True
        case _:
            return False


def _classes(rules: c.TokenizerConfiguration) -> NDArray[np.uint8] | None:
    """The class of each code point, as `katapi.runtime.native.words` has them; None where text is not cut so."""
    from katapi.runtime.tokenization.character_splits import ASCII_PUNCTUATION
    from katapi.runtime.unicode import tables

    gap, mark, alone = 1, 2, 3
    classes = np.zeros(0x110000, dtype=np.uint8)
    if _marks_words(rules.pretokenizers):
        classes[ord(_MARK)] = mark
        if len(rules.pretokenizers) == 1:
            classes[ord(" ")] = mark
            return classes
    elif rules.pretokenizers == (c.BertPreTokenize(),):
        for first, last in tables.general_category("P", rules.unicode.categories).ranges:
            classes[first : last + 1] = alone
        classes[[*map(ord, ASCII_PUNCTUATION.replace("\\", "")), ord("\\")]] = alone
    elif rules.pretokenizers != (c.WhitespaceSplit(),):
        return None
    tables.need_version("patterns", rules.unicode.patterns)
    for first, last in tables.WHITE_SPACE.ranges:
        classes[first : last + 1] = gap
    return classes


def _class_tables(classes: NDArray[np.uint8] | None) -> dict[str, bytes]:
    from katapi.runtime.native.classes import tables_of_classes

    if classes is None:
        return dict.fromkeys(("leads", "pages", "kinds"), b"")
    return tables_of_classes(classes, 4)


def _not_derivable(reason: str) -> Exception:
    from katapi.runtime.native.tables import NotDerivable

    return NotDerivable(reason)
