"""Ids as a caller passes them, checked: a caller without a type checker may pass anything."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index

import numpy as np
from numpy.typing import NDArray


def as_id(token: int) -> int:
    """The same id. Raises `TypeError` for what is no integer."""
    try:
        return index(token)
    except TypeError:
        raise TypeError(f"an id is an integer, not a {type(token).__name__}") from None


def as_ids(ids: Sequence[int] | NDArray[np.int64] | NDArray[np.int32]) -> list[int]:
    """The same ids, of a sequence or of int64 or int32 of shape [n].

    Raises `TypeError` for a text, one id alone, or what is no id.
    """
    if isinstance(ids, np.ndarray) and ids.ndim == 1 and ids.dtype.kind in "iu":
        listed: list[int] = ids.tolist()
        return listed
    if not isinstance(ids, str | bytes):
        try:
            return [*map(index, ids)]
        except TypeError:
            pass
    raise TypeError(f"ids are a sequence of integers, not {_shown(ids)}")


def _shown(value: object) -> str:
    if isinstance(value, list | tuple):
        kinds = sorted({type(item).__name__ for item in value})
        return f"a {type(value).__name__} of {', '.join(kinds)}"
    return f"a {type(value).__name__}"
