"""Whether ids have a row in a model's embedding: the lookup X[b, j] = E[ids[b, j]] of the chapter, section 1.9."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.counts import count_of
from katapi.runtime.declared_tokenizer import DeclaredTokenizer
from katapi.runtime.errors import TokenizerError
from katapi.runtime.tokenization.facade import TextAndIds


class EmbeddingFit(NamedTuple):
    """A vocabulary beside an embedding that has a row for each of its ids."""

    ids: int
    """The number of ids of the vocabulary, from 0 to the highest."""
    rows: int
    """The number of rows of the embedding."""

    @property
    def spare(self) -> int:
        """The rows that no id uses; most models have some, since sizes of tensors are rounded up."""
        return self.rows - self.ids


def check_embedding(tokenizer: TextAndIds, rows: int) -> EmbeddingFit:
    """Whether an embedding of `rows` rows has one for each id of a model's or tokenizer's vocabulary.

    Raises `TokenizerError` V124 where it has not: then the two are hardly of one model. What a vocabulary has for other
    editions of a model only is best checked input by input, with `check_rows`.
    """
    rows = count_of(rows, "rows", 1)
    ids = tokenizer.tokenizer.vocabulary_size
    if ids > rows:
        whose = "the vocabulary"
        if isinstance(tokenizer, DeclaredTokenizer):
            whose += f" of {tokenizer.name} ({tokenizer.tokenizer_identity.id})"
        first, last = rows, ids - 1
        beyond = f"the id {first} has" if first == last else f"the ids {first} to {last} have"
        raise TokenizerError(
            f"{whose} has {ids} ids and the embedding {rows} rows; {beyond} none",
            code="V124",
            help="load the tokenizer of this model; or enlarge its embedding, where tokens were added",
        )
    return EmbeddingFit(ids, rows)


def refuse_beyond(ids: NDArray[np.int64], rows: int, axes: tuple[str, ...]) -> None:
    """Raises `TokenizerError` V123 for the first of `ids`, int64 of shape [n] or [B, n], without a row of `rows`.

    `axes` name the axes of `ids`, for the place in the message.
    """
    rows = count_of(rows, "rows", 1)
    beyond = (ids < 0) | (ids >= rows)
    if not beyond.any():
        return
    place = np.argwhere(beyond)[0].tolist()
    found = int(ids[tuple(place)])
    others = int(beyond.sum()) - 1
    more = "" if not others else f", and {others} more {'has' if others == 1 else 'have'} none"
    raise TokenizerError(
        f"the id {found} has no row in an embedding of {rows} rows{more}; the largest id is {ids.max()}",
        code="V123",
        where=", ".join(f"{axis} {index}" for axis, index in zip(axes, place, strict=True)),
        help="the tokenizer is hardly that of this model: katapi.check_embedding compares the two",
    )
