"""A recording on its way through a pipeline: one channel of float32 samples."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.errors import MediaError


class Recording:
    """A recording, or the outline of one: its length alone, by which a pipeline can be measured.

    An array given for a recording is float32 of shape [samples].
    """

    __slots__ = ("channels", "rate", "samples", "values")

    def __init__(self, samples: int, rate: int, channels: int, values: NDArray[np.float32] | None = None) -> None:
        self.samples = samples
        """How many samples each channel has."""
        self.rate = rate
        """How many of them there are in a second."""
        self.channels = channels
        """How many channels came in; they have become one."""
        self.values = values
        """The samples: float32 of shape [samples]; None for an outline."""


def waveform(recording: Recording, length: int) -> NDArray[np.float32]:
    """The samples with silence behind them, up to `length`: float32 of shape [length].

    Raises `MediaError` M109 where they are more.
    """
    if recording.samples > length:
        message = f"the recording has {recording.samples} samples, and {length} are taken"
        raise MediaError(message, code="M109", help="send a shorter recording")
    if recording.values is None:
        return np.broadcast_to(np.float32(0), (length,))
    out = np.zeros(length, np.float32)
    out[: recording.samples] = recording.values
    return out
