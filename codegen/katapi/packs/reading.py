"""The bytes of a pack file → a pack in memory. Whatever the bytes are, the result is a pack or a `ReplayError`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, TypeVar

from pydantic import ValidationError

from katapi.packs import format_1
from katapi.packs.archive import MANIFEST, MAX_SIZE, read_archive
from katapi.packs.arrays import read_npy
from katapi.packs.consistency import check_arrays, check_budget, check_media, check_recorded, not_so
from katapi.packs.pack import Pack, PackedArtifact
from katapi.runtime.errors import ReplayError, RequestError
from katapi.runtime.json_types import Json, JsonObject
from katapi.runtime.places import json_path
from katapi.runtime.record import ARRAYS, Environment, stage_digest
from katapi.runtime.stages import Stage
from katapi.runtime.strict_json import parse_json

_DEEPEST: Final = 512
"""How deep the JSON of a pack may nest: a request that a spec lets nest, and what is around it."""

P = TypeVar("P", bound=format_1.Part)


def read_pack(source: bytes | Path) -> Pack:
    """The pack in some bytes or in a file.

    Raises `ReplayError` Y100 for what is no pack, Y101 for one that is cut off or was changed, Y102 for a format that
    this version of Katapi does not know, Y103 where a file in it is not as the format says, and Y104 for one that is
    too large.
    """
    if isinstance(source, bytes):
        return _read(source)
    try:
        with source.open("rb") as file:
            data = file.read(MAX_SIZE + (1 << 24) + 1)
    except OSError as error:
        raise ReplayError(
            f"it cannot be read: {error.strerror}",
            code="Y100",
            where=str(source),
            help="pass a file that `katapi record` or `katapi foreign` wrote",
        ) from None
    try:
        return _read(data)
    except ReplayError as error:
        where = f"{source}, {error.where}" if error.where else str(source)
        raise ReplayError(error.message, code=error.code, where=where, help=error.help) from None


def _read(data: bytes) -> Pack:
    """The pack in some bytes, by the format that its manifest names."""
    files = read_archive(data)
    manifest = _object(files[MANIFEST], MANIFEST)
    number = manifest.get("format")
    read = _FORMATS.get(number) if isinstance(number, int) and not isinstance(number, bool) else None
    if read is None:
        known = ", ".join(map(str, _FORMATS))
        raise ReplayError(
            f"the pack is of the format {str(number)[:20]}; this version of Katapi reads {known}",
            code="Y102",
            where=MANIFEST,
            help="replay it with the version of Katapi that recorded it, or a later one",
        )
    return read(manifest, files)


def _read_1(found: JsonObject, files: Mapping[str, bytes]) -> Pack:
    manifest = _part(format_1.Manifest, found, MANIFEST)
    _check_files(manifest, files)
    arrays = {name: read_npy(_file(files, path), path) for name, path in manifest.arrays.items()}
    forms = format_1.STAGES if manifest.source is None else format_1.FOREIGN_STAGES
    stages: dict[Stage, JsonObject] = {}
    parts: dict[Stage, format_1.Part] = {}
    digests: dict[Stage, str | None] = {}
    for stage in Stage:
        entry: format_1.StageFile | None = getattr(manifest.stages, stage.value)
        if entry is None:
            continue
        if stage.value not in forms:
            raise not_so(MANIFEST, f"a pack of another system has no stage {stage.value}")
        content = _object(_file(files, entry.file), entry.file)
        parts[stage] = _part(forms[stage.value], content, entry.file)
        for name in content.keys() & set(ARRAYS):
            if name not in arrays or arrays[name].ndim != 1:
                raise not_so(entry.file, f"there is no array {name!r} in a row")
        stages[stage] = {key: arrays[key].tolist() if key in ARRAYS else value for key, value in content.items()}
        digests[stage] = entry.digest
        if manifest.redaction is None and entry.digest != stage_digest(stages[stage]):
            raise not_so(entry.file, "its digest is not the one that the manifest gives")
    covered = arrays.get("token_segments")
    check_arrays(stages, covered)
    if isinstance(manifest.policy, format_1.BudgetPolicy):
        check_budget(manifest.policy, MANIFEST)
    raw = None if manifest.request is None else _file(files, manifest.request)
    if manifest.source is None:
        check_recorded(parts, arrays, raw, redacted=manifest.redaction is not None)
        images = parts.get(Stage.IMAGES)
        if isinstance(images, format_1.ImagesStage):
            check_media(images, manifest.media)
    return Pack(
        model=manifest.model,
        environment=Environment(**manifest.versions.model_dump()),
        stages=stages,
        digests=digests,
        raw=raw,
        policy=_plain(found["policy"]),
        fault=_fault(found["error"], stages, foreign=manifest.source is not None),
        token_segments=None if covered is None else tuple((int(a), int(b)) for a, b in covered.tolist()),
        artifacts=tuple(
            PackedArtifact(a.kind, a.name, a.sha256, None if a.file is None else _file(files, a.file))
            for a in manifest.artifacts
        ),
        redaction=manifest.redaction,
        media=tuple(
            PackedArtifact(m.kind, m.name, m.sha256 or "", None if m.file is None else _file(files, m.file))
            for m in manifest.media
        ),
        load=manifest.load,
        source=manifest.source,
    )


_FORMATS: Final[Mapping[int, Callable[[JsonObject, Mapping[str, bytes]], Pack]]] = {format_1.FORMAT: _read_1}
"""How each format that there ever was is read."""


def _check_files(manifest: format_1.Manifest, files: Mapping[str, bytes]) -> None:
    """The files are those of the manifest, with the digests that it gives."""
    for name in sorted(manifest.files.keys() ^ (files.keys() - {MANIFEST})):
        raise not_so(name, "it is missing, or the manifest does not name it")
    for name, entry in manifest.files.items():
        if entry.size != len(files[name]) or entry.sha256 != hashlib.sha256(files[name]).hexdigest():
            raise ReplayError(
                "the file is not the one that was packed",
                code="Y101",
                where=name,
                help="get the pack again from where it was recorded",
            )
    named = [(a.file, a.sha256) for a in manifest.artifacts] + [(m.file, m.sha256) for m in manifest.media]
    for file, digest in named:
        if file is not None and hashlib.sha256(_file(files, file)).hexdigest() != digest:
            raise not_so(file, "it is not what the manifest names")


def _fault(found: Json, stages: Mapping[Stage, JsonObject], *, foreign: bool) -> JsonObject | None:
    """The error; the stages are those before the one that was not reached, or all. Another system may tell fewer."""
    order = [stage.value for stage in Stage]
    error = _plain(found)
    if error is None:
        expected = order
    elif isinstance(error, Mapping) and error["at"] in order:
        expected = order[: order.index(str(error["at"]))]
    else:
        raise not_so(MANIFEST, "it names a stage that there is not")
    given = [stage.value for stage in stages]
    if given != expected and not (foreign and {*given} <= {*expected}):
        raise not_so(MANIFEST, f"it has not the stages {', '.join(expected)}")
    return error if isinstance(error, Mapping) else None


def _plain(value: Json) -> JsonObject | str | None:
    assert value is None or isinstance(value, str | Mapping)  # the manifest was checked
    return value


def _file(files: Mapping[str, bytes], name: str) -> bytes:
    if name not in files or name == MANIFEST:
        raise not_so(MANIFEST, f"it names a file {name[:80]!r}, which is not there")
    return files[name]


def _object(data: bytes, where: str) -> JsonObject:
    try:
        value = parse_json(data.decode(), max_depth=_DEEPEST)
    except (UnicodeDecodeError, RequestError) as error:
        raise not_so(where, str(error).partition("\n")[0]) from None
    if not isinstance(value, Mapping):
        raise not_so(where, "it is no JSON object")
    return value


def _part(model: type[P], value: JsonObject, where: str) -> P:
    """A file as the format has it."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        raise not_so(where, f"{json_path(first['loc'])}: {first['msg']}") from None
    except RecursionError:
        raise not_so(where, "it nests too deep") from None
