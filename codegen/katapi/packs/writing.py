"""An execution → a pack in memory → the bytes of a pack file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

import numpy as np

from katapi.packs.archive import MANIFEST, write_archive
from katapi.packs.arrays import npy_bytes
from katapi.packs.artifacts import artifacts_of
from katapi.packs.format_1 import FORMAT
from katapi.packs.pack import Pack, PackedArtifact, Redaction, plain_digests
from katapi.packs.redaction import redacted
from katapi.runtime.budget.policy import Budget
from katapi.runtime.errors import ReplayError
from katapi.runtime.execution import Execution
from katapi.runtime.json_types import Json, JsonObject
from katapi.runtime.model import Model
from katapi.runtime.model_input import ModelInput
from katapi.runtime.record import ARRAYS, ExecutionRecord
from katapi.runtime.request_model import RequestModel
from katapi.runtime.stages import Stage

REQUEST = "request.bytes"
"""The name of the file with the bytes of the request."""


def pack_of(
    model: Model[RequestModel],
    execution: Execution | ModelInput,
    *,
    redact: Redaction | None = None,
    embed_artifacts: bool = False,
    embed_images: bool = True,
) -> Pack:
    """What was executed as a pack; `model` is the one that did it.

    With `redact` contents are replaced by their digests, or by as many characters of the same kinds. With
    `embed_artifacts` the tables of the tokenizer are in the pack, and not only their digests; so are the images
    that came beside the request, unless `embed_images` says otherwise or the pack is redacted.
    """
    whole = execution if isinstance(execution, ModelInput) else execution.input
    record = execution.record
    covered = None if whole is None else [(int(a), int(b)) for a, b in whole.origins.ranges.tolist()]
    stages = record.stages
    pack = Pack(
        model=record.model,
        environment=record.environment,
        stages=stages,
        digests=plain_digests(stages),
        raw=record.incoming.raw,
        policy=_policy(record),
        fault=None if record.fault is None else record.fault.to_json(),
        token_segments=None if covered is None else tuple(covered),
        artifacts=tuple(artifacts_of(model, embed=embed_artifacts)),
        redaction=None,
        media=tuple(
            PackedArtifact(kind, name, hashlib.sha256(data).hexdigest(), data if embed_images else None)
            for kind, name, data in record.media
        ),
        load=record.load,
    )
    return pack if redact is None else redacted(pack, model, redact)


def _policy(record: ExecutionRecord) -> JsonObject | str | None:
    return record.policy.to_json() if isinstance(record.policy, Budget) else record.policy


def pack_bytes(pack: Pack) -> bytes:
    """The bytes of a pack file: the same pack gives the same bytes.

    Raises `ReplayError` Y104 where it would be too large, and Y105 for a text that is not Unicode.
    """
    files: dict[str, bytes] = {}
    if pack.raw is not None:
        files[REQUEST] = pack.raw
    arrays: dict[str, str] = {}
    for name, numbers in _arrays(pack).items():
        arrays[name] = f"arrays/{name}.npy"
        files[arrays[name]] = npy_bytes(numbers)
    stages: dict[str, Json] = {}
    for stage, content in pack.stages.items():
        file = f"stages/{stage.value}.json"
        files[file] = json_file({key: key if key in ARRAYS else value for key, value in content.items()})
        stages[stage.value] = {"file": file, "digest": pack.digests[stage]}
    artifacts: list[Json] = []
    for artifact in pack.artifacts:
        path = None if artifact.data is None else f"artifacts/{artifact.sha256}"
        if path is not None and artifact.data is not None:
            files[path] = artifact.data
        artifacts.append({"kind": artifact.kind, "name": artifact.name, "sha256": artifact.sha256, "file": path})
    media: list[Json] = []
    for image in pack.media:
        path = None if image.data is None else f"media/{image.sha256}"
        if path is not None and image.data is not None:
            files[path] = image.data
        media.append({"kind": image.kind, "name": image.name, "sha256": image.sha256 or None, "file": path})
    manifest: JsonObject = {
        "format": FORMAT,
        **({} if pack.source is None else {"source": pack.source}),
        "model": pack.model,
        "versions": pack.environment.to_json(),
        "redaction": pack.redaction,
        "policy": pack.policy,
        "error": pack.fault,
        "stages": stages,
        "request": None if pack.raw is None else REQUEST,
        "arrays": arrays,
        "artifacts": artifacts,
        "media": media,
        **({} if pack.load is None else {"load": pack.load}),
        "files": {
            name: {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data)}
            for name, data in sorted(files.items())
        },
    }
    return write_archive({MANIFEST: json_file(manifest, sort=True), **files})


def _arrays(pack: Pack) -> Mapping[str, np.ndarray[tuple[int, ...], np.dtype[np.int64]]]:
    """The arrays by their names."""
    found = {
        name: np.array(content[name], dtype=np.int64)
        for stage in (Stage.IDS, Stage.TENSORS)
        if (content := pack.stages.get(stage)) is not None
        for name in ARRAYS
        if name in content
    }
    if pack.token_segments is not None:
        found["token_segments"] = np.array(pack.token_segments, dtype=np.int64).reshape(-1, 2)
    return found


def json_file(value: Json, *, sort: bool = False) -> bytes:
    """A JSON value as a file that people can read. Raises `ReplayError` Y105 for a text that is not Unicode."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=1, sort_keys=sort) + "\n"
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise ReplayError(
            "a text holds half of a surrogate pair, which is no character and cannot be written",
            code="Y105",
            help="record the request as bytes",
        ) from None
