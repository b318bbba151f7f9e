"""The positions that transformers itself gives the tokens of a vision model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import (
    Qwen2_5_VLConfig,
    Qwen2_5_VLForConditionalGeneration,
    Qwen2VLConfig,
    Qwen2VLForConditionalGeneration,
    Qwen3_5Config,
    Qwen3_5ForConditionalGeneration,
    Qwen3VLConfig,
    Qwen3VLForConditionalGeneration,
)

from katapi import VisionLayout
from katapi.runtime.tensors.mrope import Grid
from tests.networks.networks import SMALL, THREE_ROWS, Tensor

_VISION = {"depth": 1, "hidden_size": 16, "intermediate_size": 16, "num_heads": 2, "out_hidden_size": 32}


class Official(NamedTuple):
    """What `get_rope_index` gives."""

    position_ids: NDArray[np.int64]
    """Of shape [3, B, n]."""
    rope_deltas: NDArray[np.int64]
    """Of shape [B, 1]."""


def official_positions(
    family: str,
    layout: VisionLayout,
    input_ids: NDArray[np.int64],
    attention_mask: NDArray[np.int64],
    images: Sequence[Grid],
    videos: Sequence[Grid],
    seconds: Sequence[float],
) -> Official:
    """Positions of ids, int64 of shape [B, n]; images, videos and seconds are those of all rows in order."""
    kinds = (input_ids == layout.image_id) + 2 * (input_ids == layout.video_id)
    timed = {"second_per_grid_ts": torch.tensor(seconds)} if layout.video == "seconds" else {}
    positions, deltas = _index_of(family, layout.tokens_per_second)(
        input_ids=torch.from_numpy(input_ids),
        mm_token_type_ids=torch.from_numpy(kinds),
        image_grid_thw=torch.tensor(images) if images else None,
        video_grid_thw=torch.tensor(videos) if videos else None,
        attention_mask=torch.from_numpy(attention_mask),
        **timed,
    )
    return Official(np.asarray(positions.numpy(), np.int64), np.asarray(deltas.numpy(), np.int64))


@cache
def _index_of(family: str, tokens_per_second: float) -> Callable[..., tuple[Tensor, Tensor]]:
    """`get_rope_index` of a model as small as can be."""
    text = {"vocab_size": 8, **SMALL, **THREE_ROWS}
    match family:
        case "qwen2_vl":
            vision = {"depth": 1, "embed_dim": 16, "num_heads": 2, "hidden_size": 32}
            model = Qwen2VLForConditionalGeneration(Qwen2VLConfig(text_config=text, vision_config=vision))
        case "qwen2_5_vl":
            timed = {**_VISION, "tokens_per_second": tokens_per_second}
            model = Qwen2_5_VLForConditionalGeneration(Qwen2_5_VLConfig(text_config=text, vision_config=timed))
        case "qwen3_vl":
            stacked = {**_VISION, "deepstack_visual_indexes": [0]}
            model = Qwen3VLForConditionalGeneration(Qwen3VLConfig(text_config=text, vision_config=stacked))
        case "qwen3_5":
            model = Qwen3_5ForConditionalGeneration(Qwen3_5Config(text_config=text, vision_config=_VISION))
        case _:
            raise AssertionError(family)
    found: Callable[..., tuple[Tensor, Tensor]] = model.model.get_rope_index
    return found
