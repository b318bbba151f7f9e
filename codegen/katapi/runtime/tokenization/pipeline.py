"""The tokenizer that drives the stages: normalize, cut and segment, post-process, decode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.errors import TokenizerError
from katapi.runtime.native.engine import unpacked
from katapi.runtime.tokenization.encoding import Encoding
from katapi.runtime.tokenization.interface import Decoder
from katapi.runtime.tokenization.stages import Decoding, PostProcessor
from katapi.runtime.tokenization.vocabulary import Vocabulary

if TYPE_CHECKING:  # most processes never cut a text
    from katapi.runtime.compiled import EngineForm
    from katapi.runtime.tokenization.parting import Parting


class PipelineTokenizer:
    """A `Tokenizer` from its stages. Control tokens are known to `vocabulary` and `post_processor` alone.

    So no text can yield one. `parting` knows where a text can be cut.
    """

    def __init__(
        self,
        *,
        form: EngineForm,
        encoding: Callable[[], Encoding],
        post_processor: PostProcessor,
        decoding: Decoding,
        vocabulary: Vocabulary,
        parting: Callable[[], Parting] | None = None,
        pad_id: int | None = None,
    ) -> None:
        """`encoding` is called when the first text comes; `form` is that of its engine, so far as it is known before.

        Threads that come with the first texts at once may all call it.
        """
        self._form = form
        self._make_encoding = encoding
        self._encoding: Encoding | None = None
        self._make_parting = parting
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
        """Which form of the engine encodes, and why; before the first text, which one is to."""
        return self._form if self._encoding is None else self._encoding.engine.form

    def encode(self, text: str, first: bool = True) -> list[int]:
        """The ids of one run of text.

        Raises `TokenizerError` V101 where `text` holds a lone surrogate, and what the segmenter raises.
        """
        if not text:
            return []
        encoding = self._encoding or self._made()
        kernel = encoding.kernel
        if kernel is not None and text.isascii():
            return kernel.encode(text)
        normalized = encoding.normalized(text, first)
        return encoding.aligned(text, first)[0] if normalized is None else encoding.engine.encode(normalized, first)

    def encode_array(self, text: str, first: bool = True) -> NDArray[np.int32]:
        """The same as int32 of shape [n].

        Raises `TokenizerError` V101 and what the segmenter raises, as `encode` does.
        """
        if not text:
            return np.zeros(0, dtype=np.int32)
        encoding = self._encoding or self._made()
        kernel = encoding.kernel
        if kernel is not None and text.isascii():
            return unpacked(kernel.packed(text))
        normalized = encoding.normalized(text, first)
        if normalized is None:
            return np.array(encoding.aligned(text, first)[0], dtype=np.int32)
        return encoding.engine.encode_array(normalized, first)

    def encode_bytes(self, text: str, first: bool = True) -> bytes:
        """The same in the bytes of an int64 array.

        Raises `TokenizerError` V101 and what the segmenter raises, as `encode` does.
        """
        if not text:
            return b""
        encoding = self._encoding or self._made()
        kernel = encoding.kernel
        if kernel is not None and text.isascii():
            return kernel.packed64(text)
        normalized = encoding.normalized(text, first)
        if normalized is None:
            return np.array(encoding.aligned(text, first)[0], dtype=np.int64).tobytes()
        return encoding.engine.encode_bytes(normalized, first)

    def count(self, text: str, first: bool = True) -> int:
        """How many they are.

        Raises `TokenizerError` V101 and what the segmenter raises, as `encode` does.
        """
        if not text:
            return 0
        encoding = self._encoding or self._made()
        kernel = encoding.kernel
        if kernel is not None and text.isascii():
            return kernel.count(text)
        normalized = encoding.normalized(text, first)
        if normalized is None:
            return len(encoding.aligned(text, first)[0])
        return encoding.engine.count(normalized, first)

    def _made(self) -> Encoding:
        """The stages, when the first text has come."""
        made = self._encoding = self._make_encoding()
        return made

    def cuts(self, text: str) -> tuple[int, int] | None:
        """The first and the last place at which a text can be cut, in characters."""
        return None if self._parting is None else self._parting.ends(text)

    def encode_part(self, text: str) -> list[int]:
        """The ids of what stands behind such a place.

        Raises `TokenizerError` V101 where `text` holds a lone surrogate, and what the segmenter raises.
        """
        if not text:
            return []
        encoding = self._encoding or self._made()
        return encoding.engine.encode(encoding.normalized_part(text), False)

    @cached_property
    def _parting(self) -> Parting | None:
        return None if self._make_parting is None else self._make_parting()

    def spans(self, text: str, ids: Sequence[int], first: bool = True) -> NDArray[np.int64]:
        """The half-open range of source bytes of each token, int64 of shape [n, 2].

        Raises `TokenizerError` V103 where `ids` are not those of `text`, and V101 where that holds a lone surrogate.
        """
        expected, spans = (self._encoding or self._made()).aligned(text, first)
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
