"""The images of several inputs of one model: their grids, and what the model receives of all of them at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from katapi.runtime.model_input import ModelInput
from katapi.runtime.tensors.samples import Sample

if TYPE_CHECKING:
    from katapi.runtime.images.arrays import Array
    from katapi.runtime.tensors.mrope import Grid

_GRID = "image_grid_thw"


def grids_of(samples: Sequence[ModelInput | Sample]) -> list[list[Grid]]:
    """For each sample the grids of its images, as the pipelines of the Qwen family and of GLM give them."""
    found: list[list[Grid]] = []
    for sample in samples:
        images = sample.images if isinstance(sample, ModelInput) else ()
        rows = [row for one in images if _GRID in one.arrays for row in one.arrays[_GRID].tolist()]
        found.append([(int(time), int(height), int(width)) for time, height, width in rows])
    return found


def pixel_inputs_of(samples: Sequence[ModelInput | Sample]) -> dict[str, Array]:
    """The arrays of the images of all samples, in order, joined as their pipeline declares; all of them read-only.

    There are none without images.
    """
    found = _joined(samples)
    for array in found.values():
        array.setflags(write=False)
    return found


def own_pixel_inputs_of(samples: Sequence[ModelInput | Sample]) -> dict[str, Array]:
    """The same with memory of their own, to be written to."""
    return {name: np.require(array, requirements="W") for name, array in _joined(samples).items()}


def _joined(samples: Sequence[ModelInput | Sample]) -> dict[str, Array]:
    """The joined arrays; those of a single image are the image's own, which are read-only."""
    images = [one for sample in samples if isinstance(sample, ModelInput) for one in sample.images]
    if not images:
        return {}
    return dict(images[0].given.pipeline.together([one.given.processed for one in images]).arrays)
