"""A tokenizer from its configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import TypeVar, assert_never

from katapi.runtime.tokenization import configuration as c
from katapi.runtime.tokenization.build_stages import build_decoding, build_normalizer, build_pretokenizer
from katapi.runtime.tokenization.byte_alphabet import to_bytes
from katapi.runtime.tokenization.byte_pairs import BytePairs
from katapi.runtime.tokenization.engine import PieceEngine
from katapi.runtime.tokenization.longest_match import LongestMatch
from katapi.runtime.tokenization.merges import Merges
from katapi.runtime.tokenization.pipeline import PipelineTokenizer
from katapi.runtime.tokenization.post_processors import Bare, Framed
from katapi.runtime.tokenization.scored_pieces import ScoredPieces
from katapi.runtime.tokenization.stages import Segmenter
from katapi.runtime.tokenization.unigram import Unigram
from katapi.runtime.tokenization.vocabulary import Vocabulary
from katapi.runtime.tokenization.wordpiece import WordPiece

Token = TypeVar("Token", str, bytes)


def build_tokenizer(configuration: c.TokenizerConfiguration) -> PipelineTokenizer:
    """The tokenizer that a configuration describes.

    No text yields a control token: its text is left out of what the model can make. Raises `ArtifactError` where a
    pattern or a character map cannot be used, or a merge has a result that is no token.
    """
    frame = configuration.frame
    vocabulary = Vocabulary.of(_spellings(configuration))
    return PipelineTokenizer(
        normalizer=build_normalizer(configuration.normalizers, configuration.unicode),
        engine=PieceEngine(
            build_pretokenizer(configuration.pretokenizers, configuration.unicode),
            _segmenter(configuration.model, {token.id for token in configuration.added_tokens if token.is_control}),
        ),
        post_processor=Framed(frame.before, frame.behind) if frame.before or frame.behind else Bare(),
        decoding=build_decoding(configuration.decoders, vocabulary, configuration.unicode),
        vocabulary=vocabulary,
    )


def _segmenter(model: c.SegmentationModel, controls: Set[int]) -> Segmenter:
    """The segmenter of a model; no text yields an id in `controls`, but for the unknown token."""
    match model:
        case c.MergedBytes():
            tokens = _without(model.vocabulary, controls)
            prefix = model.rules.continuing_prefix.encode()
            return Merges.of_bytes(tokens, _among(tokens, model.vocabulary, model.merges, prefix), model.rules)
        case c.MergedCharacters():
            texts = _without(model.vocabulary, controls)
            prefix_text = model.rules.continuing_prefix
            return Merges.of_characters(texts, _among(texts, model.vocabulary, model.merges, prefix_text), model.rules)
        case c.RankedBytes():
            ranks = _without(model.ranks, controls)
            return BytePairs(_by_id(ranks), ranks)
        case c.ScoredPieces():
            return ScoredPieces(
                model.tokens,
                unknown=model.unknown,
                byte_fallback=model.byte_fallback,
                unreachable=model.unreachable | controls,
            )
        case c.Unigram():
            return Unigram(
                model.tokens,
                unknown=model.unknown,
                byte_fallback=model.byte_fallback,
                unreachable=model.unreachable | controls,
                single=model.single,
                lowest=model.lowest,
            )
        case c.WordPiece():
            return WordPiece(
                _without(model.vocabulary, controls),
                unknown=model.unknown,
                continuing_prefix=model.continuing_prefix,
                longest_word=model.longest_word,
            )
        case c.LongestMatch():
            texts = _without(model.vocabulary, controls)
            return LongestMatch({token: text for text, token in texts.items()}, unknown=model.unknown)
        case _:
            assert_never(model)


def _without(vocabulary: Mapping[Token, int], controls: Set[int]) -> dict[Token, int]:
    """The tokens that text may yield."""
    if controls.isdisjoint(vocabulary.values()):
        return dict(vocabulary)
    return {token: number for token, number in vocabulary.items() if number not in controls}


def _among(
    tokens: Mapping[Token, int], vocabulary: Mapping[Token, int], merges: Sequence[tuple[Token, Token]], prefix: Token
) -> Sequence[tuple[Token, Token]]:
    """The merges that have no part in a token of `vocabulary` which `tokens` leaves out."""
    hidden = vocabulary.keys() - tokens.keys()
    if not hidden:
        return merges
    joint = len(prefix)  # what a merge leaves out of its right part
    return [
        (left, right)
        for left, right in merges
        if left not in hidden and right not in hidden and left + right[joint:] not in hidden
    ]


def _by_id(ranks: Mapping[bytes, int]) -> list[bytes]:
    """The bytes of each id, none for an id that is no token."""
    tokens = [b""] * (max(ranks.values(), default=-1) + 1)
    for token, number in ranks.items():
        tokens[number] = token
    return tokens


def _spellings(configuration: c.TokenizerConfiguration) -> dict[int, bytes]:
    """The bytes of each id, as decoding takes them.

    Where tokens are decoded to bytes, a text of letters of GPT-2's alphabet stands for those bytes, even that of an
    added token, as in the official decoder.
    """
    letters = c.DecodeBytes() in configuration.decoders

    def spelled(text: str) -> bytes:
        found = to_bytes(text) if letters else None
        return text.encode() if found is None else found

    spellings = {token.id: spelled(token.content) for token in configuration.added_tokens}
    model = configuration.model
    match model:
        case c.MergedBytes():
            spellings |= {number: text.encode() for number, text in model.strays.items()}
            spellings |= {number: token for token, number in model.vocabulary.items()}
        case c.RankedBytes():
            spellings |= {number: token for token, number in model.ranks.items()}
        case c.MergedCharacters() | c.WordPiece() | c.LongestMatch():
            spellings |= {number: spelled(text) for text, number in model.vocabulary.items()}
        case c.ScoredPieces() | c.Unigram():
            spellings |= {number: spelled(text) for number, (text, _) in enumerate(model.tokens)}
        case _:
            assert_never(model)
    return spellings
