"""The cache of artifacts: files named by the SHA-256 of what they hold, so that nothing in it can go out of date."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from katapi.files import write_whole
from katapi.runtime.errors import ArtifactError


@dataclass(frozen=True)
class Cache:
    """A folder of files, each at `sha256/<first two digits>/<all digits>`. Safe to share between processes."""

    folder: Path

    @classmethod
    def of_user(cls) -> Cache:
        """The folder in the environment variable `KATAPI_CACHE`, otherwise `~/.cache/katapi`."""
        return cls(Path(os.environ.get("KATAPI_CACHE") or Path.home() / ".cache" / "katapi"))

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
        """Stores `data` under its digest. Another process sees the whole file or none."""
        target = self.path(hashlib.sha256(data).hexdigest())
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            write_whole(target, data)
        except OSError as error:
            raise ArtifactError(
                f"cannot write to the cache: {error.strerror}",
                code="A123",
                where=str(target),
                help="make room there, or set KATAPI_CACHE to another folder",
            ) from None
        return target
