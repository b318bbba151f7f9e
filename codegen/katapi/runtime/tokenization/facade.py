"""What everything that has a tokenizer offers its callers: text to ids and ids to text, without a template."""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.errors import TokenizerError
from katapi.runtime.tokenization.ids import as_ids
from katapi.runtime.tokenization.interface import Decoder, Tokenizer


class TextAndIds(ABC):
    """The content path of a tokenizer: control tokens that a text spells stay text (the chapter, section 1.3)."""

    @property
    @abstractmethod
    def tokenizer(self) -> Tokenizer:
        """The tokenizer."""

    def encode(self, text: str | bytes, post_process: bool = False) -> list[int]:
        """The ids of content: no text reaches a control id. Bytes are UTF-8.

        `post_process` adds what the tokenizer's post-processor puts around a single sequence. Raises `TokenizerError`
        V110 for bytes that are not UTF-8, V101 for a lone surrogate, and V107 for a character that is no token of a
        unigram vocabulary that has no unknown token.
        """
        tokenizer = self.tokenizer
        ids = tokenizer.encode(text if isinstance(text, str) else _as_text(text))
        return tokenizer.post_process(ids) if post_process else ids

    def encode_array(self, text: str | bytes, post_process: bool = False) -> NDArray[np.int32]:
        """What `encode` gives, as int32 of shape [n], without a list in between.

        Raises `TokenizerError` V101, V107 and V110 as `encode` does.
        """
        tokenizer = self.tokenizer
        ids = tokenizer.encode_array(text if isinstance(text, str) else _as_text(text))
        return np.array(tokenizer.post_process(ids.tolist()), dtype=np.int32) if post_process else ids

    def count(self, text: str | bytes) -> int:
        """How many ids `encode` gives, which are not built for it.

        Raises `TokenizerError` V101, V107 and V110 as `encode` does.
        """
        return self.tokenizer.count(text if isinstance(text, str) else _as_text(text))

    def encode_batch(
        self, texts: Iterable[str | bytes], post_process: bool = False, *, threads: int = 1
    ) -> list[list[int]]:
        """What `encode` gives for each text, in their order.

        `threads` of them work on a part of the texts each. The compiled engine of a byte-level vocabulary leaves the
        interpreter's global lock to others while it works on a text of 8 KiB or more; with shorter ones, and other
        engines, one thread is fastest. Raises `TokenizerError` V101, V107 and V110 as `encode` does.
        """
        encode = partial(self.encode, post_process=post_process)
        if threads < 2:
            return [*map(encode, texts)]
        from concurrent.futures import ThreadPoolExecutor  # few processes ask for it

        with ThreadPoolExecutor(threads) as pool:
            return [
                ids for part in pool.map(lambda part: [*map(encode, part)], _parts([*texts], threads)) for ids in part
            ]

    def spans(self, text: str | bytes, ids: Sequence[int]) -> NDArray[np.int64]:
        """Where in `text` each of `ids` comes from, which are `encode(text)`: half-open ranges of bytes, int64 [n, 2].

        Bytes count in the UTF-8 of `text`. Raises `TokenizerError` V103 where `ids` are others, and V101, V107 and V110
        as `encode` does.
        """
        return self.tokenizer.spans(text if isinstance(text, str) else _as_text(text), as_ids(ids))

    def decode(self, ids: Sequence[int]) -> bytes:
        """The bytes that ids stand for, control tokens as they are spelled.

        Raises `TokenizerError` V102 where no token has an id.
        """
        return self.tokenizer.decode(ids)

    def decode_batch(self, batch: Iterable[Sequence[int]]) -> list[bytes]:
        """What `decode` gives for each sequence of ids, in their order.

        Raises `TokenizerError` V102 as `decode` does.
        """
        return [*map(self.tokenizer.decode, batch)]

    def decode_text(self, ids: Sequence[int]) -> str:
        """`decode` as text; what is no whole character becomes U+FFFD, as the official decoder prints it.

        Raises `TokenizerError` V102 where no token has an id.
        """
        return self.tokenizer.decode_text(ids)

    def decoder(self) -> Decoder:
        """An incremental decoder for one completion."""
        return self.tokenizer.decoder()


def _as_text(text: bytes) -> str:
    """The text of bytes. A caller without a type checker may pass something else."""
    if not isinstance(text, bytes):
        raise TypeError(f"a text is a str, or bytes in UTF-8, not a {type(text).__name__}")
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise TokenizerError(
            f"the bytes are not UTF-8: {error.reason}", code="V110", where=f"byte {error.start}"
        ) from None


def _parts(texts: list[str | bytes], count: int) -> list[list[str | bytes]]:
    """The texts in their order in so many parts, or fewer, which are alike in length."""
    ends = [*accumulate(map(len, texts))]
    places = [*(bisect_left(ends, ends[-1] * part / count) for part in range(count if texts else 0)), len(texts)]
    return [texts[first:last] for first, last in pairwise(places) if first < last]
