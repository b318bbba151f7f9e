"""How a pixel becomes a number in processors that do not follow the order `(value * rescale - mean) / std`.

The pixels may be of 8 bits, so that each channel has 256 numbers (`table`), or real numbers that a resize has left
(`of`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.images.pixels import Normalization

if TYPE_CHECKING:
    from katapi.runtime.json_types import JsonObject


class FoldedNormalization(Normalization):
    """`(value - mean / rescale) / (std / rescale)`, all in float32: the torchvision classes of transformers.

    A few numbers differ in their last bits from those of the unfolded order.
    """

    def of(self, pixels: NDArray[np.float32]) -> NDArray[np.float32]:
        """The numbers of pixels, both float32 of shape [n, 3] or [height, width, 3]: red, green and blue."""
        unit = np.float32(1.0 / self.rescale)
        numbers = pixels if self.mean is None else pixels - np.array(self.mean, np.float32) * unit
        return numbers / (np.array((1.0, 1.0, 1.0) if self.std is None else self.std, np.float32) * unit)

    def to_json(self) -> JsonObject:
        """The parameters, and the order of the arithmetic."""
        return {**super().to_json(), "arithmetic": "float32, rescale folded into mean and std"}


class BfloatNormalization(Normalization):
    """`(value * rescale - mean) / std` with every result rounded to a bfloat16: Llama 4.

    The numbers are bfloat16 held as float32, which loses nothing.
    """

    def of(self, pixels: NDArray[np.float32]) -> NDArray[np.float32]:
        """The numbers of pixels, both float32 of shape [n, 3] or [height, width, 3]: red, green and blue."""
        numbers = bfloat16(pixels * np.float32(self.rescale))
        if self.mean is not None:
            numbers = bfloat16(numbers - bfloat16(np.array(self.mean, np.float32)))
        if self.std is not None:
            numbers = bfloat16(numbers / bfloat16(np.array(self.std, np.float32)))
        return numbers

    def to_json(self) -> JsonObject:
        """The parameters, the type in which numbers are computed, and that of what comes out."""
        return {**super().to_json(), "arithmetic": "bfloat16", "type": "bfloat16, held as float32"}


class RealNormalization(Normalization):
    """`(value / divisor - mean) / std` in float32, for pixels that are real numbers: mistral-common."""

    def __init__(
        self,
        divisor: float = 255.0,
        mean: tuple[float, float, float] | None = None,
        std: tuple[float, float, float] | None = None,
    ) -> None:
        super().__init__(1.0 / divisor, mean, std)
        self.divisor = divisor
        """What a pixel is divided by."""

    def of(self, pixels: NDArray[np.float32]) -> NDArray[np.float32]:
        """The numbers of pixels, both float32 of shape [n, 3] or [height, width, 3]: red, green and blue."""
        numbers = pixels / np.float32(self.divisor)
        if self.mean is not None:
            numbers -= np.array(self.mean, np.float32)
        if self.std is not None:
            numbers /= np.array(self.std, np.float32)
        return numbers

    def to_json(self) -> JsonObject:
        """The parameters, and the order of the arithmetic."""
        return {**super().to_json(), "arithmetic": "float32, by division"}


def bfloat16(numbers: NDArray[np.float32]) -> NDArray[np.float32]:
    """Finite numbers rounded to the nearest bfloat16, halves to the even one: float32 of shape [n], or of any other."""
    bits = np.ascontiguousarray(numbers).view(np.uint32)
    rounded = (bits + (np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1)))) & np.uint32(0xFFFF0000)
    return rounded.view(np.float32)
