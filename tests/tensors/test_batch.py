"""Batches: what is padded comes out again, and mask, lengths, positions and labels agree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import katapi
from katapi import Batch, ModelInput, Padding, Sample, TokenizerError
from katapi.runtime.json_types import JsonObject
from tests.tensors.drawn import BOOK, SAMPLES, conversation

HELLO = b'{"messages": [{"role": "user", "content": "Hello"}]}'
PADDINGS: list[Padding] = ["left", "right"]
sides = st.sampled_from(PADDINGS)
multiples = st.none() | st.integers(1, 9)


def arrays(batch: Batch) -> list[NDArray[np.int64]]:
    return [batch.input_ids, batch.attention_mask, batch.position_ids, batch.labels]


# ---- properties


@given(samples=SAMPLES, padding=sides, multiple=multiples)
def test_unpad_of_pad_is_the_sample(samples: list[ModelInput | Sample], padding: Padding, multiple: int | None) -> None:
    batch = katapi.batch(samples, padding, pad_to_multiple_of=multiple)
    expected: list[tuple[NDArray[np.int64], list[list[int]]]] = [
        (batch.input_ids, [sample.input_ids.tolist() for sample in samples]),
        (batch.labels, [sample.labels.tolist() for sample in samples]),
        (batch.position_ids, [[*range(len(sample))] for sample in samples]),
        (batch.attention_mask, [[1] * len(sample) for sample in samples]),
    ]
    for array, parts in expected:
        assert [part.tolist() for part in batch.unpad(array)] == parts


@given(samples=SAMPLES, padding=sides, multiple=multiples, pad_id=st.none() | st.integers(0, 2**40))
def test_what_stands_on_padding(
    samples: list[ModelInput | Sample], padding: Padding, multiple: int | None, pad_id: int | None
) -> None:
    batch = katapi.batch(samples, padding, pad_to_multiple_of=multiple, pad_id=pad_id)
    assert batch.attention_mask.sum(axis=1).tolist() == batch.lengths.tolist() == [len(sample) for sample in samples]
    outside = batch.attention_mask == 0
    assert (batch.input_ids[outside] == batch.pad_id).all()
    assert (batch.position_ids[outside] == 0).all()
    assert (batch.labels[outside] == -100).all()
    assert batch.pad_id == (pad_id or 0)
    steps = np.diff(batch.attention_mask)
    assert (steps >= 0).all() if padding == "left" else (steps <= 0).all()


@given(samples=SAMPLES, padding=sides, multiple=multiples)
def test_the_shape(samples: list[ModelInput | Sample], padding: Padding, multiple: int | None) -> None:
    batch = katapi.batch(samples, padding, pad_to_multiple_of=multiple)
    longest = max(map(len, samples))
    count = batch.input_ids.shape[1]
    assert count % (multiple or 1) == 0
    assert longest <= count < longest + (multiple or 1)
    for array in arrays(batch):
        assert array.shape == (len(samples), count)
        assert array.dtype == np.int64
        assert array.flags.c_contiguous
        assert array.flags.writeable
        assert array.flags.owndata
    assert batch.lengths.dtype == np.int64


@given(samples=SAMPLES, padding=sides)
def test_the_last_token(samples: list[ModelInput | Sample], padding: Padding) -> None:
    batch = katapi.batch(samples, padding)
    rows = np.arange(len(batch))
    assert batch.input_ids[rows, batch.last].tolist() == [int(sample.input_ids[-1]) for sample in samples]
    assert batch.position_ids[rows, batch.last].tolist() == [len(sample) - 1 for sample in samples]


@given(samples=SAMPLES)
def test_labels_are_the_sampled_ids_and_the_first_token_has_none(samples: list[ModelInput | Sample]) -> None:
    for sample in samples:
        assert sample.labels[0] == -100
        trained = sample.labels != -100
        assert (sample.labels[trained] == sample.input_ids[trained]).all()
        if isinstance(sample, ModelInput):
            assert trained[1:].tolist() == sample.sampled[1:].tolist()


# ---- examples


def test_the_chapters_fixture_in_a_batch() -> None:
    one, two = conversation("u", "天空", True), conversation("ua", "是", False)
    left, right = katapi.batch([one, two]), katapi.batch([one, two], "right", pad_to_multiple_of=8)
    assert left.input_ids.tolist() == [[0, 1, 4, 8, 5, 6], [1, 4, 10, 5, 6, 10]]
    assert left.attention_mask.tolist() == [[0, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1]]
    assert left.position_ids.tolist() == [[0, 0, 1, 2, 3, 4], [0, 1, 2, 3, 4, 5]]
    assert left.labels.tolist() == [[-100] * 6, [-100] * 5 + [10]]
    assert left.last.tolist() == [5, 5]
    assert right.input_ids.tolist() == [[1, 4, 8, 5, 6, 0, 0, 0], [1, 4, 10, 5, 6, 10, 0, 0]]
    assert right.attention_mask.tolist() == [[1, 1, 1, 1, 1, 0, 0, 0], [1, 1, 1, 1, 1, 1, 0, 0]]
    assert right.position_ids.tolist() == [[0, 1, 2, 3, 4, 0, 0, 0], [0, 1, 2, 3, 4, 5, 0, 0]]
    assert right.last.tolist() == [4, 5]
    assert right.lengths.tolist() == [5, 6]


def test_a_batch_takes_any_iterable_and_changes_nothing() -> None:
    inputs = [conversation("u", "天空", True), conversation("sua", "是", True)]
    before = [x.input_ids.tolist() for x in inputs]
    batch = katapi.batch(x for x in inputs)
    batch.input_ids[:] = 7
    assert [x.input_ids.tolist() for x in inputs] == before


@pytest.mark.parametrize(
    ("name", "pad_id"),
    [("book", 0), ("qwen3", 151643), ("deepseek-v3.1", 2), ("gpt-oss", 199999), ("glm-4.5", 151329)],
)
def test_the_vocabulary_says_which_token_pads(name: str, pad_id: int) -> None:
    model = katapi.load(name)
    assert model.tokenizer.pad_id == pad_id
    given: JsonObject = {"now": "2025-03-09T14:05:07"} if name == "gpt-oss" else {}
    longer = HELLO.replace(b"Hello", b"Hello, hello, and hello again")
    inputs = [model.assemble(request, params=given) for request in (HELLO, longer)]
    batch = katapi.batch(inputs)
    assert batch.pad_id == pad_id == batch.input_ids[0, 0]
    assert katapi.batch(inputs, pad_id=5).input_ids[0, 0] == 5


def test_without_such_a_token_the_first_row_of_the_embedding_pads() -> None:
    assert katapi.load_tokenizer("mistral-v1").tokenizer.pad_id is None
    assert katapi.batch([Sample.of([5]), Sample.of([6, 7])]).input_ids.tolist() == [[0, 5], [6, 7]]


def test_a_sample_trains_on_what_one_chooses() -> None:
    x = conversation("uaua", "是", False)
    last = Sample.of(x.input_ids, x.loss_mask("last"))
    assert (last.labels != -100).sum() == 1
    assert (x.labels != -100).sum() == 2
    assert (Sample.of(x.input_ids).labels == -100).all()


def test_read_only_is_what_belongs_to_an_input() -> None:
    x = conversation("ua", "是", False)
    for array in (x.labels, Sample.of([1]).input_ids, Sample.of([1]).labels):
        assert not array.flags.writeable


def test_unpad_takes_logits_and_nothing_of_another_shape() -> None:
    batch = katapi.batch([Sample.of([1, 2]), Sample.of([3])])
    parts = batch.unpad(np.arange(12.0).reshape(2, 2, 3))
    assert [part.tolist() for part in parts] == [[[0, 1, 2], [3, 4, 5]], [[9, 10, 11]]]
    with pytest.raises(ValueError, match=r"shape \[2, 2\] is expected, not \[2, 3\]"):
        batch.unpad(np.zeros((2, 3)))


# ---- errors


def refused(code: str, where: str, *inputs: ModelInput | Sample) -> None:
    for call in (katapi.batch, katapi.pack, lambda given: katapi.pack_rows(given, 100)):
        with pytest.raises(TokenizerError) as caught:
            call(inputs)
        assert (caught.value.code, caught.value.where) == (code, where)


def test_typed_errors() -> None:
    x = BOOK.assemble(HELLO)
    refused("V120", "")
    refused("V121", "input 2", Sample.of([1]), x, katapi.load("qwen3").assemble(HELLO))
    refused("V121", "input 1", katapi.load("qwen3").assemble(HELLO), katapi.load("qwq-32b").assemble(HELLO))
    refused("V122", "input 1", x, Sample.of([]))


@pytest.mark.parametrize("wrong", ["8", 8.0, True, [8], np.float64(8)])
def test_numbers_are_whole(wrong: int) -> None:
    x = BOOK.assemble(HELLO)
    for call in (
        lambda: katapi.batch([x], pad_to_multiple_of=wrong),
        lambda: katapi.batch([x], pad_id=wrong),
        lambda: katapi.pack_rows([x], wrong),
        lambda: katapi.check_embedding(BOOK, wrong),
        lambda: x.check_rows(wrong),
    ):
        with pytest.raises(TypeError, match="is a whole number, not a "):
            call()


def test_numbers_of_numpy_are_numbers() -> None:
    x = BOOK.assemble(HELLO)
    eight: int = np.int64(8)  # type: ignore[assignment]  # a program without types has such
    batch = katapi.batch([x], pad_to_multiple_of=eight, pad_id=eight)
    assert batch.input_ids.shape[1] % 8 == 0
    assert type(batch.pad_id) is int
    with pytest.raises(ValueError, match="pad_id is beyond int64"):
        katapi.batch([x], pad_id=2**63)


def test_the_messages_to_train_on_are_named_by_a_word_or_by_places() -> None:
    with pytest.raises(ValueError, match="'all', 'last' or places in the request, not 'first'"):
        BOOK.assemble(HELLO).loss_mask("first")  # type: ignore[arg-type]


@pytest.mark.parametrize("multiple", [0, -8])
def test_arguments_that_make_no_sense(multiple: int) -> None:
    x = BOOK.assemble(HELLO)
    with pytest.raises(ValueError, match="pad_to_multiple_of"):
        katapi.batch([x], pad_to_multiple_of=multiple)
    with pytest.raises(ValueError, match="pad_id"):
        katapi.batch([x], pad_id=-1)
    with pytest.raises(ValueError, match="'left' or 'right', not 'middle'"):
        katapi.batch([x], "middle")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a list of inputs, not of a ModelInput"):
        katapi.batch(x)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a list of inputs, not of a NoneType"):
        katapi.batch(None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="input 1 is of type list"):
        katapi.batch([x, [1, 2]])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="2 ids"):
        Sample.of([1, 2], [True])


# ---- the embedding


def test_an_id_without_a_row_is_an_error() -> None:
    x = conversation("u", "天空", True)  # 1 4 8 5 6
    batch, row = katapi.batch([Sample.of([1]), x]), katapi.pack([Sample.of([1]), x])
    for checked in (x, batch, row):
        checked.check_rows(9)
    for checked, where in ((x, "token 2"), (batch, "row 1, column 2"), (row, "token 3")):
        with pytest.raises(TokenizerError, match="the id 8 has no row in an embedding of 8 rows; the largest id is 8"):
            checked.check_rows(8)
        with pytest.raises(TokenizerError, match=f"V123 at {where}: "):
            checked.check_rows(8)
    with pytest.raises(TokenizerError, match=r"V123 at row 0, column 0: the id 90 has no row .* and 3 more have none"):
        katapi.batch([Sample.of([1]), x], pad_id=90).check_rows(9)
    with pytest.raises(TokenizerError, match="the id -1 has no row"):
        katapi.batch([Sample.of([-1])]).check_rows(9)
    with pytest.raises(ValueError, match="rows is 1 or more, not 0"):
        batch.check_rows(0)


def test_a_vocabulary_beside_an_embedding() -> None:
    qwen3 = katapi.load("qwen3")
    fit = katapi.check_embedding(qwen3, 151936)
    assert fit == (151669, 151936)
    assert fit.spare == 267
    assert katapi.check_embedding(qwen3, 151669).spare == 0
    with pytest.raises(TokenizerError) as caught:
        katapi.check_embedding(qwen3, 151668)
    assert str(caught.value).startswith(
        "tokenizer error V124: the vocabulary of qwen3 (Qwen@3) has 151669 ids and the embedding 151668 rows; "
        "the id 151668 has none"
    )
    with pytest.raises(TokenizerError, match="the ids 32000 to 151668 have none"):
        katapi.check_embedding(qwen3, 32000)
    assert katapi.check_embedding(katapi.load_tokenizer("gpt2"), 50257).spare == 0
