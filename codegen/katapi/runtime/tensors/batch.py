"""Several inputs as one rectangle, filled up on the left or on the right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.counts import count_of
from katapi.runtime.dataclass import dataclass
from katapi.runtime.model_input import ModelInput
from katapi.runtime.tensors.embedding import refuse_beyond
from katapi.runtime.tensors.labels import IGNORED
from katapi.runtime.tensors.samples import Sample, Samples, all_labels, counted, ids_of, lengths_of, samples_of

if TYPE_CHECKING:  # only the vision models of the Qwen family have positions of three rows
    from katapi.runtime.images.arrays import Array
    from katapi.runtime.tensors.mrope import BatchPositions, Grid, VisionLayout

Padding = Literal["left", "right"]
"""On which side short rows are filled up."""

T = TypeVar("T", bound=np.generic)


@dataclass(frozen=True, eq=False)
class Batch:
    """Several inputs of one model: int64 arrays of shape [B, n], contiguous, each with memory of its own.

    `input_ids`, `attention_mask` (1 on tokens, 0 on padding) and `position_ids` have that shape; `lengths` is int64 of
    shape [B]. The arrays can be written to, so that `torch.from_numpy` and `torch.from_dlpack` share them.
    Positions count real tokens only, from 0; those of padding are 0, which every model has, and which the mask keeps
    out of the result.
    """

    input_ids: NDArray[np.int64]
    attention_mask: NDArray[np.int64]
    position_ids: NDArray[np.int64]
    lengths: NDArray[np.int64]
    """How many real tokens each row has."""
    padding: Padding
    """The side that is filled up."""
    pad_id: int
    """The id that stands on padding."""
    _samples: Sequence[ModelInput | Sample] = field(repr=False)

    def __len__(self) -> int:
        return len(self.lengths)

    @cached_property
    def labels(self) -> NDArray[np.int64]:
        """What a model is to predict, -100 on padding and on all that is not trained on: int64 of shape [B, n].

        Made when first asked for, since finding out which tokens were sampled takes longer than to encode them.
        """
        real = _real(lengths_of(self._samples), self.padding, self.input_ids.shape[1])
        return _spread(real, all_labels(self._samples), IGNORED)

    @property
    def last(self) -> NDArray[np.int64]:
        """The column of the last real token of each row, whose logits say what comes next: int64 of shape [B]."""
        count: int = self.input_ids.shape[1]
        return self.lengths - 1 if self.padding == "right" else np.full_like(self.lengths, count - 1)

    def unpad(self, array: NDArray[T]) -> list[NDArray[T]]:
        """The rows of an array of a type T and of shape [B, n], or with more axes, without the padding: views."""
        if array.shape[:2] != self.input_ids.shape:
            raise ValueError(f"an array of shape {[*self.input_ids.shape]} is expected, not {[*array.shape]}")
        count: int = self.input_ids.shape[1]
        lengths: list[int] = self.lengths.tolist()
        if self.padding == "right":
            return [row[:length] for row, length in zip(array, lengths, strict=True)]
        return [row[count - length :] for row, length in zip(array, lengths, strict=True)]

    def check_rows(self, rows: int) -> None:
        """Raises `TokenizerError` V123 where an id, that of the padding included, has no row in an embedding of `rows`.

        Such an id is undefined behaviour on an accelerator: call it before the model.
        """
        refuse_beyond(self.input_ids, rows, ("row", "column"))

    def pixel_inputs(self) -> dict[str, Array]:
        """What the model receives of the images of all rows, as `ModelInput.pixel_inputs` gives those of one input.

        The arrays have memory of their own each time, as those of the batch have, and can be written to.
        """
        from katapi.runtime.tensors.images import own_pixel_inputs_of  # few batches have images

        return own_pixel_inputs_of(self._samples)

    def mrope_positions(
        self,
        layout: VisionLayout,
        images: Sequence[Sequence[Grid]] | None = None,
        videos: Sequence[Sequence[Grid]] | None = None,
        seconds: Sequence[Sequence[float]] | None = None,
    ) -> BatchPositions:
        """The positions of a vision model of the Qwen family: int64 of shape [3, B, n], 0 on padding.

        `images` are the grids of each row's images, in order, and without them those of the images that were assembled;
        `videos` and `seconds` likewise, the latter where the layout takes them. Raises `MediaError` M110 to M113 as
        `katapi.mrope_positions` does, and M112 where there are grids for another number of rows.
        """
        from katapi.runtime.tensors.images import grids_of
        from katapi.runtime.tensors.mrope import positions_of_samples

        grids = grids_of(self._samples)
        pictures = grids.images if images is None else images
        films = grids.videos if videos is None else videos
        own = grids.seconds if layout.video == "seconds" and videos is None else ()
        times = own if seconds is None else seconds
        found = positions_of_samples(self.unpad(self.input_ids), layout, pictures, films, times)
        position_ids = np.zeros((3, *self.input_ids.shape), dtype=np.int64)
        position_ids[:, self.attention_mask != 0] = found.position_ids
        return found._replace(position_ids=position_ids)


def batch(
    inputs: Samples,
    padding: Padding = "left",
    *,
    pad_to_multiple_of: int | None = None,
    pad_id: int | None = None,
) -> Batch:
    """Inputs of one model as a rectangle, int64 of shape [B, n].

    `padding` says where short rows are filled up; a model goes on writing at the right end, so what it is to complete
    is padded on the left. n is the length of the longest input, or the next multiple of `pad_to_multiple_of`. `pad_id`
    fills; without it, the control token that the vocabulary names for it (`@pad`, see the definition of the language),
    else 0. What stands there plays no part: the mask excludes it.

    Raises `TokenizerError` V120 where there is no input, V121 where two are of different models, and V122 where one has
    no token; ValueError and TypeError for a `padding` or a number that is none.
    """
    if padding not in ("left", "right"):
        raise ValueError(f"padding is 'left' or 'right', not {padding!r}")
    multiple = 1 if pad_to_multiple_of is None else count_of(pad_to_multiple_of, "pad_to_multiple_of", 1)
    samples = samples_of(inputs)
    fill = _pad_id(samples) if pad_id is None else count_of(pad_id, "pad_id")
    lengths = lengths_of(samples)
    count = -(-int(lengths.max()) // multiple) * multiple
    real = _real(lengths, padding, count)
    return Batch(
        _spread(real, ids_of(samples), fill),
        real.astype(np.int64),
        _spread(real, counted(lengths), 0),
        lengths,
        padding,
        fill,
        samples,
    )


def _real(lengths: NDArray[np.int64], padding: Padding, count: int) -> NDArray[np.bool_]:
    """Where rows of `count` columns have tokens."""
    columns = np.arange(count)
    return columns < lengths[:, None] if padding == "right" else columns >= count - lengths[:, None]


def _spread(real: NDArray[np.bool_], values: NDArray[np.int64], fill: int) -> NDArray[np.int64]:
    """The values one behind the other on what is real, row by row, and `fill` elsewhere."""
    array = np.full(real.shape, fill, dtype=np.int64)
    array[real] = values
    return array


def _pad_id(samples: Sequence[ModelInput | Sample]) -> int:
    """The id that the tokenizer of the samples names, else 0, a row that every embedding has."""
    named = next((sample._tokenizer.pad_id for sample in samples if isinstance(sample, ModelInput)), None)
    return 0 if named is None else named
