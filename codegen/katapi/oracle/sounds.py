"""Recordings, worked out sample by sample: what a WAV file of the standard library's making holds, and its silence."""

from __future__ import annotations

import io
import wave
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from katapi.oracle.rasters import Array
from katapi.runtime.errors import MediaError


@dataclass(frozen=True)
class Sound:
    """A recording: how long it is, and its samples in one channel, or None where only its length counts."""

    samples: int
    rate: int
    channels: int
    values: tuple[float, ...] | None = None


def sound_of(data: bytes) -> Sound:
    """The recording in a WAV file of PCM; the mean of several channels is rounded to 32 bits after each step."""
    with wave.open(io.BytesIO(data)) as file:
        width, channels, count, rate = file.getsampwidth(), file.getnchannels(), file.getnframes(), file.getframerate()
        raw = file.readframes(count)
    values: list[float] = []
    for at in range(0, len(raw), width * channels):
        total = np.float32(0)
        for channel in range(channels):
            stored = raw[at + channel * width : at + (channel + 1) * width]
            if width == 1:
                number = (stored[0] - 128) / 128
            else:
                number = int.from_bytes(stored, "little", signed=True) / 2 ** (8 * width - 1)
            total = np.float32(total + np.float32(number))
        values.append(float(np.float32(total / np.float32(channels))))
    return Sound(count, rate, channels, tuple(values))


def filled_up(sound: Sound, length: int) -> Array:
    """The samples with silence behind them."""
    if sound.samples > length:
        raise MediaError("the recording is longer", code="M109")
    values: Sequence[float] = sound.values or ()
    out = np.zeros(length, np.float32)
    for place, value in enumerate(values):
        out[place] = value
    return out
