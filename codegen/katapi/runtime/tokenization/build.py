"""A tokenizer from its rules and its data.

Each kind of segmentation is imported where one is declared, since a process needs one or two of them.
"""

from __future__ import annotations

from functools import cache, cached_property
from typing import TYPE_CHECKING, assert_never

from katapi.runtime.errors import ArtifactError
from katapi.runtime.native.engine import ByteLevelEngine, native_plan
from katapi.runtime.tokenization import configuration as c
from katapi.runtime.tokenization.build_stages import build_decoding, build_normalizer, build_pretokenizer
from katapi.runtime.tokenization.byte_alphabet import to_bytes
from katapi.runtime.tokenization.encoding import Encoding
from katapi.runtime.tokenization.engine import NOT_COMPILED, PieceEngine
from katapi.runtime.tokenization.pipeline import PipelineTokenizer
from katapi.runtime.tokenization.post_processors import Bare, Framed
from katapi.runtime.tokenization.stages import Merging, Segmenter
from katapi.runtime.tokenization.tokens import Tokens
from katapi.runtime.tokenization.vocabulary import Vocabulary
from katapi.runtime.tokenization.vocabulary_data import VocabularyData

if TYPE_CHECKING:
    from katapi.runtime.tokenization.parting import Parting


def build_tokenizer(
    configuration: c.TokenizerConfiguration,
    data: VocabularyData,
    *,
    pad_id: int | None = None,
    pure: bool = False,
) -> PipelineTokenizer:
    """The tokenizer of a configuration over the tokens of an artifact; `pad_id` is the token that fills a batch.

    Its engine is the compiled one where there is one, unless the `pure` one is asked for. The compiled one comes with
    the first text, since its tables may have to be derived; errors come at once.

    No text yields a control token: its text is left out of what the model can make. Raises `ArtifactError` A107 and
    A108 where a character map or a pattern cannot be used, A109 where the decoders cannot be put together, A124 where
    there is no Unicode data of a version, and A105, A110, A113 or A114 where the data lacks what the segmentation
    needs.
    """
    frame = configuration.frame
    controls = {token.id for token in configuration.added_tokens if token.control}
    vocabulary = _vocabulary(configuration, data)
    hidden = data.hiding(controls)
    parts = _Pure(configuration, hidden)
    plan = "the pure form was asked for" if pure else native_plan(configuration, hidden, parts.engine)
    inner = tuple(one for one in configuration.normalizers if not isinstance(one, c.Prepend))
    inner_normalizer = normalizer = build_normalizer(configuration.normalizers, configuration.unicode, data.charsmap)
    if inner != configuration.normalizers:
        inner_normalizer = build_normalizer(inner, configuration.unicode, data.charsmap)

    @cache
    def encoding() -> Encoding:
        engine = plan if isinstance(plan, str) else plan.engine()
        if isinstance(engine, str):
            return Encoding(parts.engine(engine), normalizer, inner_normalizer)
        leaves_ascii = all(isinstance(one, c.Normalize) for one in configuration.normalizers)
        kernel = engine.kernel if isinstance(engine, ByteLevelEngine) and leaves_ascii else None
        return Encoding(
            engine,
            engine.normalizer(normalizer, configuration.normalizers),
            engine.normalizer(inner_normalizer, inner),
            kernel=kernel,
            refuses_surrogates=engine.normalizes or kernel is not None,
        )

    def parting() -> Parting:
        from katapi.runtime.tokenization.parting import Parting  # few processes cut a text

        return Parting(configuration, parts.segmenter.seams if isinstance(parts.segmenter, Merging) else None)

    return PipelineTokenizer(
        form=encoding().engine.form if isinstance(plan, str) else plan.form,
        encoding=encoding,
        parting=parting,
        post_processor=Framed(frame.before, frame.behind) if frame.before or frame.behind else Bare(),
        decoding=build_decoding(configuration.decoders, vocabulary, configuration.unicode, pure=pure),
        vocabulary=vocabulary,
        pad_id=pad_id,
    )


class _Pure:
    """The engine in pure Python and its parts, each made when it is asked for."""

    def __init__(self, configuration: c.TokenizerConfiguration, data: VocabularyData) -> None:
        self._configuration = configuration
        self._data = data

    @cached_property
    def segmenter(self) -> Segmenter:
        """What cuts a piece into tokens. Raises `ArtifactError` as `build_segmenter` does."""
        rules = self._configuration
        return build_segmenter(rules.segmentation, self._data, unknown=rules.unknown)

    def engine(self, why: str = NOT_COMPILED) -> PieceEngine:
        """The engine; `why` says why it is this one."""
        rules = self._configuration
        return PieceEngine(build_pretokenizer(rules.pretokenizers, rules.unicode), self.segmenter, why=why)


def build_segmenter(rules: c.Segmentation, data: VocabularyData, *, unknown: int | None) -> Segmenter:
    """The segmenter of some rules; no text yields an id that `data` calls unreachable, but for the unknown token.

    Raises `ArtifactError` where the data does not do for it: A105 a byte that is no token, A110 a token that is no
    text, A113 no unknown token, A114 no scores.
    """
    match rules:
        case c.LongestMatch():
            from katapi.runtime.tokenization.longest_match import LongestMatch

            return LongestMatch(data, unknown=_needed(unknown))
        case c.BytePairRanks():
            from katapi.runtime.tokenization.byte_pairs import BytePairs

            return BytePairs(data)
        case c.BytePairMerges():
            from katapi.runtime.tokenization.merges import Merges

            return Merges(data, rules, unknown=unknown)
        case c.BytePairScores():
            from katapi.runtime.tokenization.scored_pieces import ScoredPieces

            _check_scores(data)
            return ScoredPieces(data, unknown=_needed(unknown), byte_fallback=rules.byte_fallback)
        case c.Unigram():
            from katapi.runtime.tokenization.unigram import Unigram

            _check_scores(data)
            return Unigram(data, unknown=unknown, byte_fallback=rules.byte_fallback, binary32=rules.binary32)
        case c.WordPiece():
            from katapi.runtime.tokenization.wordpiece import WordPiece

            return WordPiece(
                data,
                unknown=_needed(unknown),
                continuing_prefix=rules.continuing_prefix,
                longest_word=rules.longest_word,
            )
        case _:
            assert_never(rules)


def _needed(unknown: int | None) -> int:
    if unknown is None:
        raise ArtifactError(
            "this segmentation needs an unknown token",
            code="A113",
            help="declare which token stands for what is no token",
        )
    return unknown


def _check_scores(data: VocabularyData) -> None:
    if len(data.scores) != len(data.tokens):
        raise ArtifactError(
            f"this segmentation needs a score for each of the {len(data.tokens)} tokens; the vocabulary has "
            f"{len(data.scores)}",
            code="A114",
            help="declare another segmentation, or another vocabulary",
        )


def _vocabulary(configuration: c.TokenizerConfiguration, data: VocabularyData) -> Vocabulary:
    """The bytes of each id, as decoding takes them.

    Where tokens are decoded to bytes, a text of letters of GPT-2's alphabet stands for those bytes, even that of an
    added token, as in the official decoder.
    """
    letters = c.DecodeBytes() in configuration.decoders
    added = {token.id: _spelled(token.content.encode(), letters) for token in configuration.added_tokens}
    tokens = data.tokens
    if letters and not _over_bytes(configuration.segmentation):
        tokens = Tokens.of([_spelled(token, letters) for token in tokens], tokens.gaps)
    return Vocabulary.of(tokens, added)


def _over_bytes(rules: c.Segmentation) -> bool:
    return isinstance(rules, c.BytePairRanks) or (isinstance(rules, c.BytePairMerges) and rules.over_bytes)


def _spelled(token: bytes, letters: bool) -> bytes:
    """The bytes that a token stands for where it may be written in letters."""
    found = to_bytes(token.decode(errors="replace")) if letters else None
    return token if found is None else found
