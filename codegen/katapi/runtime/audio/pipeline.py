"""A declared pipeline of recordings: from the bytes of a file to arrays, tokens and placeholder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from katapi.runtime.audio.hearing import Hearing, heard, heard_header
from katapi.runtime.audio.recording import Recording
from katapi.runtime.audio.wav import WavHeader
from katapi.runtime.dataclass import dataclass
from katapi.runtime.errors import MediaError
from katapi.runtime.images.arrays import Join, joined
from katapi.runtime.images.pieces import Piece, Pieces, standing
from katapi.runtime.images.plan import Outputs, plan_for
from katapi.runtime.images.record import digest_of_array, digest_of_file, digests_of_arrays
from katapi.runtime.record import Identity

if TYPE_CHECKING:
    from katapi.runtime.json_types import JsonObject

_OTHER = "send a recording of another length"


class AudioPlan(Protocol):
    """What becomes of one recording. It is made of the recording, or of its outline, which it may refuse then."""

    def arrays(self) -> Outputs:
        """The arrays by their names; those of an outline have shapes alone."""

    def tokens(self) -> int:
        """How many tokens of the model the recording takes."""

    def placeholder(self) -> Iterable[Piece]:
        """What stands for the recording among the tokens of the input."""


@dataclass(frozen=True, slots=True)
class AudioMeasure:
    """What the header of a recording tells."""

    samples: int
    """How many samples each channel has."""
    tokens: int
    """How many tokens of the model the recording takes."""
    placeholder: Pieces
    """What stands for it among the tokens of the input."""
    shapes: Mapping[str, tuple[int, ...]]
    """The shape of each array, by its name."""


@dataclass(frozen=True, eq=False)
class ProcessedRecording:
    """One recording, processed: its arrays, and what stands for it among the tokens of the input."""

    pipeline: AudioPipeline
    """By which it was processed."""
    header: WavHeader
    """What its file says."""
    source: Recording
    """The recording, in one channel."""
    file: JsonObject
    """The length and the digest of its bytes, and the media type that a caller said."""
    arrays: Outputs
    """By name, in the order of the declaration."""
    tokens: int
    """How many tokens of the model it takes."""
    placeholder: Pieces
    """What stands for it."""

    @cached_property
    def record(self) -> JsonObject:
        """The record as plain JSON, put together when it is first asked for."""
        assert self.source.values is not None, "it was processed"
        of, header = self.pipeline, self.header
        return {
            "pipeline": {"id": f"{of.name}@{of.version}", "digest": of.digest},
            "file": {
                **self.file,
                "encoding": header.encoding,
                "channels": header.channels,
                "rate": header.rate,
                "samples": header.samples,
            },
            "hearing": of.hearing.to_json(),
            "source": {"samples": digest_of_array(self.source.values)},
            "tokens": self.tokens,
            "arrays": dict(digests_of_arrays(self.arrays)),
            "libraries": {"numpy": np.__version__},
        }


@dataclass(frozen=True, eq=False)
class ProcessedRecordings:
    """The recordings of one call: the arrays of all together, and each by itself."""

    arrays: Outputs
    """By name, joined as the pipeline declares."""
    recordings: tuple[ProcessedRecording, ...]
    """Each by itself, in order."""

    @property
    def tokens(self) -> int:
        """How many tokens of the model all recordings take."""
        return sum(one.tokens for one in self.recordings)

    @property
    def record(self) -> tuple[JsonObject, ...]:
        """The record of each recording."""
        return tuple(one.record for one in self.recordings)


@dataclass(frozen=True, eq=False, kw_only=True)
class AudioPipeline:
    """A declared pipeline of recordings: `process` and `measure`. Nothing of it changes: threads can share it."""

    name: str
    """By which it is found."""
    version: str
    """Of its declaration."""
    digest: str
    """Of the meaning of its declaration, `sha256:…`."""
    hearing: Hearing
    """Which recordings it takes."""
    plan: Callable[[Recording], AudioPlan]
    """What becomes of a recording, or of its outline."""
    joins: Mapping[str, Join]
    """How the arrays of several of one call become one, by the name of the array."""

    @property
    def identity(self) -> Identity:
        """Its name and version, and the digest of its meaning."""
        return Identity(f"{self.name}@{self.version}", self.digest)

    def process(self, data: bytes, *more: bytes, media_type: str | None = None) -> ProcessedRecordings:
        """The recordings of one call, each from the bytes of its file.

        Raises `MediaError` M101 to M104, M107, M109 and M117; its place says which of several is at fault.
        """
        files = (data, *more)
        where = ["" if not more else f"audio[{index}]" for index in range(len(files))]
        pairs = zip(files, where, strict=True)
        return self.together([self.process_one(one, media_type=media_type, where=at) for one, at in pairs])

    def process_one(self, data: bytes, *, media_type: str | None = None, where: str = "") -> ProcessedRecording:
        """One recording; `where` is the place that an error names. Raises as `process` does."""
        try:
            header = self._header(data, media_type)
            source = heard(bytes(data), header)
            plan = self.planned(source)
            file: JsonObject = {"length": len(data), "sha256": digest_of_file(data), "media_type_told": media_type}
            placeholder = standing(plan.placeholder())
            return ProcessedRecording(self, header, source, file, plan.arrays(), plan.tokens(), placeholder)
        except MediaError as error:
            error.where = error.where or where
            raise

    def measure(self, data: bytes, *, media_type: str | None = None, where: str = "") -> AudioMeasure:
        """What stands for a recording, from the header of its file. Raises as `process` does, but for its samples."""
        try:
            header = self._header(data, media_type)
            plan = self.planned(Recording(header.samples, header.rate, header.channels))
            shapes = {name: array.shape for name, array in plan.arrays().items()}
            return AudioMeasure(header.samples, plan.tokens(), standing(plan.placeholder()), shapes)
        except MediaError as error:
            error.where = error.where or where
            raise

    def together(self, recordings: Sequence[ProcessedRecording]) -> ProcessedRecordings:
        """Recordings of this pipeline, at least one, with their arrays joined as it declares."""
        return ProcessedRecordings(joined([one.arrays for one in recordings], self.joins), tuple(recordings))

    def planned(self, recording: Recording) -> AudioPlan:
        """The plan for a recording. Raises `MediaError` M109 where it has no answer for one of this length."""
        return plan_for(self.plan, recording, by=self.name, what=f"{recording.samples} samples", help=_OTHER)

    def _header(self, data: bytes, media_type: str | None) -> WavHeader:
        if not isinstance(data, bytes | bytearray | memoryview):
            raise TypeError(f"a recording is given by the bytes of its file, not by a {type(data).__name__}")
        return heard_header(bytes(data), self.hearing, media_type)
