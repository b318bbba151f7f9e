"""Some frames of a film as one file, so that a pack has what was used of it: a ZIP archive without compression.

`film.json` says how many frames the film has and when they are shown; `frames/17` is the file of a frame, and
`frames/17.npy` the pixels of one that was given as such. The same frames give the same bytes.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Sequence
from typing import TYPE_CHECKING, overload

import numpy as np

from katapi.runtime.errors import MediaError
from katapi.runtime.images.frames import Frames

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BEGINS = b"PK\x03\x04"
_FIRST_OF_ALL = (1980, 1, 1, 0, 0, 0)  # the earliest time that a ZIP archive can say


def is_frames_file(data: bytes) -> bool:
    """Whether bytes begin as such a file does."""
    return data.startswith(_BEGINS)


def write_frames(frames: Frames, indices: Sequence[int]) -> bytes:
    """The file of some frames of a film, the first among them in any case."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        times = None if frames.times is None else list(frames.times)
        told = {"frames": len(frames.files), "fps": frames.fps, "times": times, "file": frames.file}
        archive.writestr(zipfile.ZipInfo("film.json", _FIRST_OF_ALL), json.dumps(told))
        for index in sorted({0, *indices}):
            frame = frames.files[index]
            name = f"frames/{index}"
            if isinstance(frame, np.ndarray):
                pixels = io.BytesIO()
                np.save(pixels, frame, allow_pickle=False)
                name, frame = f"{name}.npy", pixels.getvalue()
            archive.writestr(zipfile.ZipInfo(name, _FIRST_OF_ALL), frame)
    return file.getvalue()


def read_frames(data: bytes) -> Frames:
    """The film whose frames a file has. Raises `MediaError` M114 for an archive of anything else."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if any(entry.compress_type != zipfile.ZIP_STORED for entry in archive.infolist()):
                raise ValueError("its files are compressed")
            told = json.loads(archive.read("film.json"))
            found: dict[int, bytes | NDArray[np.uint8]] = {}
            for name in archive.namelist():
                folder, _, number = name.partition("/")
                if folder == "frames":
                    frame = archive.read(name)
                    index = int(number.removesuffix(".npy"))
                    found[index] = np.load(io.BytesIO(frame), allow_pickle=False) if ".npy" in number else frame
            return Frames(
                files=_Some(found, int(told["frames"])), fps=told["fps"], times=told["times"], file=told["file"]
            )
    except (KeyError, OSError, TypeError, ValueError, zipfile.BadZipFile) as error:
        raise MediaError(
            f"the bytes are a ZIP archive, and none of frames ({error})", code="M114", help="send the frames"
        ) from None


class _Some(Sequence["bytes | NDArray[np.uint8]"]):
    """The frames of a film, of which only some are at hand."""

    def __init__(self, frames: dict[int, bytes | NDArray[np.uint8]], count: int) -> None:
        self._frames = frames
        self._count = count

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> bytes | NDArray[np.uint8]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[bytes | NDArray[np.uint8]]: ...
    def __getitem__(self, index: int | slice) -> bytes | NDArray[np.uint8] | Sequence[bytes | NDArray[np.uint8]]:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(self._count))]
        if index not in self._frames:
            raise MediaError(
                f"frame {index} of the film is not at hand", code="M114", help="send all frames of the film"
            )
        return self._frames[index]
