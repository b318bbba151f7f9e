"""Each segmentation against the model of Hugging Face tokenizers, built from the same tokens in memory.

Small vocabularies are drawn at random and are always tested. The official ones of `../shared/artifacts` are tested
beside them where that folder exists.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TypedDict, cast

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

from katapi.runtime.tokenization.configuration import BytePairMerges
from katapi.runtime.tokenization.merges import Merges
from katapi.runtime.tokenization.scores import read_score
from katapi.runtime.tokenization.stages import Segmenter
from katapi.runtime.tokenization.wordpiece import WordPiece
from tests.examples import examples
from tests.vocabularies import merged, merges_of_bytes, merges_of_characters, unigram, words

Tokens = list[tuple[int, int, int]]


class Model(TypedDict, total=False):
    """The object "model" of a tokenizer.json; the vocabulary of a Unigram model is a list of tokens and scores."""

    unk_token: str | None
    unk_id: int | None
    byte_fallback: bool
    fuse_unk: bool
    ignore_merges: bool
    continuing_subword_prefix: str | None
    end_of_word_suffix: str | None
    max_input_chars_per_word: int
    vocab: dict[str, int] | list[tuple[str, float]]
    merges: list[str | list[str]]


@dataclass(frozen=True)
class Peers:
    """A segmenter and the official model; `by_byte` says that the model is over the letters of bytes."""

    segmenter: Segmenter
    official: tokenizers.models.Model
    tokens: Sequence[str]
    by_byte: bool = False

    def check(self, piece: str) -> None:
        """Both give the same ids, and starts and ends of the ranges never decrease."""
        data = piece.encode("utf-8", "surrogateescape")
        official = self.official.tokenize(_spell(data) if self.by_byte else piece)
        ranges = self.segmenter.segment_ranges(piece)
        assert [token.id for token in official] == list(self.segmenter.segment(piece))
        assert [token.id for token in official] == [token for token, _, _ in ranges]
        for (_, start, end), (_, next_start, next_end) in pairwise([(0, 0, 0), *ranges]):
            assert start <= next_start < next_end <= len(piece)
            assert end <= next_end


@cache
def _letters() -> list[str]:
    """The character by which tokenizer.json writes each byte: itself where it is printable, else one from U+0100 on."""
    printed = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = iter(range(0x100, 0x200))
    return [chr(byte) if byte in printed else chr(next(others)) for byte in range(256)]


def _spell(data: bytes) -> str:
    return "".join(map(_letters().__getitem__, data))


def _bytes_of(token: str) -> bytes:
    return bytes(map(_values().__getitem__, token))


@cache
def _values() -> dict[str, int]:
    return {letter: byte for byte, letter in enumerate(_letters())}


# Small vocabularies.

UNITS = "ab▁é"


@st.composite
def merge_models(draw: st.DrawFn) -> Peers:
    """Some characters, some of their bytes, and tokens that are put together from earlier ones."""
    prefix, suffix = draw(st.sampled_from([("", ""), ("", ""), ("##", ""), ("", "</w>"), ("##", "</w>")]))
    written = sorted({before + unit + behind for unit in UNITS for before in ("", prefix) for behind in ("", suffix)})
    tokens = ["<unk>", *draw(st.lists(st.sampled_from(written), unique=True, min_size=1))]
    merges: list[tuple[str, str]] = []
    for _ in range(draw(st.integers(0, 20))):
        left, right = draw(st.sampled_from(tokens[1:])), draw(st.sampled_from(tokens[1:]))
        if right.startswith(prefix):
            merges.append((left, right))
            tokens.append(left + right.removeprefix(prefix))
    tokens = list(dict.fromkeys(tokens))
    merges = draw(st.permutations(merges))
    some = [f"<0x{byte:02X}>" for byte in "é▁b#".encode() if draw(st.booleans())]
    everything = [f"<0x{byte:02X}>" for byte in range(256)]
    tokens += dict.fromkeys(everything if draw(st.booleans()) else some)
    ids = {token: number for number, token in enumerate(tokens)}
    unknown, fuse_unknown = draw(st.sampled_from(["<unk>", None])), draw(st.booleans())
    byte_fallback, ignore_merges = draw(st.booleans()), draw(st.booleans())
    options = {"unk_token": unknown, "continuing_subword_prefix": prefix or None, "end_of_word_suffix": suffix or None}
    official = tokenizers.models.BPE(
        ids,
        merges,
        fuse_unk=fuse_unknown,
        byte_fallback=byte_fallback,
        ignore_merges=ignore_merges,
        **{name: value for name, value in options.items() if value},
    )
    rules = BytePairMerges(
        over_bytes=False,
        ignore_merges=ignore_merges,
        byte_fallback=byte_fallback,
        fuse_unknown=fuse_unknown,
        continuing_prefix=prefix,
        word_suffix=suffix,
    )
    return Peers(merges_of_characters(ids, merges, rules, ids["<unk>"] if unknown else None), official, tokens)


@st.composite
def byte_merge_models(draw: st.DrawFn) -> Peers:
    """Most bytes of a few characters, and tokens that are put together from earlier ones."""
    tokens = draw(st.lists(st.sampled_from([bytes([byte]) for byte in "ab é中".encode()]), unique=True, min_size=1))
    merges: list[tuple[bytes, bytes]] = []
    for _ in range(draw(st.integers(0, 20))):
        left, right = draw(st.sampled_from(tokens)), draw(st.sampled_from(tokens))
        merges.append((left, right))
        tokens.append(left + right)
    merges = draw(st.permutations(merges))
    ids = {token: number for number, token in enumerate(dict.fromkeys(tokens))}
    ignore_merges = draw(st.booleans())
    official = tokenizers.models.BPE(
        {_spell(token): number for token, number in ids.items()},
        [(_spell(left), _spell(right)) for left, right in merges],
        ignore_merges=ignore_merges,
    )
    segmenter = merges_of_bytes(ids, merges, ignore_merges=ignore_merges)
    return Peers(segmenter, official, [token.decode(errors="ignore") for token in ids], by_byte=True)


@st.composite
def unigram_models(draw: st.DrawFn) -> Peers:
    """Few different scores, so that many segmentations score the same."""
    texts = draw(st.lists(st.text(UNITS, min_size=1, max_size=4), max_size=20))
    texts += draw(st.lists(st.sampled_from(["<0xC3>", "<0xA9>", "<0x62>", "<unk>"])))
    scores = st.sampled_from([-1.0, -2.0, -3.0, -4.5, -0.1, -0.3, 0.0, 12.0])
    tokens = [("<unk>", 0.0), *((text, draw(scores)) for text in texts)]
    byte_fallback = draw(st.booleans())
    official = tokenizers.models.Unigram(tokens, 0, byte_fallback)
    segmenter = unigram(tokens, unknown=0, byte_fallback=byte_fallback)
    return Peers(segmenter, official, [text for text, _ in tokens])


@st.composite
def wordpiece_models(draw: st.DrawFn) -> Peers:
    """Tokens with and without the prefix."""
    prefix = draw(st.sampled_from(["##", "", "a"]))
    texts = draw(st.lists(st.text("aab#é", min_size=1, max_size=4), max_size=25))
    ids = {
        text: number for number, text in enumerate(dict.fromkeys(["[UNK]", *texts, *(prefix + text for text in texts)]))
    }
    longest = draw(st.sampled_from([100, 6]))
    official = tokenizers.models.WordPiece(
        ids, unk_token="[UNK]", continuing_subword_prefix=prefix, max_input_chars_per_word=longest
    )
    segmenter = WordPiece(words(ids), unknown=0, continuing_prefix=prefix, longest_word=longest)
    return Peers(segmenter, official, list(ids))


PIECES = st.text("ab▁éx中😀#", min_size=1, max_size=30) | st.text("ab▁", min_size=90, max_size=150)


@examples(test=100, fuzz=2_000)
@given(merge_models(), st.lists(PIECES, min_size=1, max_size=5))
def test_small_merges(peers: Peers, pieces: list[str]) -> None:
    for piece in [*pieces, *peers.tokens]:
        peers.check(piece)


# Among them pieces that were cut inside a character.
BYTE_PIECES = st.text("ab é中", min_size=1, max_size=30) | st.lists(
    st.sampled_from("ab é中".encode()), min_size=1, max_size=30
).map(lambda data: bytes(data).decode("utf-8", "surrogateescape"))


@examples(test=100, fuzz=2_000)
@given(byte_merge_models(), st.lists(BYTE_PIECES, min_size=1, max_size=5))
def test_small_merges_of_bytes(peers: Peers, pieces: list[str]) -> None:
    for piece in [*pieces, *filter(None, peers.tokens)]:
        peers.check(piece)


@examples(test=100, fuzz=2_000)
@given(unigram_models(), st.lists(PIECES, min_size=1, max_size=5))
def test_small_unigrams(peers: Peers, pieces: list[str]) -> None:
    for piece in [*pieces, *peers.tokens, "".join(peers.tokens)]:
        peers.check(piece)


@examples(test=100, fuzz=2_000)
@given(wordpiece_models(), st.lists(st.text("aab#éx", min_size=1, max_size=12), min_size=1, max_size=5))
def test_small_wordpieces(peers: Peers, pieces: list[str]) -> None:
    for piece in [*pieces, *peers.tokens]:
        peers.check(piece)


# Official vocabularies.

ARTIFACTS = Path(__file__).parents[2].parent / "shared" / "artifacts"
OFFICIAL = ("bert-base-cased", "clip", "falcon", "llama2", "phi-4", "t5-small", "xlnet-base-cased")


@cache
def _official(name: str) -> Peers:
    data = gzip.decompress((ARTIFACTS / f"{name}.tokenizer.json.gz").read_bytes())
    model = cast(Model, json.loads(data, parse_float=read_score)["model"])
    official = tokenizers.Tokenizer.from_str(data.decode()).model
    vocabulary = model["vocab"]
    if isinstance(vocabulary, list):
        byte_fallback = model.get("byte_fallback", False)
        segmenter = unigram(vocabulary, unknown=model["unk_id"], byte_fallback=byte_fallback)
        return Peers(segmenter, official, [text for text, _ in vocabulary])
    unknown = model["unk_token"]
    prefix = model["continuing_subword_prefix"] or ""
    if "merges" not in model:
        assert unknown is not None
        longest = model["max_input_chars_per_word"]
        pieces = WordPiece(
            words(vocabulary), unknown=vocabulary[unknown], continuing_prefix=prefix, longest_word=longest
        )
        return Peers(pieces, official, list(vocabulary))
    rules = BytePairMerges(
        over_bytes=b"ByteLevel" in data,
        ignore_merges=model.get("ignore_merges", False),
        byte_fallback=model.get("byte_fallback", False),
        fuse_unknown=model["fuse_unk"],
        continuing_prefix=prefix,
        word_suffix=model["end_of_word_suffix"] or "",
    )
    merges = [merge.split(" ") if isinstance(merge, str) else merge for merge in model["merges"]]
    if not rules.over_bytes:
        token = vocabulary[unknown] if unknown else None
        texts = merges_of_characters(vocabulary, [(left, right) for left, right in merges], rules, token)
        return Peers(texts, official, list(vocabulary))
    ids = {_bytes_of(token): number for token, number in vocabulary.items() if set(token) <= _values().keys()}
    pairs = [(_bytes_of(left), _bytes_of(right)) for left, right in merges]
    tokens_of_bytes = [token.decode(errors="ignore") for token in ids]
    return Peers(Merges(merged(ids, pairs), rules), official, tokens_of_bytes, by_byte=True)


def _cases() -> Iterator[str]:
    return (name for name in OFFICIAL if (ARTIFACTS / f"{name}.tokenizer.json.gz").exists())


def test_the_official_vocabularies_are_where_they_should_be() -> None:
    """Either the folder is missing as a whole, or the tests below run on all of them."""
    assert not ARTIFACTS.exists() or list(_cases()) == list(OFFICIAL)


if ARTIFACTS.exists():

    @cache  # to make a strategy of so many tokens costs more than to draw from it
    def _pieces(name: str) -> st.SearchStrategy[list[str]]:
        joined = st.lists(st.sampled_from(_official(name).tokens), min_size=1, max_size=12).map("".join)
        runs = st.builds(str.__mul__, st.sampled_from([*"a▁ \n1中é-", "ab", "▁a"]), st.integers(1, 300))
        return st.lists(joined | runs | st.text(max_size=40), max_size=5)

    @pytest.mark.parametrize("name", OFFICIAL)
    @given(data=st.data())
    def test_official_vocabularies(name: str, data: st.DataObject) -> None:
        peers = _official(name)
        for piece in data.draw(_pieces(name)):
            if piece:
                peers.check(piece)
