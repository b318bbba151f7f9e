"""The compiled engines of tokenizers that cut text by no pattern.

These are byte-pair encoding over characters, the unigram model and WordPiece. Here stands which of them a configuration
has, what its tables are derived from, and in what form it takes text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.compiled import EngineForm, why_pure
from katapi.runtime.native.engine import DERIVATION, NativeEngine, NativePlan
from katapi.runtime.tokenization import configuration as c
from katapi.runtime.tokenization.aligned import AlignedText
from katapi.runtime.tokenization.build_stages import build_normalizer
from katapi.runtime.tokenization.engine import NOT_COMPILED
from katapi.runtime.tokenization.normalizers import InTurn
from katapi.runtime.tokenization.options import PrependScheme
from katapi.runtime.tokenization.spaces import Spaces
from katapi.runtime.tokenization.stages import Normalizer
from katapi.runtime.tokenization.surrogates import lone_surrogate
from katapi.runtime.tokenization.vocabulary_data import VocabularyData

if TYPE_CHECKING:
    from katapi.runtime.native.encoder import Encoder
    from katapi.runtime.tokenization.engine import PieceEngine

ENCODER: Final = tuple(f"katapi.runtime.native.{name}" for name in ("merging", "whole_tokens", "encoder"))
"""The compiled modules of every such encoder."""
_MODULES: Final = {
    c.BytePairMerges: ("word_memo", "character_pairs", "character_tables"),
    c.BytePairScores: ("word_memo", "character_pairs", "character_tables"),
    c.Unigram: ("word_memo", "character_pairs", "words", "word_tables", "rewriting", "unigram", "segments"),
    c.WordPiece: ("word_memo", "words", "word_tables", "word_pieces"),
}
_MARK: Final = "▁"  # how vocabularies write a space
_MOST_IDLE: Final = 16  # encoders that are kept; each has some megabytes of memos
_NO_CUT: Final = "its pre-tokenizers have no compiled form"

_T = TypeVar("_T")
Form: TypeAlias = "Callable[[str, bool], str | None]"
"""A text, and whether the input begins with it, in the form that an encoder takes; None where only the pure can."""
Making: TypeAlias = "Callable[[], Callable[[], Encoder]]"
"""Finds or derives tables, and gives what makes encoders with them. Raises `NotDerivable`."""


class NoEngine(Exception):
    """A tokenizer without a compiled engine; the text says why."""


class UnpatternedEngine(NativeEngine):
    """Encodes by compiled code what no pattern cuts.

    Each call has an encoder of its own, which is made when all others are at work, and kept for the next call.
    """

    def __init__(
        self,
        make: Callable[[], Encoder],
        pure: Callable[[], PieceEngine],
        form: EngineForm,
        *,
        text: Form,
        positional: bool,
    ) -> None:
        """`text` gives a text in the form that the encoders take; `pure` as `NativeEngine` takes it."""
        super().__init__(pure, form)
        self._make = make
        self._idle: list[Encoder] = []
        self._text = text
        self._positional = positional

    @property
    def positional(self) -> bool:
        """Whether the ids depend on `first`."""
        return self._positional

    def normalizer(self, whole: Normalizer, stages: tuple[c.Normalizer, ...]) -> Normalizer:
        """One that leaves spaces where `whole` writes marks, if the encoders take them so."""
        return _unmarked(whole, stages)

    def encode(self, text: str, first: bool) -> list[int]:
        """The ids of a normalized text."""
        own = self._text(text, first)
        return self._pure.encode(text, first) if own is None else self._given(own, lambda encoder: encoder.listed(own))

    def encode_array(self, text: str, first: bool) -> NDArray[np.int32]:
        """The same as int32 of shape [n]."""
        own = self._text(text, first)
        if own is None:
            return self._pure.encode_array(text, first)

        def array(encoder: Encoder) -> NDArray[np.int32]:
            count = encoder.encode(own)
            if encoder.view is None:
                encoder.view = np.frombuffer(memoryview(encoder.out), dtype=np.int32)
            return encoder.view[:count].copy()

        return self._given(own, array)

    def encode_bytes(self, text: str, first: bool) -> bytes:
        """The same in the bytes of an int64 array."""
        own = self._text(text, first)
        if own is None:
            return self._pure.encode_bytes(text, first)
        return self._given(own, lambda encoder: encoder.in_bytes(own))

    def count(self, text: str, first: bool) -> int:
        """How many they are."""
        own = self._text(text, first)
        return self._pure.count(text, first) if own is None else self._given(own, lambda encoder: encoder.encode(own))

    def _given(self, text: str, work: Callable[[Encoder], _T]) -> _T:
        """What an encoder makes of a text."""
        try:
            encoder = self._idle.pop()
        except IndexError:
            encoder = self._make()
        try:
            return work(encoder)
        except UnicodeEncodeError as error:
            raise lone_surrogate(text, error.start) from None
        finally:
            if len(self._idle) < _MOST_IDLE:
                self._idle.append(encoder)


class SegmentEngine(UnpatternedEngine):
    """The same by encoders that normalize texts themselves."""

    def __init__(self, make: Callable[[], Encoder], pure: Callable[[], PieceEngine], form: EngineForm) -> None:
        super().__init__(make, pure, form, text=_as_it_is, positional=False)

    @property
    def normalizes(self) -> bool:
        """The encoders do."""
        return True

    def normalizer(self, whole: Normalizer, stages: tuple[c.Normalizer, ...]) -> Normalizer:
        """One that leaves texts as they are, but where the source of each character is asked for."""
        return Later(whole)


class Later:
    """Stands in for a normalizer, `whole`, before an encoder that normalizes texts itself."""

    def __init__(self, whole: Normalizer) -> None:
        self._whole = whole

    def normalize(self, text: str) -> str:
        """The text itself."""
        return text

    def align(self, text: AlignedText) -> AlignedText:
        """The normalized text, with the source of each character."""
        return self._whole.align(text)


class InSpaces:
    """Stands in for a normalizer that writes spaces as marks, `whole`, before an encoder that takes spaces."""

    def __init__(self, whole: Normalizer, prefix: str) -> None:
        self._whole = whole
        self._prefix = prefix

    def normalize(self, text: str) -> str:
        """The text with spaces for marks."""
        return self._prefix + text.replace(_MARK, " ") if text else text

    def align(self, text: AlignedText) -> AlignedText:
        """The normalized text, with the source of each character."""
        return self._whole.align(text)


def _unmarked(whole: Normalizer, stages: tuple[c.Normalizer, ...]) -> Normalizer:
    """What does the work of some normalizers, as `whole` does, but leaves spaces where these write marks."""
    prefix = _prefix_of_spaces(stages)
    if prefix is not None:
        return InSpaces(whole, prefix)
    match whole:
        case Spaces() if _writes_marks(stages):
            return whole.unmarked()
        case InTurn(parts=(*others, Spaces() as last)) if _writes_marks(stages):
            return InTurn(*others, last.unmarked())
        case _:
            return whole


def _prefix_of_spaces(stages: tuple[c.Normalizer, ...]) -> str | None:
    """What normalizers that do nothing but write spaces as marks put in front of a text; None where they do more."""
    match stages:
        case (c.Replace(c.Verbatim(" "), "▁"),):
            return ""
        case (c.Prepend("▁"), c.Replace(c.Verbatim(" "), "▁")):
            return " "
        case _:
            return None


def _writes_marks(stages: tuple[c.Normalizer, ...]) -> bool:
    """Whether the last of some normalizers writes spaces as marks, as SentencePiece does."""
    return bool(stages) and isinstance(stages[-1], c.Spaces) and stages[-1].mark == _MARK


def unpatterned_plan(
    rules: c.TokenizerConfiguration, data: VocabularyData, pure: Callable[[], PieceEngine]
) -> NativePlan | str:
    """Whether a tokenizer runs compiled, or why it does not, as a clause in English; as `native_plan`."""
    names = _MODULES.get(type(rules.segmentation))
    if names is None:
        return NOT_COMPILED
    modules = tuple(f"katapi.runtime.native.{name}" for name in names)
    reason = why_pure(*ENCODER, *DERIVATION, *modules)
    if reason is not None:
        return reason
    try:
        text, made = _parts(rules, data)
    except NoEngine as why:
        return str(why)
    data.tokens.texts()  # or they are no texts
    form = EngineForm("compiled", (*ENCODER, *modules), "its encoder is compiled")
    positional = any(isinstance(one, c.Metaspace) and one.scheme is PrependScheme.FIRST for one in rules.pretokenizers)

    def engine() -> NativeEngine:
        make = made()
        segments = _segments(rules, data)
        if segments is not None:
            return SegmentEngine(lambda: segments(make()), pure, form)
        return UnpatternedEngine(make, pure, form, text=text, positional=positional)

    return NativePlan(form, engine)


def _parts(rules: c.TokenizerConfiguration, data: VocabularyData) -> tuple[Form, Making]:
    """The form in which the encoders take text, and what finds or derives their tables."""
    match rules.segmentation:
        case c.BytePairMerges() | c.BytePairScores():
            return _form_of_runs(rules), _characters(rules, data)
        case c.Unigram():
            words = _marks_words(rules.pretokenizers)
            return _as_it_is if words else _form_of_runs(rules), _unigram(rules, data, words=words)
        case c.WordPiece():
            return _as_it_is, _word_pieces(rules, data)
        case _:
            raise NoEngine(NOT_COMPILED)


# ---- the form of texts


def _as_it_is(text: str, first: bool) -> str:
    return text


def _as_spaces(text: str, first: bool) -> str | None:
    """Marks become spaces; spaces among them are no marks, and such a text is rare."""
    return None if " " in text else text.replace(_MARK, " ")


def _form_of_runs(rules: c.TokenizerConfiguration) -> Form:
    """That of texts which are not cut, but may get a mark in front."""
    spaces = _prefix_of_spaces(rules.normalizers) is not None or _writes_marks(rules.normalizers)
    match rules.pretokenizers:
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
            raise NoEngine(_NO_CUT)


# ---- the encoders and their tables


def _characters(rules: c.TokenizerConfiguration, data: VocabularyData) -> Making:
    segmentation = rules.segmentation
    tokens, merges, order = data.byte_tokens, b"", b""
    match segmentation:
        case c.BytePairMerges(over_bytes=False, ignore_merges=False, continuing_prefix="", word_suffix=""):
            reachable = data.is_reachable()
            tokens = [token if token is not None and reachable[token] else None for token in data.byte_tokens]
            if np.isin(data.merges[:, :2], [token for token in tokens if token is not None]).any():
                raise NoEngine("it merges tokens of bytes")
            merges = data.merges.astype("<i4").tobytes()
        case c.BytePairScores() if rules.unknown is not None and len(data.scores) == len(data.tokens):
            from katapi.runtime.tokenization.scored_pieces import ranks_of

            data = data.hiding({rules.unknown})
            order = np.array(ranks_of(data.scores), dtype="<i4").tobytes()
        case _:
            raise NoEngine("it merges other symbols than characters")
    if not segmentation.byte_fallback:
        raise NoEngine("it has no tokens for bytes")
    byte_tokens = _byte_tokens(tokens)

    def encoder() -> Callable[[], Encoder]:
        from katapi.runtime.native.character_pairs import CharacterPairEncoder
        from katapi.runtime.native.character_tables import CharacterVocabulary, derive_characters

        def derived() -> dict[str, bytes]:
            return derive_characters(CharacterVocabulary(*_in_spaces(data), byte_tokens, merges, order))

        tables = _kept(derived, data, "characters", byte_tokens, merges, order)
        return lambda: CharacterPairEncoder(tables)

    return encoder


def _unigram(rules: c.TokenizerConfiguration, data: VocabularyData, *, words: bool) -> Making:
    segmentation, unknown = rules.segmentation, rules.unknown
    assert isinstance(segmentation, c.Unigram)
    if unknown is None:
        raise NoEngine("it has no unknown token")
    if len(data.scores) != len(data.tokens):
        raise NoEngine("it has not a score for each token")
    single = segmentation.binary32
    classes = _classes(rules) if words else None

    def encoder() -> Callable[[], Encoder]:
        from katapi.runtime.native.unigram import UnigramEncoder
        from katapi.runtime.native.word_tables import word_tables
        from katapi.runtime.tokenization.unigram import unknown_score

        score = unknown_score(data.lowest, binary32=single)
        tables = {
            **_kept(lambda: word_tables(*_in_spaces(data), b""), data, "unigram"),
            **_class_tables(classes),
            "scores": data.scores.astype("<f8").tobytes(),
            "byte_tokens": _byte_tokens(data.byte_tokens if segmentation.byte_fallback else [None] * 256),
        }
        return lambda: UnigramEncoder(tables, unknown, score, words, single)

    return encoder


def _segments(rules: c.TokenizerConfiguration, data: VocabularyData) -> Callable[[Encoder], Encoder] | None:
    """What makes of an encoder of normalized texts one that takes them as they come; None where there is none."""
    segmentation, unknown = rules.segmentation, rules.unknown
    if not isinstance(segmentation, c.Unigram):
        return None
    from katapi.runtime.native.segment_rules import segment_rules
    from katapi.runtime.native.segments import LOWEST, SegmentEncoder
    from katapi.runtime.native.unigram import UnigramEncoder
    from katapi.runtime.tokenization.unigram import unknown_score

    single, mark = segmentation.binary32, data.ranks.get(_MARK.encode())
    score = unknown_score(data.lowest, binary32=single)
    reachable = data.is_reachable()
    known = data.scores[reachable]
    if unknown is None or mark is None or score < LOWEST or score > 0:
        return None
    if reachable[unknown] and (single or sum(data.tokens[unknown] in token for token in data.ranks) != 1):
        return None
    if known.max() > 0 or known.min() < LOWEST or known.min() <= 2 * score:
        return None  # or unknown characters might be better than a token of them all
    if single and _any_behind(data, reachable):
        return None
    segments = segment_rules(rules, data)
    if segments is None:
        return None
    whole = _unmarked(build_normalizer(rules.normalizers, rules.unicode, data.charsmap), rules.normalizers).normalize
    scores = data.scores.astype("<f8")
    scores[unknown] = score
    table = scores.tobytes()
    in_bytes = segmentation.byte_fallback

    def made(model: Encoder) -> Encoder:
        assert isinstance(model, UnigramEncoder)
        cut = segments.kinds, segments.ascii_kinds
        return SegmentEncoder(model, table, unknown, mark, single, in_bytes, whole, segments.spaced, *cut)

    return made


def _any_behind(data: VocabularyData, reachable: NDArray[np.bool_]) -> bool:
    """Whether a token has a mark behind its first character."""
    mark = _MARK.encode()
    return any(mark in token[1:] for token, known in zip(data.tokens, reachable, strict=True) if known)


def _word_pieces(rules: c.TokenizerConfiguration, data: VocabularyData) -> Making:
    segmentation, unknown = rules.segmentation, rules.unknown
    assert isinstance(segmentation, c.WordPiece)
    if unknown is None:
        raise NoEngine("it has no unknown token")
    classes = None if _marks_words(rules.pretokenizers) else _classes(rules)
    if classes is None:
        raise NoEngine(_NO_CUT)
    prefix, longest = segmentation.continuing_prefix.encode(), segmentation.longest_word

    def encoder() -> Callable[[], Encoder]:
        from katapi.runtime.native.word_pieces import WordPieceEncoder
        from katapi.runtime.native.word_tables import word_tables

        def derived() -> dict[str, bytes]:
            return word_tables(_padded(data.tokens.joined), _bounds(data.tokens.bounds), _bits(data), prefix)

        tables = {**_kept(derived, data, "WordPiece", prefix), **_class_tables(classes)}
        return lambda: WordPieceEncoder(tables, unknown, longest)

    return encoder


def _kept(make: Callable[[], dict[str, bytes]], data: VocabularyData, *depends: str | bytes) -> dict[str, bytes]:
    """The tables that `make` derives of the tokens and of what else they depend on, kept in the cache."""
    from katapi.runtime.native.derived import WORTH_KEEPING, kept_tables

    digest = hashlib.sha256(repr([len(data.tokens), *map(len, depends)]).encode())
    for part in (*depends, data.tokens.joined, _bounds(data.tokens.bounds), _bits(data)):
        digest.update(part.encode() if isinstance(part, str) else part)
    return kept_tables(digest.hexdigest(), make, keep=len(data.tokens) >= WORTH_KEEPING)


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
    return _padded(joined.replace(mark, b" ")), _bounds(shorter), reachable.astype(np.uint8).tobytes()


def _bits(data: VocabularyData) -> bytes:
    return data.is_reachable().astype(np.uint8).tobytes()


def _bounds(bounds: NDArray[np.int32]) -> bytes:
    return bounds.astype("<i4").tobytes()


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
