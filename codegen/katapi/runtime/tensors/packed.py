"""Several inputs in one row without padding, as training and kernels for rows of varying length take them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.counts import count_of
from katapi.runtime.dataclass import dataclass
from katapi.runtime.errors import TokenizerError
from katapi.runtime.model_input import ModelInput
from katapi.runtime.tensors.embedding import refuse_beyond
from katapi.runtime.tensors.first_fit import first_fit_decreasing, in_order
from katapi.runtime.tensors.samples import Sample, Samples, all_labels, counted, ids_of, lengths_of, samples_of

if TYPE_CHECKING:  # only the vision models of the Qwen family have positions of three rows
    from katapi.runtime.images.arrays import Array
    from katapi.runtime.tensors.mrope import BatchPositions, Grid, VisionLayout

Method = Literal["first_fit_decreasing", "in_order"]
"""Which samples share a row: see `pack_rows`."""

T = TypeVar("T", bound=np.generic)


@dataclass(frozen=True, eq=False)
class PackedBatch:
    """Several inputs of one model, one behind the other: int64 arrays of shape [total], with memory of their own.

    `input_ids` and `position_ids` (which begin at 0 with each sample) have that shape. Sample i stands at
    `cu_seqlens[i]` to `cu_seqlens[i + 1]`, int32 of shape [B + 1]; `lengths` is int64 of shape [B]. No token may attend
    to one of another sample: give `cu_seqlens` and `max_length` to a kernel that knows them, or `attention_mask()`.
    """

    input_ids: NDArray[np.int64]
    position_ids: NDArray[np.int64]
    cu_seqlens: NDArray[np.int32]
    lengths: NDArray[np.int64]
    max_length: int
    """The length of the longest sample."""
    samples: tuple[int, ...]
    """Which of the inputs stand in this row, by their places in the list that was packed."""
    _parts: Sequence[ModelInput | Sample] = field(repr=False)

    def __len__(self) -> int:
        return len(self.lengths)

    @cached_property
    def labels(self) -> NDArray[np.int64]:
        """What a model is to predict, -100 on all that is not trained on: int64 of shape [total].

        Made when first asked for, since finding out which tokens were sampled takes longer than to encode them.
        """
        return all_labels(self._parts)

    @property
    def sequence_ids(self) -> NDArray[np.int32]:
        """Which sample of this row each token is of, counted from 0: int32 of shape [total]."""
        return np.repeat(np.arange(len(self), dtype=np.int32), self.lengths)

    def attention_mask(self) -> NDArray[np.bool_]:
        """Whether a token (first axis) attends to another: bool of shape [total, total].

        Block-diagonal and causal: true for itself and what stands before it in its own sample. Its memory grows with
        the square of the row's length.
        """
        sample = self.sequence_ids
        mask: NDArray[np.bool_] = sample[:, None] == sample
        return np.tril(mask)

    def unpack(self, array: NDArray[T]) -> list[NDArray[T]]:
        """The part of each sample in an array of a type T and of shape [total], or with more axes: views of it."""
        if array.shape[:1] != self.input_ids.shape:
            raise ValueError(f"an array of shape {[*self.input_ids.shape]} is expected, not {[*array.shape]}")
        return np.split(array, self.cu_seqlens[1:-1])

    def check_rows(self, rows: int) -> None:
        """Raises `TokenizerError` V123 where an id has no row in an embedding of `rows`."""
        refuse_beyond(self.input_ids, rows, ("token",))

    def pixel_inputs(self) -> dict[str, Array]:
        """What the model receives of the images of this row, as `ModelInput.pixel_inputs` gives those of one input.

        The arrays have memory of their own each time, as those of the row have, and can be written to.
        """
        from katapi.runtime.tensors.images import own_pixel_inputs_of  # few batches have images

        return own_pixel_inputs_of(self._parts)

    def mrope_positions(
        self,
        layout: VisionLayout,
        images: Sequence[Sequence[Grid]] | None = None,
        videos: Sequence[Sequence[Grid]] | None = None,
        seconds: Sequence[Sequence[float]] | None = None,
    ) -> BatchPositions:
        """The positions of a vision model of the Qwen family, which begin anew with each sample: int64 [3, total].

        `images` are the grids of each sample's images, in order, and without them those of the images that were
        assembled; `videos` and `seconds` likewise. Raises `MediaError` M110 to M113 as `katapi.mrope_positions` does,
        and M112 where there are grids for another number of samples.
        """
        from katapi.runtime.tensors.images import grids_of
        from katapi.runtime.tensors.mrope import positions_of_samples

        grids = grids_of(self._parts)
        pictures = grids.images if images is None else images
        films = grids.videos if videos is None else videos
        own = grids.seconds if layout.video == "seconds" and videos is None else ()
        times = own if seconds is None else seconds
        return positions_of_samples(self.unpack(self.input_ids), layout, pictures, films, times)


def pack(inputs: Samples) -> PackedBatch:
    """Inputs of one model in one row, in order, int64 of shape [total].

    Raises `TokenizerError` V120 where there is no input, V121 where two are of different models, and V122 where one has
    no token.
    """
    samples = samples_of(inputs)
    return _row(samples, range(len(samples)))


def pack_rows(inputs: Samples, max_length: int, method: Method = "first_fit_decreasing") -> list[PackedBatch]:
    """Inputs of one model in rows of at most `max_length` tokens; none is split.

    "first_fit_decreasing" takes the longest inputs first, each into the first row with room for it, which needs at most
    11/9 of the fewest rows possible and one more; "in_order" keeps the order, and begins a row where the next input
    does not fit. In a row, inputs stand in the order of the list, and rows in that of their first inputs.

    Raises `TokenizerError` V120 to V122 as `pack` does, and V125 where an input is longer than a row.
    """
    max_length = count_of(max_length, "max_length", 1)
    samples = samples_of(inputs)
    lengths = [len(sample) for sample in samples]
    for index, length in enumerate(lengths):
        if length > max_length:
            raise TokenizerError(
                f"the input has {length} tokens, a row takes {max_length}, and no input is split",
                code="V125",
                where=f"input {index}",
                help="shorten it before it is packed, or take longer rows",
            )
    match method:
        case "first_fit_decreasing":
            rows = first_fit_decreasing(lengths, max_length)
        case "in_order":
            rows = in_order(lengths, max_length)
        case _:
            raise ValueError(f"method is 'first_fit_decreasing' or 'in_order', not {method!r}")
    return [_row(samples, row) for row in rows]


def _row(samples: Sequence[ModelInput | Sample], chosen: Sequence[int]) -> PackedBatch:
    parts = [samples[index] for index in chosen]
    lengths = lengths_of(parts)
    return PackedBatch(
        ids_of(parts),
        counted(lengths),
        np.concatenate(([0], np.cumsum(lengths))).astype(np.int32),
        lengths,
        int(lengths.max()),
        tuple(chosen),
        parts,
    )
