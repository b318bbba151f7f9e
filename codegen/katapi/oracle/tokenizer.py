"""A whole tokenizer by its configuration: text to ids, where they come from, and back.

ids, ranges = encoded(text, configuration, data)
whole = framed(ids, configuration)
bytes_, text = decoded(ids, configuration, data), shown(ids, configuration, data)
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from katapi.oracle import charsmap, decode
from katapi.oracle.letters import letters_of, text_of
from katapi.oracle.normalizers import normalized
from katapi.oracle.pretokenize import cut
from katapi.oracle.segment import Known, segmented
from katapi.runtime.errors import TokenizerError
from katapi.runtime.tokenization import configuration as c
from katapi.runtime.tokenization.vocabulary_data import VocabularyData


class Placed(NamedTuple):
    """An id and the half-open range of source bytes that it comes from."""

    id: int
    start: int
    end: int


def encoded(
    text: str, configuration: c.TokenizerConfiguration, data: VocabularyData, *, first: bool = True
) -> list[Placed]:
    """The tokens of a text; `first` says that it begins the whole input. Raises `TokenizerError`."""
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise TokenizerError("the text holds a lone surrogate, which is no character", code="V101")
    if not text:
        return []
    known = _known(configuration, data)
    rules = charsmap.rules(data.charsmap) if data.charsmap else {}
    letters = normalized(letters_of(text), configuration.normalizers, configuration.unicode, rules)
    out: list[Placed] = []
    for piece in cut(letters, configuration.pretokenizers, configuration.unicode, first=first):
        for token in segmented(text_of(piece), configuration.segmentation, known, configuration.unknown):
            covered = piece[token.start : token.end]
            start, end = min(letter.start for letter in covered), max(letter.end for letter in covered)
            out.append(Placed(token.id, start, max([end, *(placed.end for placed in out[-1:])])))
    return out


def framed(ids: list[int], configuration: c.TokenizerConfiguration) -> list[int]:
    """The ids of a whole input with what the post-processor puts around them."""
    return [*configuration.frame.before, *ids, *configuration.frame.behind]


def decoded(ids: list[int], configuration: c.TokenizerConfiguration, data: VocabularyData) -> bytes:
    """The bytes that ids stand for. Raises `TokenizerError` on an id that no token has."""
    return decode.decoded(_spellings(ids, configuration, data), configuration.decoders, configuration.unicode)


def shown(ids: list[int], configuration: c.TokenizerConfiguration, data: VocabularyData) -> str:
    """The same as text; bytes that are no whole character become U+FFFD."""
    return decode.shown(_spellings(ids, configuration, data), configuration.decoders, configuration.unicode)


@lru_cache(maxsize=16)
def _known(configuration: c.TokenizerConfiguration, data: VocabularyData) -> Known:
    controls = {token.id for token in configuration.added_tokens if token.control}
    return Known(
        tokens={number: token for number, token in enumerate(data.tokens) if number not in data.tokens.gaps},
        merges=[(left, right, result) for left, right, result in data.merges.tolist()],
        scores=data.scores.tolist(),
        lowest=data.lowest,
        unreachable=data.unreachable,
        controls=frozenset(controls),
    )


def _spellings(ids: list[int], configuration: c.TokenizerConfiguration, data: VocabularyData) -> list[bytes]:
    """The bytes of each token; what was added counts before what is in the vocabulary."""
    over_bytes = isinstance(configuration.segmentation, c.BytePairRanks) or (
        isinstance(configuration.segmentation, c.BytePairMerges) and configuration.segmentation.over_bytes
    )
    added = {token.id: token.content for token in configuration.added_tokens}
    out: list[bytes] = []
    for number in ids:
        if number in added:
            out.append(decode.spelled(added[number], configuration.decoders))
        elif 0 <= number < len(data.tokens) and number not in data.tokens.gaps:
            token = data.tokens[number]
            out.append(token if over_bytes else decode.spelled(token.decode(), configuration.decoders))
        else:
            raise TokenizerError(f"no token has the id {number}", code="V102")
    return out
