"""What a model makes of a sample in a batch is what it makes of the sample alone: on real networks, to float tolerance.

And it is not where a mask or a position is wrong: these tests can fail.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

import katapi
from katapi import Batch, ModelInput, PackedBatch
from tests.networks.networks import Attention, Network, gpt2, llama, qwen3

pytestmark = pytest.mark.networks

Logits = list[NDArray[np.float32]]

TURNS = [
    '{"role": "user", "content": "天空为什么是蓝色？"}',
    '{"role": "assistant", "content": "天空是蓝色"}',
    '{"role": "user", "content": "为什么？"}',
    '{"role": "assistant", "content": "是为什么是"}',
]
NETWORKS: dict[str, tuple[Callable[[int, Attention], Network], str, int]] = {
    "gpt2": (gpt2, "book", 14),
    "llama": (llama, "book", 16),
    "qwen3": (qwen3, "qwen3", 151_936),
}
TOLERANCE = 1e-4
"""Of results in single precision; their values go up to about nine."""
DIFFERENT = 0.1
"""So much at least a mistake changes them. In fact, more than 1; and what is right, less than 1e-5."""


def inputs_of(model: str) -> list[ModelInput]:
    """Conversations of three lengths."""
    loaded = katapi.load(model)
    requests = [f'{{"messages": [{", ".join(TURNS[:count])}], "add_generation_prompt": false}}' for count in (3, 1, 4)]
    return [loaded.assemble(request.encode()) for request in requests]


@pytest.fixture(params=["eager", "sdpa"])
def attention(request: pytest.FixtureRequest) -> Attention:
    found: Attention = request.param
    return found


@pytest.fixture(params=NETWORKS)
def name(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


@pytest.fixture
def network(name: str, attention: Attention) -> Network:
    make, _, rows = NETWORKS[name]
    return make(rows, attention)


@pytest.fixture
def inputs(name: str) -> list[ModelInput]:
    return inputs_of(NETWORKS[name][1])


@pytest.fixture
def alone(network: Network, inputs: list[ModelInput]) -> Logits:
    """The logits of each input by itself, with positions as `assemble` gives them."""
    return [network.logits(np.array(x.input_ids)[None], position_ids=np.array(x.position_ids)[None])[0] for x in inputs]


def difference(found: Logits, expected: Logits) -> float:
    """The greatest difference of two results."""
    assert [part.shape for part in found] == [part.shape for part in expected]
    return max(float(np.abs(a - b).max()) for a, b in zip(found, expected, strict=True))


def padded(network: Network, batch: Batch, **changed: NDArray[np.int64]) -> Logits:
    inputs = {"attention_mask": batch.attention_mask, "position_ids": batch.position_ids, **changed}
    return batch.unpad(network.logits(batch.input_ids, **inputs))


def packed(network: Network, row: PackedBatch, **changed: NDArray[np.int64] | NDArray[np.float32] | None) -> Logits:
    inputs = {"attention_mask": mask_of(row.attention_mask()), "position_ids": row.position_ids[None], **changed}
    return row.unpack(network.logits(row.input_ids[None], **inputs)[0])


def mask_of(allowed: NDArray[np.bool_]) -> NDArray[np.float32]:
    """A mask [n, n] in the form that every attention of transformers adds to its scores: [1, 1, n, n]."""
    return np.where(allowed, np.float32(0), np.finfo(np.float32).min)[None, None]


# ---- what must agree


@pytest.mark.parametrize("padding", ["left", "right"])
@pytest.mark.parametrize("multiple", [None, 16])
def test_a_padded_sample_gives_the_logits_of_the_sample_alone(
    network: Network, inputs: list[ModelInput], alone: Logits, padding: katapi.Padding, multiple: int | None
) -> None:
    assert difference(padded(network, katapi.batch(inputs, padding, pad_to_multiple_of=multiple)), alone) < TOLERANCE


@pytest.mark.parametrize("padding", ["left", "right"])
def test_which_id_pads_plays_no_part(
    network: Network, inputs: list[ModelInput], alone: Logits, padding: katapi.Padding
) -> None:
    assert difference(padded(network, katapi.batch(inputs, padding, pad_id=7)), alone) < TOLERANCE


def test_a_packed_sample_gives_the_logits_of_the_sample_alone(
    network: Network, inputs: list[ModelInput], alone: Logits
) -> None:
    row = katapi.pack(inputs)
    assert difference(packed(network, row), alone) < TOLERANCE


def test_transformers_finds_the_samples_of_a_packed_row_by_its_positions(
    network: Network, inputs: list[ModelInput], alone: Logits
) -> None:
    assert difference(packed(network, katapi.pack(inputs), attention_mask=None), alone) < TOLERANCE


def test_several_packed_rows(network: Network, inputs: list[ModelInput], alone: Logits) -> None:
    longest = max(map(len, inputs))
    rows = katapi.pack_rows(inputs, longest + min(map(len, inputs)))
    assert len(rows) == 2
    for row in rows:
        assert difference(packed(network, row), [alone[index] for index in row.samples]) < TOLERANCE


def test_the_last_column_says_what_comes_next(network: Network, inputs: list[ModelInput], alone: Logits) -> None:
    for batch in (katapi.batch(inputs, "left"), katapi.batch(inputs, "right")):
        logits = network.logits(batch.input_ids, attention_mask=batch.attention_mask, position_ids=batch.position_ids)
        assert difference([*logits[np.arange(len(batch)), batch.last]], [part[-1] for part in alone]) < TOLERANCE


def test_the_loss_is_that_of_the_samples_alone(network: Network, inputs: list[ModelInput]) -> None:
    trained = [x for x in inputs if (x.labels >= 0).any()]
    assert len(trained) == 2
    counts = [int((x.labels >= 0).sum()) for x in trained]
    losses = [network.loss(np.array(x.input_ids)[None], np.array(x.labels)[None]) for x in trained]
    expected = pytest.approx(np.average(losses, weights=counts), abs=TOLERANCE)
    for padding in ("left", "right"):
        batch = katapi.batch(inputs, padding)
        mask, positions = batch.attention_mask, batch.position_ids
        assert network.loss(batch.input_ids, batch.labels, attention_mask=mask, position_ids=positions) == expected
    row = katapi.pack(inputs)
    mask4 = mask_of(row.attention_mask())
    found = network.loss(
        row.input_ids[None], row.labels[None], attention_mask=mask4, position_ids=row.position_ids[None]
    )
    assert found == expected


# ---- what must not


def test_a_mask_that_shows_the_padding_is_noticed(network: Network, inputs: list[ModelInput], alone: Logits) -> None:
    """On the left; padding on the right stands behind all that a causal model sees."""
    batch = katapi.batch(inputs, "left")
    assert difference(padded(network, batch, attention_mask=np.ones_like(batch.attention_mask)), alone) > DIFFERENT


@pytest.mark.parametrize("padding", ["left", "right"])
def test_a_mask_that_hides_a_token_is_noticed(
    network: Network, inputs: list[ModelInput], alone: Logits, padding: katapi.Padding
) -> None:
    batch = katapi.batch(inputs, padding)
    first = batch.last - batch.lengths + 1
    mask = batch.attention_mask.copy()
    mask[np.arange(len(batch)), first + 1] = 0
    assert difference(padded(network, batch, attention_mask=mask), alone) > DIFFERENT


@pytest.mark.parametrize("padding", ["left", "right"])
def test_a_gap_in_the_positions_is_noticed(
    network: Network, inputs: list[ModelInput], alone: Logits, padding: katapi.Padding
) -> None:
    batch = katapi.batch(inputs, padding)
    positions = batch.position_ids + (batch.position_ids > 2)
    assert difference(padded(network, batch, position_ids=positions), alone) > DIFFERENT


def test_positions_that_count_the_padding_are_noticed_where_they_are_a_table(
    name: str, network: Network, inputs: list[ModelInput], alone: Logits
) -> None:
    """Rotary attention sees differences of positions alone, and a shift of a whole sample is none."""
    batch = katapi.batch(inputs, "left")
    columns = np.broadcast_to(np.arange(batch.input_ids.shape[1]), batch.input_ids.shape).copy()
    assert (difference(padded(network, batch, position_ids=columns), alone) < TOLERANCE) is (name != "gpt2")


def test_a_mask_that_joins_packed_samples_is_noticed(network: Network, inputs: list[ModelInput], alone: Logits) -> None:
    row = katapi.pack(inputs)
    joined = np.tril(np.ones((len(row.input_ids),) * 2, dtype=np.bool_))
    assert difference(packed(network, row, attention_mask=mask_of(joined)), alone) > DIFFERENT


def test_a_mask_that_sees_what_comes_later_is_noticed(
    network: Network, inputs: list[ModelInput], alone: Logits
) -> None:
    row = katapi.pack(inputs)
    both_ways = row.attention_mask() | row.attention_mask().T
    assert difference(packed(network, row, attention_mask=mask_of(both_ways)), alone) > DIFFERENT


def test_packed_positions_that_do_not_restart_are_noticed(
    name: str, network: Network, inputs: list[ModelInput], alone: Logits
) -> None:
    row = katapi.pack(inputs)
    running = np.arange(len(row.input_ids))[None]
    assert difference(packed(network, row, attention_mask=None, position_ids=running), alone) > DIFFERENT
    assert (difference(packed(network, row, position_ids=running), alone) < TOLERANCE) is (name != "gpt2")


def test_a_label_on_the_first_token_of_a_packed_sample_is_noticed() -> None:
    inputs = inputs_of("book")
    network = llama(16, "sdpa")
    row = katapi.pack(inputs)
    mask, positions = mask_of(row.attention_mask()), row.position_ids[None]
    loss = network.loss(row.input_ids[None], row.labels[None], attention_mask=mask, position_ids=positions)
    labels = row.labels.copy()
    labels[row.cu_seqlens[1:-1]] = row.input_ids[row.cu_seqlens[1:-1]]
    changed = network.loss(row.input_ids[None], labels[None], attention_mask=mask, position_ids=positions)
    assert abs(changed - loss) > TOLERANCE


# ---- torch


def test_torch_shares_the_memory_of_the_arrays() -> None:
    inputs = inputs_of("book")
    batch, row = katapi.batch(inputs), katapi.pack(inputs)
    arrays: list[NDArray[np.int64] | NDArray[np.int32]] = [batch.input_ids, batch.attention_mask, batch.position_ids]
    arrays += [batch.labels, batch.lengths, batch.last]
    arrays += [row.input_ids, row.position_ids, row.labels, row.cu_seqlens, row.lengths, row.sequence_ids]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for array in arrays:
            for tensor in (torch.from_numpy(array), torch.from_dlpack(array), torch.asarray(array)):
                assert tensor.data_ptr() == array.ctypes.data
                assert tensor.is_contiguous()
                assert tensor.dtype == (torch.int32 if array.dtype == np.int32 else torch.int64)


def test_an_id_beyond_the_embedding_is_an_error_of_ours_before_it_is_one_of_the_model() -> None:
    batch = katapi.batch(inputs_of("qwen3"))
    with pytest.raises(IndexError):
        padded(llama(16, "sdpa"), batch)
    with pytest.raises(katapi.TokenizerError, match="V123 at row 0, column 0: "):
        batch.check_rows(16)
    with pytest.raises(katapi.TokenizerError, match="V124"):
        katapi.check_embedding(katapi.load("qwen3"), 16)
