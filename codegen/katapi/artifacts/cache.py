"""The cache of artifacts: files named by the SHA-256 of what they hold, so that nothing in it can go out of date.

Beside them lie tables that were made from artifacts, named by the artifact and the version of the table's format.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from katapi.artifacts.table import table_bytes
from katapi.files import write_whole
from katapi.runtime.errors import ArtifactError
from katapi.runtime.tokenization.table import VERSION, load_table, read_table
from katapi.runtime.tokenization.vocabulary_data import VocabularyData
from katapi.runtime.user_cache import user_cache


@dataclass(frozen=True)
class Cache:
    """A folder of files, each at `sha256/<first two digits>/<all digits>`. Safe to share between processes.

    The folder is `folder`. The table of an artifact is at `tables/<version>/<first two digits>/<all digits>`, the
    digits being the artifact's.
    """

    folder: Path

    @classmethod
    def of_user(cls) -> Cache:
        """The folder in the environment variable `KATAPI_CACHE`, otherwise `~/.cache/katapi`."""
        return cls(user_cache())

    def path(self, sha256: str) -> Path:
        """Where the file with this digest stands, whether it is there or not."""
        return self.folder / "sha256" / sha256[:2] / sha256

    def get(self, sha256: str) -> bytes | None:
        """The bytes with this digest; None where they are not there, or the file was damaged."""
        try:
            data = self.path(sha256).read_bytes()
        except OSError:
            return None
        return data if hashlib.sha256(data).hexdigest() == sha256 else None

    def put(self, data: bytes) -> Path:
        """Stores `data` under its digest. Another process sees the whole file or none.

        Raises `ArtifactError` A123 where it cannot be written.
        """
        target = self.path(hashlib.sha256(data).hexdigest())
        _write(target, data)
        return target

    def table_path(self, sha256: str) -> Path:
        """Where the table of the artifact with this digest stands, whether it is there or not."""
        return self.folder / "tables" / f"{VERSION}" / sha256[:2] / sha256

    def table(self, sha256: str, read: Callable[[], VocabularyData]) -> VocabularyData:
        """What the artifact with this digest says of its vocabulary, from its table.

        Where there is none, or it was damaged, `read` gives the data, and the table is written; of two processes that
        do so at once, each writes the same file whole. Raises `ArtifactError` A104 where no table can be made, since
        two ids that text can yield have the same token, and what `read` raises.
        """
        target = self.table_path(sha256)
        try:
            return load_table(target, artifact=sha256)
        except ArtifactError:
            table = table_bytes(read(), artifact=sha256)
        with suppress(ArtifactError):  # a cache that cannot be written to costs time, not the tokenizer
            _write(target, table)
        return read_table(table, where=str(target))


def _write(target: Path, data: bytes) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        write_whole(target, data)
    except OSError as error:
        raise ArtifactError(
            f"cannot write to the cache: {error.strerror}",
            code="A123",
            where=str(target),
            help="make room there and see that you may write, or set KATAPI_CACHE to another folder",
        ) from None
