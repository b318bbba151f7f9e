"""What an artifact says of a vocabulary: from a table that was made of it before, otherwise from the file itself.

What reads and fetches files is imported where no table is there: a model that has run before needs neither.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from katapi.artifacts.cache import Cache
from katapi.runtime.errors import ArtifactError
from katapi.runtime.tokenization.table import added_of, artifact_of, read_table
from katapi.runtime.tokenization.vocabulary_data import VocabularyData

if TYPE_CHECKING:
    from katapi.artifacts.lock import Lock


def vocabulary_of(
    name: str, lock: Lock, *, passed_over: Collection[int], tables: Collection[Path], merges: bool
) -> VocabularyData:
    """The data of an artifact that a lock names, with the tokens that it lists beside its own.

    A table in `tables` that was made of the same file is read instead of it, so that not every build needs every
    artifact; with `merges`, only one that holds them. In a file of ranks no token has an id in `passed_over`. Raises
    `ArtifactError` A111, A121 or A123 where neither is to be had, and what `read_vocabulary` raises: A106, A131 to
    A133, A135 to A137, A139.
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
    from katapi.artifacts.fetch import artifact_bytes

    return _read(artifact_bytes(name, lock), name, passed_over)


def cached_vocabulary(name: str, sha256: str, passed_over: Collection[int] = ()) -> VocabularyData:
    """The data of an artifact whose table is in no package but in the user's cache, where it is made on first use.

    Raises `ArtifactError` A125 where the artifact itself is not in the cache, A104 where no table can be made of it,
    and what `read_vocabulary` raises.
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
        return _read(data, name, passed_over)

    return cache.table(sha256, read)


def _read(data: bytes, name: str, passed_over: Collection[int]) -> VocabularyData:
    from katapi.runtime.artifacts.any_file import read_vocabulary

    return read_vocabulary(data, where=name, passed_over=passed_over)
