"""The calls of a tokenizer agree: `encode_array`, `count` and the batches with `encode` and `decode`."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import katapi
from katapi.runtime.errors import TokenizerError

NAMES = ["qwen2.5", "gpt2", "deepseek-v3", "mistral-v1", "book"]  # with normalizer, merges, three splits, positional
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


@pytest.mark.parametrize("name", NAMES)
@given(TEXTS)
def test_array_and_count_are_those_of_the_list(name: str, text: str) -> None:
    tokenizer = katapi.load_tokenizer(name)
    ids = tokenizer.encode(text)
    array = tokenizer.encode_array(text)
    assert array.dtype == np.int32
    assert array.tolist() == ids
    assert tokenizer.count(text) == len(ids)
    assert [*memoryview(tokenizer.tokenizer.encode_bytes(text)).cast("q")] == ids
    assert tokenizer.encode_array(text, post_process=True).tolist() == tokenizer.encode(text, post_process=True)


@given(st.lists(TEXTS, max_size=5), st.integers(1, 4))
def test_a_batch_is_each_of_its_texts(texts: list[str], threads: int) -> None:
    tokenizer = katapi.load_tokenizer("qwen2.5")
    batch = tokenizer.encode_batch(texts, threads=threads)
    assert batch == [tokenizer.encode(text) for text in texts]
    assert tokenizer.decode_batch(batch) == [tokenizer.decode(ids) for ids in batch]


@pytest.mark.parametrize("call", ["encode", "encode_array", "count"])
def test_a_lone_surrogate_is_refused(call: str) -> None:
    with pytest.raises(TokenizerError) as caught:
        getattr(katapi.load_tokenizer("qwen2.5"), call)("a\ud800")
    assert caught.value.code == "V101"


def test_many_threads_share_a_tokenizer() -> None:
    tokenizer = katapi.load_tokenizer("qwen2.5")
    texts = [f"thread {number} says {'x' * number} 天空 {number * 7919}\n" * 40 for number in range(64)]
    expected = [tokenizer.encode(text) for text in texts]
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(lambda _: tokenizer.encode_batch(texts), range(16)):
            assert found == expected
