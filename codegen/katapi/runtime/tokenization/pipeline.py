"""The tokenizer that drives the stages: normalize, cut and segment, post-process, decode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.errors import TokenizerError
from katapi.runtime.tokenization.aligned import AlignedText
from katapi.runtime.tokenization.interface import Decoder
from katapi.runtime.tokenization.stages import Decoding, Engine, Normalizer, PostProcessor
from katapi.runtime.tokenization.vocabulary import Vocabulary

if TYPE_CHECKING:  # most processes never cut a text
    from katapi.runtime.compiled import EngineForm
    from katapi.runtime.tokenization.parting import Parting


class PipelineTokenizer:
    """A `Tokenizer` from its stages. Control tokens are known to `vocabulary` and `post_processor` alone.

    So no text can yield one. `parting` knows where a text can be cut; `inner_normalizer` is for what stands behind such
    a place.
    """

    def __init__(
        self,
        *,
        normalizer: Normalizer,
        engine: Engine,
        post_processor: PostProcessor,
        decoding: Decoding,
        vocabulary: Vocabulary,
        inner_normalizer: Normalizer | None = None,
        parting: Callable[[], Parting] | None = None,
        pad_id: int | None = None,
    ) -> None:
        self._normalizer = normalizer
        self._inner_normalizer = inner_normalizer or normalizer
        self._make_parting = parting
        self._engine = engine
        self._post_processor = post_processor
        self._decoding = decoding
        self._vocabulary = vocabulary
        self._pad_id = pad_id

    @property
    def vocabulary_size(self) -> int:
        """The number of ids from 0 to the highest, control tokens included."""
        return self._vocabulary.size

    @property
    def pad_id(self) -> int | None:
        """The control token that fills the short rows of a batch; None where the vocabulary names none."""
        return self._pad_id

    @property
    def engine(self) -> EngineForm:
        """Which form of the engine encodes, and why."""
        return self._engine.form

    def encode(self, text: str, first: bool = True) -> list[int]:
        """The ids of one run of text.

        Raises `TokenizerError` V101 where `text` holds a lone surrogate, and what the segmenter raises.
        """
        if not text:
            return []
        normalized = self._normalized(text, first)
        return self._encode_aligned(text, first)[0] if normalized is None else self._engine.encode(normalized, first)

    def encode_array(self, text: str, first: bool = True) -> NDArray[np.int32]:
        """The same as int32 of shape [n].

        Raises `TokenizerError` V101 and what the segmenter raises, as `encode` does.
        """
        if not text:
            return np.zeros(0, dtype=np.int32)
        normalized = self._normalized(text, first)
        if normalized is None:
            return np.array(self._encode_aligned(text, first)[0], dtype=np.int32)
        return self._engine.encode_array(normalized, first)

    def count(self, text: str, first: bool = True) -> int:
        """How many they are.

        Raises `TokenizerError` V101 and what the segmenter raises, as `encode` does.
        """
        if not text:
            return 0
        normalized = self._normalized(text, first)
        if normalized is None:
            return len(self._encode_aligned(text, first)[0])
        return self._engine.count(normalized, first)

    def _normalized(self, text: str, first: bool) -> str | None:
        """The text that the engine takes; None where only the aligned form tells what stands at the beginning."""
        _refuse_surrogates(text)
        normalized = self._normalizer.normalize(text)
        return None if first and normalized is not text and self._engine.positional else normalized

    def cuts(self, text: str) -> tuple[int, int] | None:
        """The first and the last place at which a text can be cut, in characters."""
        return None if self._parting is None else self._parting.ends(text)

    def encode_part(self, text: str) -> list[int]:
        """The ids of what stands behind such a place.

        Raises `TokenizerError` V101 where `text` holds a lone surrogate, and what the segmenter raises.
        """
        if not text:
            return []
        _refuse_surrogates(text)
        return self._engine.encode(self._inner_normalizer.normalize(text), False)

    @cached_property
    def _parting(self) -> Parting | None:
        return None if self._make_parting is None else self._make_parting()

    def spans(self, text: str, ids: Sequence[int], first: bool = True) -> NDArray[np.int64]:
        """The half-open range of source bytes of each token, int64 of shape [n, 2].

        Raises `TokenizerError` V103 where `ids` are not those of `text`, and V101 where that holds a lone surrogate.
        """
        _refuse_surrogates(text)
        expected, spans = self._encode_aligned(text, first)
        if [*ids] != expected:
            raise TokenizerError(
                f"the {len(ids)} ids are not the encoding of this text",
                code="V103",
                help="pass the ids that encode gave for it, and say alike whether the text begins the input",
            )
        return spans

    def post_process(self, ids: Sequence[int]) -> list[int]:
        """The ids of a single sequence with the control tokens that belong around it."""
        return self._post_processor.process(ids)

    def decode(self, ids: Sequence[int]) -> bytes:
        """The bytes that `ids` stand for. Raises `TokenizerError` V102 on an unknown id."""
        return self._decoding.decode(ids)

    def decode_text(self, ids: Sequence[int]) -> str:
        """`decode` as text, with U+FFFD for bytes that are no whole character.

        Raises `TokenizerError` V102 as it does.
        """
        return self._decoding.decode_text(ids)

    def decoder(self) -> Decoder:
        """A new incremental decoder."""
        return self._decoding.decoder()

    def _encode_aligned(self, text: str, first: bool) -> tuple[list[int], NDArray[np.int64]]:
        if not text:
            return [], np.zeros((0, 2), dtype=np.int64)
        return self._engine.encode_aligned(self._normalizer.align(AlignedText.of(text)), first)


def _refuse_surrogates(text: str) -> None:
    if text.isascii():
        return
    try:
        text.encode("utf-16-le")
    except UnicodeEncodeError as error:
        raise TokenizerError(
            f"the text holds the lone surrogate U+{ord(text[error.start]):04X}, which is no character",
            code="V101",
            where=f"character {error.start}",
            help="decode the text from valid UTF-8, or replace the surrogate",
        ) from None
