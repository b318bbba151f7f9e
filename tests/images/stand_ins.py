"""A pipeline that needs no pixels: a file is the text `4x6 a`, of an image of so many rows and columns of patches."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import NamedTuple

import numpy as np

from katapi.runtime.errors import MediaError
from katapi.runtime.images.interface import Array, Processed, Together
from katapi.runtime.images.placing import Shown
from katapi.runtime.json_types import JsonObject
from katapi.runtime.model import Model
from katapi.runtime.request_model import RequestModel
from katapi.runtime.segments import ControlToken


class Piece(NamedTuple):
    """One run of a placeholder."""

    spelling: str
    control: bool
    count: int  # type: ignore[assignment]  # a tuple has a method of this name
    indices: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Record:
    """What a run says of itself."""

    sha256: str
    load: str | None

    def as_json(self) -> JsonObject:
        return {"pipeline": "stand_in@1", "sha256": self.sha256, "load": self.load}


@dataclass(frozen=True)
class Image:
    """An image, processed."""

    grid: tuple[int, int]
    placeholder: tuple[Piece, ...]
    record: Record

    @property
    def tokens(self) -> int:
        return self.grid[0] * self.grid[1] // 4

    @property
    def arrays(self) -> Mapping[str, Array]:
        rows, columns = self.grid
        return {
            "pixel_values": np.full((rows * columns, 3), float(self.tokens), dtype=np.float32),
            "image_grid_thw": np.array([[1, rows, columns]], dtype=np.int64),
        }


@dataclass(frozen=True)
class Joined:
    """Images whose arrays stand one behind the other."""

    arrays: Mapping[str, Array]


@dataclass
class StandIn:
    """The pipeline; `around` are the control tokens around the rows of `pad`, `between` a text between two rows."""

    pad: str = "<|image_pad|>"
    around: tuple[str, str] | None = ("<|vision_start|>", "<|vision_end|>")
    between: str = ""
    load: str | None = None
    name: str = "stand_in"
    processed: list[bytes] = field(default_factory=list)

    def loading(self, way: str | None) -> StandIn:
        return self if way is None else replace(self, load=way, processed=self.processed)

    def measure(self, data: bytes, *, media_type: str | None = None, where: str = "") -> Image:
        try:
            size, _, _ = data.decode().partition(" ")
            rows, columns = map(int, size.split("x"))
        except ValueError:
            raise MediaError("this is no image", code="M102", where=where) from None
        pieces: list[Piece] = []
        for row in range(rows // 2):
            if row and self.between:
                pieces.append(Piece(self.between, False, 1, (("row", row),)))
            pieces.append(Piece(self.pad, True, columns // 2, (("row", row),)))
        if self.around is not None:
            pieces = [Piece(self.around[0], True, 1), *pieces, Piece(self.around[1], True, 1)]
        record = Record(hashlib.sha256(data).hexdigest(), self.load)
        return Image((rows, columns), tuple(pieces), record)

    def process_one(self, data: bytes, *, media_type: str | None = None, where: str = "") -> Image:
        image = self.measure(data, where=where)
        if data.endswith(b"damaged"):
            raise MediaError("the image is damaged", code="M107", where=where)
        self.processed.append(data)
        return image

    def together(self, images: Sequence[Processed]) -> Together:
        names = images[0].arrays
        return Joined({name: np.concatenate([image.arrays[name] for image in images]) for name in names})


def controls_of(model: Model[RequestModel]) -> type[ControlToken]:
    """The control tokens of a model's vocabulary."""
    controls: type[ControlToken] = import_module(model._render.__module__).Control
    return controls


def showing(model: Model[RequestModel], pipeline: StandIn) -> Model[RequestModel]:
    """A model whose template shows images by a pipeline."""
    return replace(model, _shown=Shown(controls_of(model), lambda: pipeline))
