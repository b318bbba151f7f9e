"""A pack in memory: one execution, stage by stage, as plain data."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Literal, NamedTuple, TypeAlias

from katapi.runtime.dataclass import dataclass
from katapi.runtime.json_types import JsonObject
from katapi.runtime.record import Environment, Stages, flat_json, stage_digest
from katapi.runtime.stages import Stage

Redaction: TypeAlias = Literal["digests", "placeholders"]
"""What stands in the place of contents: their digests, or as many characters of the same kinds."""


class PackedArtifact(NamedTuple):
    """Something that the tokenizer is made of."""

    kind: str
    """`artifact` (the file that the vocabulary was made of), `table`, `tokens`, `configuration` or `controls`."""
    name: str
    """Its name in `artifacts.lock`, or that of the file."""
    sha256: str
    """64 hexadecimal digits; empty where it was redacted."""
    data: bytes | None
    """The bytes, where they are embedded."""


@dataclass(frozen=True, slots=True)
class Pack:
    """One execution as a pack holds it."""

    model: str
    """The name of the model."""
    environment: Environment
    """The versions of what ran."""
    stages: Stages
    """The content of each stage that was reached, as `ExecutionRecord.stages` has them."""
    digests: Mapping[Stage, str | None]
    """The digest of each stage as it was recorded; None where contents were replaced by placeholders."""
    raw: bytes | None
    """The bytes of the request; None for a typed request, and for one that was redacted and could not be read."""
    policy: JsonObject | str | None
    """The budget that was asked for, in full; or a name that the model did not have."""
    fault: JsonObject | None
    """Why the execution ended early, as `Fault.to_json` has it."""
    token_segments: tuple[tuple[int, int], ...] | None
    """For each token the half-open range of segments that it covers; None where the execution failed."""
    artifacts: tuple[PackedArtifact, ...]
    """What the tokenizer is made of."""
    redaction: Redaction | None
    """What stands in the place of contents; None where they are there."""
    media: tuple[PackedArtifact, ...] = ()
    """The images that came beside the request; their kinds are `attached`, `file` and `address`."""
    load: str | None = None
    """The way in which images came in, where one was chosen: that of the last of them."""
    source: str | None = None
    """The system that ran, where another than Katapi did (`katapi.foreign`); then stages may be missing."""

    def to_json(self) -> JsonObject:
        """The same JSON that `ExecutionRecord.to_json` gives."""
        return flat_json(self.model, self.environment.to_json(), self.stages, self.fault)


def with_images(pack: Pack, files: Iterable[bytes]) -> Pack:
    """The pack with the bytes of images of which it has no more than the digest; files of other digests are left."""
    found = {hashlib.sha256(data).hexdigest(): bytes(data) for data in files}
    media = tuple(
        image if image.data is not None else image._replace(data=found.get(image.sha256)) for image in pack.media
    )
    return replace(pack, media=media)


def plain_digests(stages: Stages) -> dict[Stage, str | None]:
    """The digest of each stage."""
    return {stage: stage_digest(content) for stage, content in stages.items()}
