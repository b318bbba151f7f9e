"""The images and videos of several inputs of one model: their grids, and what the model receives of all at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from katapi.runtime.images.arrays import make_read_only
from katapi.runtime.model_input import ModelInput
from katapi.runtime.tensors.samples import Sample

if TYPE_CHECKING:
    from katapi.runtime.images.arrays import Array
    from katapi.runtime.images.plan import Outputs
    from katapi.runtime.tensors.mrope import Grid


class Grids(NamedTuple):
    """For each sample the grids of its images and of its videos, as the Qwen family and GLM have them."""

    images: list[list[Grid]]
    """Those of the images of each sample."""
    videos: list[list[Grid]]
    """Those of its videos."""
    seconds: list[list[float]]
    """How much time lies between two steps of each video, as far as its pipeline says it."""


def grids_of(samples: Sequence[ModelInput | Sample]) -> Grids:
    """The grids of what was assembled."""
    found = Grids([], [], [])
    for sample in samples:
        images = [one.arrays for one in sample.images] if isinstance(sample, ModelInput) else []
        videos = [one.arrays for one in sample.videos] if isinstance(sample, ModelInput) else []
        found.images.append(_grids(images, "image_grid_thw"))
        found.videos.append(_grids(videos, "video_grid_thw"))
        found.seconds.append([float(one) for arrays in videos for one in arrays.get("second_per_grid_ts", ())])
    return found


def _grids(several: Sequence[Outputs], name: str) -> list[Grid]:
    rows = [row for arrays in several if name in arrays for row in arrays[name].tolist()]
    return [(int(time), int(height), int(width)) for time, height, width in rows]


def pixel_inputs_of(samples: Sequence[ModelInput | Sample]) -> dict[str, Array]:
    """The arrays of the images and videos of all samples, in order, joined as their pipelines declare; all read-only.

    There are none without images and videos.
    """
    found = _joined(samples)
    make_read_only(found)
    return found


def own_pixel_inputs_of(samples: Sequence[ModelInput | Sample]) -> dict[str, Array]:
    """The same with memory of their own, to be written to."""
    return {name: np.require(array, requirements="W") for name, array in _joined(samples).items()}


def _joined(samples: Sequence[ModelInput | Sample]) -> dict[str, Array]:
    """The joined arrays; those of a single image are the image's own, which are read-only."""
    inputs = [sample for sample in samples if isinstance(sample, ModelInput)]
    images = [one for sample in inputs for one in sample.images]
    videos = [one for sample in inputs for one in sample.videos]
    arrays: dict[str, Array] = {}
    if images:
        arrays |= images[0].given.pipeline.together([one.given.processed for one in images]).arrays
    if videos:
        arrays |= videos[0].given.pipeline.together([one.given.processed for one in videos]).arrays
    return arrays
