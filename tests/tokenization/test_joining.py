"""Joining what ids stand for: compiled and in pure Python it gives what the ids give one by one, errors too."""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from katapi.runtime.compiled import why_pure
from katapi.runtime.errors import TokenizerError
from katapi.runtime.tokenization.decoding import ByteDecoding
from katapi.runtime.tokenization.ids import as_ids
from katapi.runtime.tokenization.joining import Joining
from katapi.runtime.tokenization.tokens import Tokens
from katapi.runtime.tokenization.vocabulary import Vocabulary

GAP, CONTROL = 40, 41
LENGTHS = [*range(18), 23, 24, 31, 32, 33, 127, 128, 255, 256, 257, 300, 5000]  # on both sides of what is kept how
SPELLED = {token: bytes((token + place) % 256 for place in range(size)) for token, size in enumerate(LENGTHS)}
VOCABULARY = Vocabulary(control={CONTROL: "<|end|>"}, table=Tokens.by_id({**SPELLED, GAP + 5: b"last"}))
SIZE = GAP + 6
KNOWN = [*SPELLED, CONTROL, GAP + 5]
ODD = [-1, -2, -SIZE, -SIZE - 1, GAP, SIZE, 2**31, 2**32, 2**63 - 1, 2**63, 2**64, 2**200, -(2**63), -(2**70)]
NO_IDS = [1.0, None, "1", b"1", [1], 1j]

BOTH = pytest.mark.parametrize("pure", [False, True], ids=["compiled", "pure"])


def one_by_one(ids: Sequence[int]) -> bytes:
    return b"".join(map(VOCABULARY.read, as_ids(ids)))


def outcome(function: Callable[[Sequence[int]], bytes], ids: object) -> bytes | tuple[type[Exception], str]:
    try:
        return function(cast("Sequence[int]", ids))
    except (TypeError, TokenizerError) as error:
        return type(error), str(error)


def decoding(*, pure: bool) -> ByteDecoding:
    if not pure and (reason := why_pure("katapi.runtime.native.joined_tokens")) is not None:
        pytest.skip(reason)
    return ByteDecoding(VOCABULARY, pure=pure)


@BOTH
@given(ids=st.lists(st.sampled_from(KNOWN), max_size=40))
def test_joined_is_one_by_one(ids: list[int], pure: bool) -> None:
    decode = decoding(pure=pure).decode
    assert decode(ids) == decode(ids) == one_by_one(ids)  # met for the first time, and met before


@BOTH
@given(ids=st.lists(st.sampled_from([*KNOWN, *ODD, *NO_IDS, True, False, np.int64(3), np.uint8(7)]), max_size=6))
def test_errors_are_those_of_one_by_one(ids: list[object], pure: bool) -> None:
    decode = decoding(pure=pure).decode
    decode(KNOWN)
    assert outcome(decode, ids) == outcome(one_by_one, ids)
    assert outcome(decode, tuple(ids)) == outcome(one_by_one, tuple(ids))


@BOTH
@pytest.mark.parametrize("odd", ODD)
def test_an_unknown_id_by_itself(odd: int, pure: bool) -> None:
    with pytest.raises(TokenizerError) as caught:
        decoding(pure=pure).decode([1, odd])
    assert (caught.value.code, caught.value.message) == ("V102", f"no token has the id {odd}")


@BOTH
@pytest.mark.parametrize("wrong", [*NO_IDS, "abc", b"abc", 5, np.array(5), np.array([[1], [2]]), np.array([1.0])])
def test_what_is_no_sequence_of_ids(wrong: object, pure: bool) -> None:
    if isinstance(wrong, list):
        wrong = [wrong]
    with pytest.raises(TypeError, match=r"^ids are a sequence of integers, not a "):
        decoding(pure=pure).decode(cast("Sequence[int]", wrong))


@BOTH
@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int32, np.int64, np.uint64, np.dtype(">i4")])
def test_arrays(dtype: np.dtype[np.generic], pure: bool) -> None:
    decode = decoding(pure=pure).decode
    array = np.array([1, 0, 16, 3, CONTROL], dtype=dtype)
    expected = one_by_one(array.tolist())
    ways: list[object] = [array, array[::-1][::-1], [*array], iter(array.tolist()), range(3)]
    assert [outcome(decode, ids) for ids in ways] == [*[expected] * 4, one_by_one([0, 1, 2])]
    with pytest.raises(TokenizerError, match=f"no token has the id {2**64 - 1}"):
        decode(cast("Sequence[int]", np.array([2**64 - 1], dtype=np.uint64)))


@BOTH
def test_a_few_tokens_with_ids_far_apart_take_little_memory(pure: bool) -> None:
    control, far = 3_000_000_000, 1 << 19
    made = ByteDecoding(
        Vocabulary(control={control: "<|end|>", far: "<|far|>"}, table=Tokens.of([b"a", b"b"])), pure=pure
    )
    tracemalloc.start()
    try:
        assert made.decode([0, control, far, 1]) == made.decode([0, control, far, 1]) == b"a<|end|><|far|>b"
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


class Answer(int):
    """An integer of a class of its own."""


@BOTH
def test_integers_of_a_class_of_their_own(pure: bool) -> None:
    assert decoding(pure=pure).decode([Answer(16), True]) == one_by_one([16, 1])


@BOTH
def test_characters_across_tokens(pure: bool) -> None:
    """Each maximal part of a character that is not whole becomes U+FFFD, wherever the tokens end."""
    pieces = [b"\xe4", b"\xb8", b"\xad", b"\xf0\x9f", b"\x98\x80", b"a", b"\xff"]
    vocabulary = Vocabulary(control={}, table=Tokens.of(pieces))
    made = ByteDecoding(vocabulary, pure=pure)
    for ids, text in {
        (0, 1, 2): "中",
        (3, 4): "😀",
        (0, 1, 5): "\ufffda",
        (3, 0, 1, 2): "\ufffd中",
        (1, 2): "\ufffd\ufffd",
        (6, 0): "\ufffd\ufffd",
    }.items():
        assert made.decode_text(ids) == text
        assert made.decode(ids) == b"".join(pieces[token] for token in ids)


@BOTH
def test_many_threads_meet_tokens_at_once(pure: bool) -> None:
    spelled = [Random(token).randbytes(token % 23) for token in range(4000)]

    def bytes_of(token: int) -> bytes:
        return spelled[token]

    draws = [Random(seed).choices(range(4000), k=3000) for seed in range(32)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(5):
            joining = Joining(4000, bytes_of, pure=pure)
            with ThreadPoolExecutor(8) as pool:
                found = [*pool.map(joining.join, draws)]
            assert found == [b"".join(map(bytes_of, ids)) for ids in draws]
    finally:
        sys.setswitchinterval(before)
