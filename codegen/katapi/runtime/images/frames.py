"""A film as a caller has it: its frames, and when they are shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from katapi.runtime.dataclass import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Frames:
    """A film as a caller has it: its frames, and how fast they are shown.

    `fps` is for frames that are shown equally long; `times` are those at which each of them is shown, in seconds.
    """

    files: Sequence[bytes | NDArray[np.uint8]] | NDArray[np.uint8]
    """Each frame, as the bytes of a file or as pixels, uint8 of shape [height, width, 3]; or all as an array of pixels.
    Any sequence will do: one that decodes a film when it is asked for a frame is asked for those that are taken, and
    for the first."""
    fps: float | None = None
    """How many of them are shown in a second."""
    times: Sequence[float] | None = None
    """When each is shown, in seconds, in order."""
    file: str | None = None
    """The digest of the file that the frames were decoded from, `sha256:…`; None where they come from none."""


Decode: TypeAlias = Callable[[bytes], Frames]
"""Takes a film apart, from the bytes of its file."""
