"""The tokenizer that drives the stages: normalize, cut and segment, decode."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.errors import TokenizerError
from katapi.runtime.tokenization.interface import Decoder
from katapi.runtime.tokenization.stages import Decoding, Engine, Normalizer
from katapi.runtime.tokenization.vocabulary import Vocabulary


class PipelineTokenizer:
    """A `Tokenizer` from its stages. Control tokens are known to `vocabulary` alone, so no text can yield one."""

    def __init__(self, *, normalizer: Normalizer, engine: Engine, decoding: Decoding, vocabulary: Vocabulary) -> None:
        self._normalizer = normalizer
        self._engine = engine
        self._decoding = decoding
        self._vocabulary = vocabulary

    @property
    def vocabulary_size(self) -> int:
        """The number of ids from 0 to the highest, control tokens included."""
        return self._vocabulary.size

    def encode(self, text: str) -> list[int]:
        """The ids of one run of text. Raises `TokenizerError` where `text` holds a lone surrogate."""
        return self._engine.encode(self._normalized(text))

    def spans(self, text: str, ids: Sequence[int]) -> NDArray[np.int64]:
        """The range of source bytes of each token, shape [n, 2].

        Raises `TokenizerError` where `ids` are not those of `text`.
        """
        normalized = self._normalized(text)
        try:
            ranges = self._engine.ranges(normalized, ids)
        except (LookupError, ValueError):
            raise _not_of_this_text(ids) from None
        if (int(ranges[-1, 1]) if len(ranges) else 0) != len(normalized.encode()):
            raise _not_of_this_text(ids)
        return ranges if normalized is text else self._normalizer.align(text).to_source(ranges)

    def decode(self, ids: Sequence[int]) -> bytes:
        """The bytes that `ids` stand for. Raises `TokenizerError` on an unknown id."""
        return self._decoding.decode(ids)

    def decode_text(self, ids: Sequence[int]) -> str:
        """`decode` as text, with U+FFFD for each maximal part of a character that is not whole."""
        return self._decoding.decode(ids).decode(errors="replace")

    def decoder(self) -> Decoder:
        """A new incremental decoder."""
        return self._decoding.decoder()

    def _normalized(self, text: str) -> str:
        try:
            text.encode("utf-16-le")
        except UnicodeEncodeError as error:
            raise TokenizerError(
                f"the text holds the lone surrogate U+{ord(text[error.start]):04X}, which is no character",
                code="V101",
                where=f"character {error.start}",
                help="decode the text from valid UTF-8, or replace the surrogate",
            ) from None
        return self._normalizer.normalize(text)


def _not_of_this_text(ids: Sequence[int]) -> TokenizerError:
    return TokenizerError(
        f"the {len(ids)} ids are not the encoding of this text",
        code="V103",
        help="pass the ids that encode gave for it",
    )
