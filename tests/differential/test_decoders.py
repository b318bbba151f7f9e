"""Every decoder against that of tokenizers, alone and in sequence, over random tokens."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Regex
from tokenizers import decoders as official

from katapi.runtime.patterns.matcher import compile_pattern
from katapi.runtime.tokenization.configuration import PrependScheme
from katapi.runtime.tokenization.decoder_stages import (
    ByteFallbackDecoder,
    DecoderStage,
    FuseDecoder,
    ReplaceTextDecoder,
    StripDecoder,
    SuffixDecoder,
    metaspace_decoder,
    replace_decoder,
    word_piece_decoder,
)
from katapi.runtime.tokenization.text_decoding import TextDecoding
from katapi.runtime.tokenization.vocabulary import Vocabulary
from tests.examples import examples

TOKENS = [
    *("▁", "▁▁", "▁a", "a", "ab", "bab", "aab", "中", "\n", " ", "  ", " .", " ' ", ".", "?", "'s", "n't", "do not"),
    *("##b", "b##", "<s>", "</w>", "a</w>", "a</w>b", "<0x41>", "<0x20>", "<0xE4>", "<0xB8>", "<0xAD>", "<0xff>"),
    *("<0xF0>", "<0x9F>", "<0x98>", "<0x80>", "<0xZZ>", "<0x4>"),
]
VOCABULARY = Vocabulary(control={}, texts=dict(enumerate(TOKENS)))
IDS = st.lists(st.integers(0, len(TOKENS) - 1), min_size=1, max_size=9)

ALTERNATIVES = compile_pattern("[ab]+", unicode="16.0")
PAIRS: dict[str, tuple[tuple[DecoderStage, ...], official.Decoder]] = {
    "metaspace always": (
        (metaspace_decoder("▁", PrependScheme.ALWAYS),),
        official.Metaspace("▁", "always"),
    ),
    "metaspace first": (
        (metaspace_decoder("▁", PrependScheme.FIRST),),
        official.Metaspace("▁", "first"),
    ),
    "metaspace never": (
        (metaspace_decoder("▁", PrependScheme.NEVER),),
        official.Metaspace("▁", "never"),
    ),
    "word piece": ((word_piece_decoder("##", cleanup=False),), official.WordPiece("##", False)),
    "word piece, cleaned up": ((word_piece_decoder("##", cleanup=True),), official.WordPiece("##", True)),
    "suffix": ((SuffixDecoder("</w>"),), official.BPEDecoder("</w>")),
    "byte fallback": ((ByteFallbackDecoder(),), official.ByteFallback()),
    "fuse": ((FuseDecoder(),), official.Fuse()),
    "strip": ((StripDecoder(" ", 1, 0),), official.Strip(" ", 1, 0)),
    "replace": ((ReplaceTextDecoder("▁", " "),), official.Replace("▁", " ")),
    "replace matches": ((replace_decoder(ALTERNATIVES, "x"),), official.Replace(Regex("[ab]+"), "x")),
    "llama": (
        (ReplaceTextDecoder("▁", " "), ByteFallbackDecoder(), FuseDecoder(), StripDecoder(" ", 1, 0)),
        official.Sequence(
            [official.Replace("▁", " "), official.ByteFallback(), official.Fuse(), official.Strip(" ", 1, 0)]
        ),
    ),
    "gemma": (
        (ReplaceTextDecoder("▁", " "), ByteFallbackDecoder(), FuseDecoder()),
        official.Sequence([official.Replace("▁", " "), official.ByteFallback(), official.Fuse()]),
    ),
    "strip, then replace the whole": (
        (ByteFallbackDecoder(), FuseDecoder(), StripDecoder(" ", 2, 0), ReplaceTextDecoder("aab", "")),
        official.Sequence(
            [official.ByteFallback(), official.Fuse(), official.Strip(" ", 2, 0), official.Replace("aab", "")]
        ),
    ),
    "replace the whole, then strip": (
        (FuseDecoder(), ReplaceTextDecoder("aba", "-"), StripDecoder("a", 1, 0)),
        official.Sequence([official.Fuse(), official.Replace("aba", "-"), official.Strip("a", 1, 0)]),
    ),
    "the whole as a word piece": (
        (FuseDecoder(), word_piece_decoder("##", cleanup=True)),
        official.Sequence([official.Fuse(), official.WordPiece("##", True)]),
    ),
    "the whole by metaspace and as a byte": (
        (FuseDecoder(), metaspace_decoder("▁", PrependScheme.ALWAYS), ByteFallbackDecoder()),
        official.Sequence([official.Fuse(), official.Metaspace("▁", "always"), official.ByteFallback()]),
    ),
    "the whole by its suffix": (
        (FuseDecoder(), SuffixDecoder("a</w>")),
        official.Sequence([official.Fuse(), official.BPEDecoder("a</w>")]),
    ),
    "bytes, then metaspace": (
        (ByteFallbackDecoder(), metaspace_decoder("▁", PrependScheme.ALWAYS)),
        official.Sequence([official.ByteFallback(), official.Metaspace("▁", "always")]),
    ),
}


@pytest.mark.parametrize(("stages", "expected"), PAIRS.values(), ids=PAIRS)
@examples(test=100, fuzz=2_000)
@given(ids=IDS)
def test_text_of_random_tokens(stages: tuple[DecoderStage, ...], expected: official.Decoder, ids: list[int]) -> None:
    decoding = TextDecoding(VOCABULARY, *stages)
    text = expected.decode([TOKENS[token] for token in ids])
    assert decoding.decode_text(ids) == text
    if "\ufffd" not in text:
        assert decoding.decode(ids) == text.encode()
