"""The fused multiply-add of float32, which numpy has not: one rounding for a product and a sum."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Reals: TypeAlias = NDArray[np.float32]
"""Factors, weights and sums."""

_BELOW_FLOAT32 = 0x1FFFFFFF
"""The bits of a float64 that a float32 does not have."""
_MIDDLE = 0x10000000
"""What they are half-way between two float32."""


class FusedMultiplyAdd:
    """Computes `factor * weight + addend` with one rounding, in memory of its own (so: one for each thread)."""

    def __init__(self, capacity: int) -> None:
        """Room for results of so many numbers."""
        self._product = np.empty(capacity)
        self._sum = np.empty(capacity)
        self._bits = np.empty(capacity, np.int64)

    def __call__(self, factor: Reals, weight: Reals, addend: Reals) -> Reals:
        """`factor` has the shape of the result, to which the others are broadcast.

        The product of two float32 is exact in float64. The sum is not always, and to round it a second time goes wrong
        where it has come to lie half-way between two float32: there the error of the first rounding decides.
        """
        count, shape = factor.size, factor.shape
        product = self._product[:count].reshape(shape)
        total = self._sum[:count].reshape(shape)
        bits = self._bits[:count]
        np.copyto(total, factor)  # numpy is faster in converting all first than in operations on two types
        np.multiply(total, weight.astype(np.float64), out=product)
        np.copyto(total, addend)
        np.add(product, total, out=total)
        np.bitwise_and(total.reshape(-1).view(np.int64), _BELOW_FLOAT32, out=bits)
        middle = np.equal(bits, _MIDDLE)
        if middle.any():
            places = middle.reshape(shape)
            sums, products = total[places], product[places]
            part = sums - products  # Knuth's two-sum: `error` is what the sum lacks, exactly
            error = (products - (sums - part)) + (np.broadcast_to(addend, shape)[places] - part)
            total[places] = np.where(error == 0.0, sums, np.nextafter(sums, np.copysign(np.inf, error)))
        return total.astype(np.float32)


def fused_multiply_add(factor: Reals, weight: Reals, addend: Reals) -> Reals:
    """`factor * weight + addend`, rounded once, for arrays that are not large."""
    return FusedMultiplyAdd(factor.size)(factor, weight, addend)
