"""What batches are made of: inputs that a model assembled, and ids from elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.dataclass import dataclass
from katapi.runtime.errors import TokenizerError
from katapi.runtime.model_input import ModelInput
from katapi.runtime.tensors.labels import labels_of
from katapi.runtime.tokenization.ids import as_ids


@dataclass(frozen=True, eq=False)
class Sample:
    """Ids that no `assemble` gave, or labels other than its own: `Sample.of` makes one.

    `input_ids` and `labels` are read-only int64 arrays of shape [n].
    """

    input_ids: NDArray[np.int64]
    labels: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.input_ids)

    @classmethod
    def of(
        cls,
        ids: Sequence[int] | NDArray[np.int64],
        trained: Sequence[bool] | NDArray[np.bool_] | None = None,
    ) -> Sample:
        """A sample of ids, a list or int64 of shape [n]; `trained`, bool of shape [n], says which are trained on.

        `Sample.of(x.input_ids, x.loss_mask("last"))` trains on the last answer alone. Without `trained` there are no
        labels: all are -100.
        """
        copied = np.array(as_ids(ids), dtype=np.int64)
        chosen = np.zeros(len(copied), dtype=np.bool_) if trained is None else np.asarray(trained, dtype=np.bool_)
        if chosen.shape != copied.shape:
            raise ValueError(f"trained has the shape {[*chosen.shape]}, and there are {len(copied)} ids")
        copied.setflags(write=False)
        return cls(copied, labels_of(copied, chosen))


Samples: TypeAlias = Iterable[ModelInput | Sample]
"""What `batch` and `pack` take."""


def samples_of(inputs: Samples) -> list[ModelInput | Sample]:
    """The inputs in order, none of them empty and all of one model.

    Raises `TokenizerError` V120 where there is none, V121 where two are of different models, and V122 where one has no
    token.
    """
    if isinstance(inputs, ModelInput | Sample) or not isinstance(inputs, Iterable):
        raise TypeError(f"a batch is made of a list of inputs, not of a {type(inputs).__name__}")
    samples = [*inputs]
    if not samples:
        raise TokenizerError("there is no input", code="V120", help="pass one input at least")
    first: ModelInput | None = None
    for index, sample in enumerate(samples):
        if not isinstance(sample, ModelInput | Sample):
            raise TypeError(
                f"input {index} is of type {type(sample).__name__}; pass what assemble gives, or a katapi.Sample"
            )
        if not len(sample):
            raise TokenizerError(
                "the input has no token, and a row of nothing but padding has no result",
                code="V122",
                where=f"input {index}",
                help="leave it out",
            )
        if isinstance(sample, ModelInput):
            first = first or sample
            _refuse_other_model(first, sample, index)
    return samples


def _refuse_other_model(first: ModelInput, other: ModelInput, index: int) -> None:
    one, two = first._declared, other._declared
    if (one.model, one.tokenizer) != (two.model, two.tokenizer):
        raise TokenizerError(
            f"the input is of {two.model} ({two.tokenizer.id}), those before it of {one.model} ({one.tokenizer.id})",
            code="V121",
            where=f"input {index}",
            help="make a batch for each model",
        )


def ids_of(samples: Sequence[ModelInput | Sample]) -> NDArray[np.int64]:
    """The ids of all samples one behind the other, int64 of shape [total]."""
    return np.concatenate([sample.input_ids for sample in samples])


def all_labels(samples: Sequence[ModelInput | Sample]) -> NDArray[np.int64]:
    """Their labels one behind the other, int64 of shape [total]."""
    return np.concatenate([sample.labels for sample in samples])


def lengths_of(samples: Sequence[ModelInput | Sample]) -> NDArray[np.int64]:
    """How many ids each sample has, int64 of shape [B]."""
    return np.array([len(sample) for sample in samples], dtype=np.int64)


def counted(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """0, 1, 2, … for each sample anew, one behind the other: int64 of shape [total] for lengths of shape [B]."""
    starts = np.cumsum(lengths) - lengths
    return np.arange(int(lengths.sum()), dtype=np.int64) - np.repeat(starts, lengths)
