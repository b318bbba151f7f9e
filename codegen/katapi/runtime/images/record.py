"""What one run of a pipeline did with one image, so that another run can be held against it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from katapi.runtime.dataclass import dataclass
from katapi.runtime.images.arrays import Array
from katapi.runtime.images.media import Format
from katapi.runtime.images.picture import Size, Step

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from katapi.runtime.images.arrival import Arrival
    from katapi.runtime.images.decoding import Header, Reading
    from katapi.runtime.images.pixels import Normalization
    from katapi.runtime.json_types import JsonObject
    from katapi.runtime.record import Identity


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageRecord:
    """The record of one image: what came in, what was done with it, by what, and the digests of what came out."""

    pipeline: Identity
    """The declaration: its name and version, and the digest of its meaning."""
    length: int
    """Of the file, in bytes."""
    sha256: str
    """Of the bytes of the file, `sha256:…` as all digests here."""
    media_type: str | None
    """What a caller said; None where nobody did."""
    header: Header
    """What the header of the file says."""
    way: str
    """The name of the way in which the image came in."""
    arrival: Arrival
    """What that way does."""
    reading: Reading
    """Which files are read."""
    size: Size
    """Of the image as it arrived: 8-bit RGB, turned by its orientation where the way says so."""
    pixels: str
    """The digest of the arrived pixels: of their bytes, row by row, three to a pixel. Where it differs, so does the
    decoder."""
    steps: tuple[Step, ...]
    """What was done with the picture, in order."""
    numbers: Normalization
    """How a pixel became a number."""
    tokens: int
    """How many tokens of the model the image takes."""
    arrays: tuple[tuple[str, str], ...]
    """The name and the digest of each array, as `digest_of_array` has it."""
    libraries: tuple[tuple[str, str], ...]
    """The versions of Pillow and numpy, and of the library that decodes this format where there is one."""

    def as_json(self) -> JsonObject:
        """The record as plain JSON."""
        return {
            "pipeline": {"id": self.pipeline.id, "digest": self.pipeline.digest},
            "file": {
                "length": self.length,
                "sha256": self.sha256,
                "media_type_told": self.media_type,
                "media_type": self.header.format.media_type,
                "size": list(self.header.size),
                "mode": self.header.mode,
                "orientation": self.header.orientation,
                "animated": self.header.animated,
            },
            "arrival": {"way": self.way, **self.arrival.to_json()},
            "reading": self.reading.to_json(),
            "source": {"size": list(self.size), "pixels": self.pixels},
            "steps": [step.to_json() for step in self.steps],
            "numbers": self.numbers.to_json(),
            "tokens": self.tokens,
            "arrays": dict(self.arrays),
            "libraries": dict(self.libraries),
        }


def digest_of_array(array: Array | NDArray[np.float64]) -> str:
    """The SHA-256 of an array's type, shape and bytes, the bytes in little-endian order: `float32[2,3]` and they.

    Those of a model are float32, int32 or int64 of any shape; the times of a film are float64 of shape [n].
    """
    little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    shape = ",".join(map(str, array.shape))
    return _sha256(f"{array.dtype.name}[{shape}]".encode(), little.reshape(-1).view(np.uint8).data)


def digests_of_arrays(arrays: Mapping[str, Array]) -> tuple[tuple[str, str], ...]:
    """The name and the digest of each array."""
    return tuple((name, digest_of_array(array)) for name, array in arrays.items())


def digest_of_pixels(pixels: NDArray[np.uint8]) -> str:
    """The SHA-256 of pixels, an array of uint8 [height, width, 3], by their bytes alone."""
    return _sha256(b"", np.ascontiguousarray(pixels).reshape(-1).data)


def digest_of_file(data: bytes) -> str:
    """The SHA-256 of the bytes of a file."""
    return _sha256(data)


def _sha256(*parts: bytes | memoryview) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return f"sha256:{digest.hexdigest()}"


@cache
def libraries_of(format: Format | None) -> tuple[tuple[str, str], ...]:
    """What decodes and computes: names and versions; no format is decoded where `format` is None."""
    import PIL  # Pillow is an extra
    from PIL import features

    versions = {
        "feature": features.version_feature,
        "module": features.version_module,
        "codec": features.version_codec,
    }
    kind, library = ("", "") if format is None else format.codec
    found = [("pillow", PIL.__version__), ("numpy", np.__version__)]
    if kind:
        found.append((library, versions[kind](library) or "unknown"))
    return tuple(found)
