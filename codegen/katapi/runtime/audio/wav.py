"""Reads WAV files of PCM and float32 (RIFF/WAVE, IBM and Microsoft 1991; extensible headers as in `mmreg.h`)."""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.errors import MediaError

MEDIA_TYPES = ("audio/wav", "audio/wave", "audio/x-wav", "audio/vnd.wave")
"""What clients call the format."""

_PCM, _FLOAT, _EXTENSIBLE = 1, 3, 0xFFFE
_ENCODINGS = {(_PCM, 8): "u8", (_PCM, 16): "s16", (_PCM, 24): "s24", (_PCM, 32): "s32", (_FLOAT, 32): "f32"}
_WHOLE = "send the whole file, as it was made"


class WavHeader(NamedTuple):
    """What the header of a WAV file says."""

    encoding: str
    """`u8`, `s16`, `s24`, `s32` or `f32`: how a sample is stored."""
    channels: int
    """How many channels there are, whose samples stand beside each other."""
    rate: int
    """Samples of a channel in a second."""
    samples: int
    """Samples of each channel."""
    start: int
    """Where the samples begin in the file."""
    length: int
    """How many bytes they are."""


def is_wav(data: bytes) -> bool:
    """Whether bytes begin as a WAV file does."""
    return data[:4] == b"RIFF" and data[8:12] == b"WAVE"


def read_wav_header(data: bytes) -> WavHeader:
    """The header of a WAV file. Raises `MediaError` M107 where it is cut off or damaged, M117 for an encoding."""
    form: tuple[int, int, int, int] | None = None
    at = 12
    while at + 8 <= len(data):
        name, length = data[at : at + 4], int.from_bytes(data[at + 4 : at + 8], "little")
        if name == b"fmt ":
            form = _form(data[at + 8 : at + 8 + length])
        elif name == b"data":
            if form is None:
                break
            return _header(form, at + 8, length, len(data))
        at += 8 + length + length % 2
    raise MediaError("the recording is damaged: it has no format or no samples", code="M107", help=_WHOLE)


def samples_of(data: bytes, header: WavHeader) -> NDArray[np.float32]:
    """The samples: float32 of shape [samples, channels], from -1 up to 1 where they are stored as whole numbers.

    Raises `MediaError` M107 where one is no finite number.
    """
    raw = data[header.start : header.start + header.length]
    match header.encoding:
        case "u8":
            values = (np.frombuffer(raw, np.uint8).astype(np.float32) - 128) / np.float32(128)
        case "s16":
            values = np.frombuffer(raw, "<i2").astype(np.float32) / np.float32(2**15)
        case "s24":
            wide = np.zeros((len(raw) // 3, 4), np.uint8)
            wide[:, 1:] = np.frombuffer(raw, np.uint8).reshape(-1, 3)
            values = (wide.reshape(-1).view("<i4") >> 8).astype(np.float32) / np.float32(2**23)
        case "s32":
            values = (np.frombuffer(raw, "<i4") / 2**31).astype(np.float32)
        case _:
            values = np.frombuffer(raw, "<f4").astype(np.float32)
            if not np.isfinite(values).all():
                message = "the recording is damaged: a sample is no finite number"
                raise MediaError(message, code="M107", help=_WHOLE)
    return values.reshape(-1, header.channels)


def _form(body: bytes) -> tuple[int, int, int, int]:
    """The format, channels, rate and bits of a sample."""
    if len(body) < 16:
        raise MediaError("the recording is damaged: its format is cut off", code="M107", help=_WHOLE)
    of, channels, rate, _, _, bits = struct.unpack("<HHIIHH", body[:16])
    if of == _EXTENSIBLE and len(body) >= 26:
        of = int.from_bytes(body[24:26], "little")
    return of, channels, rate, bits


def _header(form: tuple[int, int, int, int], start: int, length: int, size: int) -> WavHeader:
    of, channels, rate, bits = form
    encoding = _ENCODINGS.get((of, bits))
    if encoding is None:
        raise MediaError(
            f"the samples of the WAV have the format {of} of {bits} bits",
            code="M117",
            help="store them as PCM of 8, 16, 24 or 32 bits, or as float32",
        )
    if start + length > size:
        raise MediaError("the recording is damaged: its samples are cut off", code="M107", help=_WHOLE)
    if not channels or not rate or length % (channels * bits // 8):
        raise MediaError("the recording is damaged: its header contradicts itself", code="M107", help=_WHOLE)
    return WavHeader(encoding, channels, rate, length // (channels * bits // 8), start, length)
