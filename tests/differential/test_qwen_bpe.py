"""Qwen3's byte-pair encoding against tiktoken and against tokenizers, both built from the same ranks."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Protocol

import pytest
import tiktoken
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

from katapi.runtime.tokenization.interface import Tokenizer
from tests.examples import examples


class Peer(Protocol):
    """An official implementation."""

    def encode(self, text: str) -> list[int]: ...

    def decode(self, ids: list[int]) -> str: ...


class Tiktoken:
    """tiktoken over the ranks. It does not normalize, so it is given normalized text."""

    def __init__(self, ranks: dict[bytes, int], pattern: str, control: dict[int, str]) -> None:
        special = {spelling: token for token, spelling in control.items()}
        self._normalize = tokenizers.normalizers.NFC().normalize_str
        self._encoding = tiktoken.Encoding("qwen", pat_str=pattern, mergeable_ranks=ranks, special_tokens=special)

    def encode(self, text: str) -> list[int]:
        return self._encoding.encode_ordinary(self._normalize(text))

    def decode(self, ids: list[int]) -> str:
        return self._encoding.decode(ids)


class HuggingFace:
    """tokenizers over the same vocabulary, each token with the merge that makes it."""

    def __init__(self, ranks: dict[bytes, int], pattern: str, control: dict[int, str]) -> None:
        letters = byte_letters()

        def spell(token: bytes) -> str:
            return "".join(map(letters.__getitem__, token))

        merges = [(spell(left), spell(right)) for left, right in _merges(ranks)]
        tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE({spell(token): ranks[token] for token in ranks}, merges))
        tokenizer.normalizer = tokenizers.normalizers.NFC()
        tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Sequence(
            [
                tokenizers.pre_tokenizers.Split(tokenizers.Regex(pattern), "isolated"),
                tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
            ]
        )
        tokenizer.decoder = tokenizers.decoders.ByteLevel()
        self._content = tokenizers.Tokenizer.from_str(tokenizer.to_str())
        tokenizer.add_special_tokens(list(control.values()))
        self._tokenizer = tokenizer

    def encode(self, text: str) -> list[int]:
        return self._content.encode(text, add_special_tokens=False).ids

    def decode(self, ids: list[int]) -> str:
        return self._tokenizer.decode(ids, skip_special_tokens=False)


def byte_letters() -> list[str]:
    """The character by which tokenizer.json writes each byte: itself where it is printable, else one from U+0100 on."""
    printed = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = iter(range(0x100, 0x200))
    return [chr(byte) if byte in printed else chr(next(others)) for byte in range(256)]


def _merges(ranks: dict[bytes, int]) -> list[tuple[bytes, bytes]]:
    """The merges that make the tokens, by rank: the two parts to which the tokens of lower rank merge a token."""
    known: dict[bytes, int] = {}
    merges: list[tuple[bytes, bytes]] = []
    for token, rank in ranks.items():
        parts = [bytes([byte]) for byte in token]
        while len(parts) > 2:
            found = [known.get(left + right, len(ranks)) for left, right in pairwise(parts)]
            first = found.index(min(found))
            if found[first] == len(ranks):
                break
            parts[first : first + 2] = [parts[first] + parts[first + 1]]
        if len(parts) == 2:
            merges.append((parts[0], parts[1]))
        known[token] = rank
    return merges


@pytest.fixture(scope="module", params=[Tiktoken, HuggingFace])
def peer(
    request: pytest.FixtureRequest, qwen_ranks: dict[bytes, int], qwen_pattern: str, qwen_control: dict[int, str]
) -> Peer:
    kind: type[Tiktoken] | type[HuggingFace] = request.param
    return kind(qwen_ranks, qwen_pattern, qwen_control)


# Letters of contractions and their foldings, all kinds of white space, letters, marks, digits and signs.
LIVELY = (
    "aAzZ sStTlLdDrReEvV'\u017f\u212a\r\n\t \xa0\u3000\u0085.,^<|>é中한\u0301\u0323\u1112\u1161\u11ab👍🏽\u200d१²Ⅷ𝟙"
)


@examples(test=100, fuzz=2_000)
@given(text=st.text(max_size=60) | st.text(st.sampled_from(LIVELY), max_size=60))
def test_ids_of_random_text(text: str, peer: Peer, qwen: Tokenizer) -> None:
    assert qwen.encode(text) == peer.encode(text)


@examples(test=100, fuzz=2_000)
@given(ids=st.lists(st.integers(0, 151642), max_size=20))
def test_ids_of_joined_tokens(ids: list[int], peer: Peer, qwen: Tokenizer) -> None:
    text = qwen.decode(ids).decode(errors="ignore")
    assert qwen.encode(text) == peer.encode(text)


@examples(test=100, fuzz=2_000)
@given(ids=st.lists(st.integers(0, 151668), max_size=20))
def test_text_of_random_ids(ids: list[int], peer: Peer, qwen: Tokenizer) -> None:
    assert qwen.decode_text(ids) == peer.decode(ids)


@pytest.mark.parametrize(
    "unit", ["a", "ab", "^", " ", "\n", " \n", "\t", "1", "中", "한", "é", "e\u0301", "\u0301", "👍", "'s", "=-"]
)
@pytest.mark.parametrize("count", [2, 33, 97, 1000])
def test_ids_of_long_runs(unit: str, count: int, peer: Peer, qwen: Tokenizer) -> None:
    for text in (unit * count, "x" + unit * count + "x", " " + unit * count + " "):
        assert qwen.encode(text) == peer.encode(text)


def test_ids_of_a_long_piece_of_mixed_letters(peer: Peer, qwen: Tokenizer) -> None:
    draw = random.Random(7)
    for alphabet in ("acegt", "abcdefghijklmnopqrstuvwxyz", "的一是不了人我在有他"):
        text = "".join(draw.choices(alphabet, k=5000))
        assert qwen.encode(text) == peer.encode(text)
