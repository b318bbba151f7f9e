"""Arrays as `.npy` files, version 1.0 of numpy's format, of which there is one spelling here."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.errors import ReplayError

_MARK = b"\x93NUMPY\x01\x00"
_HEADER = re.compile(rb"\{'descr': '<i8', 'fortran_order': False, 'shape': \((\d{1,10}),(?: (\d{1,10}))?\), \} *\n")
_ALIGNED = 64


def npy_bytes(array: NDArray[np.int64]) -> bytes:
    """A file with an array of integers, int64 of shape [n] or [n, m]."""
    shape = tuple(array.shape)
    text = f"{{'descr': '<i8', 'fortran_order': False, 'shape': {shape}, }}".encode()
    fill = -(len(_MARK) + 2 + len(text) + 1) % _ALIGNED
    header = text + b" " * fill + b"\n"
    return _MARK + len(header).to_bytes(2, "little") + header + array.astype("<i8").tobytes()


def read_npy(data: bytes, where: str) -> NDArray[np.int64]:
    """The array of a file that `npy_bytes` wrote, int64 of shape [n] or [n, m].

    Raises `ReplayError` Y103 for any other file.
    """
    size = int.from_bytes(data[8:10], "little")
    found = _HEADER.fullmatch(data[10 : 10 + size])
    body = data[10 + size :]
    if data.startswith(_MARK) and found is not None and len(body) % 8 == 0:
        shape = tuple(int(part) for part in found.groups() if part is not None)
        if int(np.prod(shape, dtype=object)) * 8 == len(body):
            array: NDArray[np.int64] = np.frombuffer(body, dtype="<i8").astype(np.int64).reshape(shape)
            if npy_bytes(array) == data:
                return array
    raise ReplayError("the file is no array of 64-bit integers", code="Y103", where=where)
