"""Small networks of transformers with random weights, on the CPU.

Weights are drawn wider than usual, so that attention decides much of the result: what a token must not see would show.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Literal, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    Qwen2_5_VLConfig,
    Qwen2_5_VLForConditionalGeneration,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from katapi.runtime.tensors.mrope import Grid

Attention = Literal["eager", "sdpa"]
Array = NDArray[np.int64] | NDArray[np.bool_] | NDArray[np.float32]

SMALL = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "initializer_range": 0.3,
}
"""The sizes of a text model."""
THREE_ROWS = {"rope_parameters": {"rope_type": "default", "rope_theta": 10_000.0, "mrope_section": [1, 1, 2]}}
"""Rotary frequencies shared out among time, row and column."""
PATCH = 14
"""The side of a patch in pixels."""


class Tensor(Protocol):
    """What is asked of a result."""

    def numpy(self) -> NDArray[np.float32]: ...

    def item(self) -> float: ...


class Output(Protocol):
    """What a model of transformers gives."""

    logits: Tensor
    loss: Tensor


class Network:
    """A model that takes numpy arrays, which torch shares, and gives logits as float32 [B, n, rows]."""

    def __init__(self, model: Callable[..., Output]) -> None:
        self._model = model

    def logits(self, input_ids: NDArray[np.int64], **inputs: Array | None) -> NDArray[np.float32]:
        """The logits of ids, int64 of shape [B, n]."""
        return self._run(input_ids, inputs).logits.numpy()

    def loss(self, input_ids: NDArray[np.int64], labels: NDArray[np.int64], **inputs: Array | None) -> float:
        """The mean loss of labels, int64 of shape [B, n]."""
        return self._run(input_ids, {**inputs, "labels": labels}).loss.item()

    def _run(self, input_ids: NDArray[np.int64], inputs: dict[str, Array | None]) -> Output:
        shared = {name: torch.from_numpy(array) for name, array in inputs.items() if array is not None}
        with torch.no_grad():
            return self._model(input_ids=torch.from_numpy(input_ids), use_cache=False, **shared)


def pixels(grids: Sequence[Grid], seed: int) -> NDArray[np.float32]:
    """The patches of some images as a vision model takes them, drawn at random: float32 of shape [patches, values]."""
    count = sum(time * height * width for time, height, width in grids)
    return np.random.default_rng(seed).normal(size=(count, 3 * 2 * PATCH * PATCH)).astype(np.float32)


@cache
def gpt2(rows: int, attention: Attention) -> Network:
    """GPT-2, whose positions are rows of a table: a position that is wrong alone changes the result."""
    config = GPT2Config(
        vocab_size=rows, n_embd=32, n_layer=2, n_head=4, n_positions=256, initializer_range=0.3, **_no_dropout()
    )
    return _network(GPT2LMHeadModel, config, attention)


@cache
def llama(rows: int, attention: Attention) -> Network:
    """Llama, whose attention sees the differences of positions."""
    return _network(LlamaForCausalLM, LlamaConfig(vocab_size=rows, **SMALL), attention)


@cache
def qwen3(rows: int, attention: Attention) -> Network:
    """Qwen3: Llama with norms of queries and keys."""
    return _network(Qwen3ForCausalLM, Qwen3Config(vocab_size=rows, **SMALL), attention)


@cache
def qwen2_5_vl(rows: int, attention: Attention) -> Network:
    """Qwen2.5-VL with its vision tower; positions have three rows."""
    config = Qwen2_5_VLConfig(
        text_config={"vocab_size": rows, **SMALL, **THREE_ROWS},
        vision_config={
            "depth": 2,
            "hidden_size": 16,
            "intermediate_size": 16,
            "num_heads": 2,
            "out_hidden_size": 32,
            "fullatt_block_indexes": [1],
            "patch_size": PATCH,
            "initializer_range": 0.3,
        },
    )
    return _network(Qwen2_5_VLForConditionalGeneration, config, attention)


def _no_dropout() -> dict[str, float]:
    return {"resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0}


class _Config(Protocol):
    _attn_implementation: str


def _network(kind: Callable[..., torch.nn.Module], config: _Config, attention: Attention) -> Network:
    torch.manual_seed(6)
    config._attn_implementation = attention
    return Network(kind(config).eval())
