"""What a tokenizer is made of, as parts of a pack: by digest, or with their bytes."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path

from katapi.artifacts.cache import Cache
from katapi.packs.pack import PackedArtifact
from katapi.runtime.json_types import Json
from katapi.runtime.model import Model
from katapi.runtime.request_model import RequestModel
from katapi.runtime.tokenization.table import MARK, artifact_of


def artifacts_of(model: Model[RequestModel], *, embed: bool) -> Iterator[PackedArtifact]:
    """The artifact of the vocabulary, its table, the configuration and the control tokens; the bytes with `embed`.

    The artifact itself is never embedded: not every machine that runs the model has it, and the same execution gives
    the same pack. Its table has all that the tokenizer needs of it. Tokens that a spec tells itself stand in the place
    of both. A configuration is written as Python writes the value of it.
    """
    parts = model.tokenizer_parts
    module = sys.modules.get(model._tokenizer.__module__)
    if parts.artifact is not None and parts.artifact_sha256 is not None:
        sha256 = parts.artifact_sha256
        cache = Cache.of_user()
        yield PackedArtifact("artifact", parts.artifact, sha256, None)
        table = _table(sha256, getattr(module, "__file__", None), cache) if embed else None
        if table is not None:
            yield _part("table", f"{parts.artifact}.bin", table, embed=True)
    if module is None:
        return
    names = sys.modules.get(f"{module.__name__.rpartition('.')[0]}.vocabulary")
    for kind, value in (("controls", _texts(names, "SPELLINGS")), ("tokens", _texts(names, "TEXTS"))):
        if value is not None:
            from katapi.packs.writing import json_file

            yield _part(kind, f"{kind}.json", json_file(value), embed=embed)
    configuration = getattr(module, "CONFIGURATION", None)
    if configuration is not None:
        yield _part("configuration", "configuration.txt", f"{configuration!r}\n".encode(), embed=embed)


def _part(kind: str, name: str, data: bytes, *, embed: bool) -> PackedArtifact:
    return PackedArtifact(kind, name, hashlib.sha256(data).hexdigest(), data if embed else None)


def _texts(module: object, name: str) -> dict[str, Json] | None:
    """A dictionary of texts by ids of a generated vocabulary."""
    found = getattr(module, name, None)
    return {str(id): text for id, text in found.items()} if isinstance(found, dict) else None


def _table(sha256: str, module: str | None, cache: Cache) -> bytes | None:
    """The table that was made of an artifact: of the package, or of the user's cache."""
    folder = [] if module is None else sorted((Path(module).parents[1] / "tables").glob("*.bin"))
    for path in [*folder, cache.table_path(sha256)]:
        if path.is_file():
            data = path.read_bytes()
            if data.startswith(MARK) and artifact_of(data) == sha256:
                return data
    return None
