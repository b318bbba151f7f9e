"""What an artifact says of a vocabulary: from a table that was made of it before, otherwise from the file itself."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from katapi.artifacts.cache import Cache
from katapi.artifacts.fetch import artifact_bytes
from katapi.artifacts.lock import Lock
from katapi.runtime.artifacts.any_file import read_vocabulary
from katapi.runtime.errors import ArtifactError
from katapi.runtime.tokenization.table import added_of, artifact_of, read_table
from katapi.runtime.tokenization.vocabulary_data import VocabularyData


def vocabulary_of(
    name: str, lock: Lock, *, passed_over: Collection[int], tables: Collection[Path], merges: bool
) -> VocabularyData:
    """The data of an artifact that a lock names, with the tokens that it lists beside its own.

    A table in `tables` that was made of the same file is read instead of it, so that not every build needs every
    artifact; with `merges`, only one that holds them. In a file of ranks no token has an id in `passed_over`. Raises
    `ArtifactError` where neither is to be had.
    """
    sha256 = lock[name].sha256
    for path in tables:
        try:
            table = path.read_bytes()
            data = read_table(table, where=str(path))
        except (OSError, ArtifactError):
            continue
        if artifact_of(table) == sha256 and (len(data.merges) or not merges):
            return replace(data, added=added_of(table))
    return read_vocabulary(artifact_bytes(name, lock), where=name, passed_over=passed_over)


def cached_vocabulary(name: str, sha256: str, passed_over: Collection[int] = ()) -> VocabularyData:
    """The data of an artifact whose table is in no package but in the user's cache, where it is made on first use.

    Raises `ArtifactError` where the artifact itself is not in the cache.
    """
    cache = Cache.of_user()

    def read() -> VocabularyData:
        data = cache.get(sha256)
        if data is None:
            raise ArtifactError(
                "this vocabulary does not come with Katapi, and is not in the cache",
                code="A125",
                where=name,
                help=f"run `katapi fetch {name}`",
            )
        return read_vocabulary(data, where=name, passed_over=passed_over)

    return cache.table(sha256, read)
