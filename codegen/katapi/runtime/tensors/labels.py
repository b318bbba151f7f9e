"""Labels for training: the ids that a model is to predict, and a mark on all others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

IGNORED = -100
"""The label of a token of which no loss is taken, as PyTorch's cross entropy has it."""


def labels_of(ids: NDArray[np.int64], trained: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The ids where `trained`, bool of shape [n], and -100 elsewhere: read-only int64 of shape [n], as `ids` is.

    The first token has none: no token stands before it from which a model could predict it, and in a packed row the one
    before it is that of another sample.
    """
    labels: NDArray[np.int64] = np.where(trained, ids, IGNORED)
    labels[:1] = IGNORED
    labels.setflags(write=False)
    return labels
