"""Which recordings a pipeline takes, and how the channels of one become one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from katapi.runtime.audio.recording import Recording
from katapi.runtime.audio.wav import MEDIA_TYPES, WavHeader, is_wav, read_wav_header, samples_of
from katapi.runtime.dataclass import dataclass
from katapi.runtime.errors import MediaError

if TYPE_CHECKING:
    from katapi.runtime.json_types import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Hearing:
    """Which recordings a pipeline takes."""

    accept: tuple[str, ...]
    """The names of formats, by what the file holds: `wav`."""
    bytes: int
    """The length of a file at most."""
    samples: int
    """The samples of a channel at most."""
    channels: Literal["mean", "reject"]
    """What becomes of several channels: their mean, or the recording is refused."""
    rate: int
    """The samples in a second: other rates are refused."""
    media_type: Literal["reject", "ignore"]
    """What is done where a caller says a media type and the file has another."""

    def to_json(self) -> JsonObject:
        """What is taken and refused, as plain JSON. A file that is damaged is always refused."""
        return {
            "accept": list(self.accept),
            "limits": {"bytes": self.bytes, "samples": self.samples},
            "channels": self.channels,
            "rate": self.rate,
            "media_type": self.media_type,
            "damaged": "reject",
        }


def heard_header(data: bytes, hearing: Hearing, media_type: str | None) -> WavHeader:
    """The header of a recording that is taken.

    Raises `MediaError` M101 for no bytes or no samples, M102 for too many, M103 for another format, M104 for a media
    type that lies, M107 for a file that is damaged, and M117 for another encoding, rate, or number of channels.
    """
    if not data:
        raise MediaError("the recording has no bytes", code="M101", help="send the whole file")
    if len(data) > hearing.bytes:
        message = f"the recording has {len(data)} bytes, and the limit is {hearing.bytes}"
        raise MediaError(message, code="M102", help="send a shorter recording")
    if not is_wav(data):
        raise MediaError("the bytes are no WAV file, which alone is read here", code="M103", help="convert it to WAV")
    told = None if media_type is None else media_type.partition(";")[0].strip().lower()
    if told is not None and told not in MEDIA_TYPES and hearing.media_type == "reject":
        message = f"the media type is {media_type!r}, and the bytes are {MEDIA_TYPES[0]}"
        raise MediaError(message, code="M104", help="say the media type that the file has, or none")
    header = read_wav_header(data)
    if not header.samples:
        raise MediaError("the recording has no samples", code="M101", help="send the whole file")
    if header.samples > hearing.samples:
        message = f"the recording has {header.samples} samples, and the limit is {hearing.samples}"
        raise MediaError(message, code="M102", help="send a shorter recording")
    if header.rate != hearing.rate:
        raise MediaError(
            f"the recording has {header.rate} samples in a second, and the pipeline takes {hearing.rate}",
            code="M117",
            help="resample it first: no resampling is declared",
        )
    if header.channels > 1 and hearing.channels == "reject":
        message = f"the recording has {header.channels} channels, and the pipeline takes one"
        raise MediaError(message, code="M117", help="mix it down first")
    return header


def heard(data: bytes, header: WavHeader) -> Recording:
    """The recording, its channels mixed into one by their mean. Raises `MediaError` M107 for samples that are none."""
    samples = samples_of(data, header)
    mono = samples[:, 0] if header.channels == 1 else samples.mean(axis=1, dtype=np.float32)
    return Recording(header.samples, header.rate, header.channels, mono)
