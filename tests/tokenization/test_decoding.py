"""Decoding by the texts of tokens: one token at a time as all at once, and bytes as soon as they are certain."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from katapi.runtime.errors import TokenizerError
from katapi.runtime.tokenization.configuration import PrependScheme
from katapi.runtime.tokenization.decoder_forms import own_forms
from katapi.runtime.tokenization.decoder_stages import (
    ByteFallbackDecoder,
    DecoderStage,
    FuseDecoder,
    ReplaceTextDecoder,
    StripDecoder,
    SuffixDecoder,
    metaspace_decoder,
    spaced,
    word_piece_decoder,
)
from katapi.runtime.tokenization.decoder_streams import ReplacedInParts, Stream, StrippedInParts, bytes_of, shown
from katapi.runtime.tokenization.decoding import ByteDecoding
from katapi.runtime.tokenization.text_decoding import TextDecoding
from katapi.runtime.tokenization.vocabulary import Vocabulary

TOKENS = ["▁", "▁a", "a", "中", " ", "<0x20>", "<0x41>", "<0xE4>", "<0xB8>", "<0xAD>", "##b", ".", "<s>", "a</w>"]
VOCABULARY = Vocabulary(control={len(TOKENS): "<end>"}, texts=dict(enumerate(TOKENS)))
IDS = {token: index for index, token in enumerate([*TOKENS, "<end>"])}
LLAMA = (ReplaceTextDecoder("▁", " "), ByteFallbackDecoder(), FuseDecoder(), StripDecoder(" ", 1, 0))
SEQUENCES: list[tuple[DecoderStage, ...]] = [
    (spaced(),),
    (metaspace_decoder("▁", PrependScheme.ALWAYS),),
    (word_piece_decoder("##", cleanup=True),),
    (SuffixDecoder("</w>"),),
    (ByteFallbackDecoder(),),
    LLAMA,
    LLAMA[:3],
    (ByteFallbackDecoder(), FuseDecoder(), StripDecoder(" ", 1, 2), ReplaceTextDecoder("aA", "")),
]


def decoded(stages: tuple[DecoderStage, ...], *tokens: str) -> list[bytes]:
    """What comes out after each token and at the end."""
    decoder = TextDecoding(VOCABULARY, *stages).decoder()
    return [*(decoder.push(IDS[token]) for token in tokens), decoder.finish()]


@pytest.mark.parametrize("stages", SEQUENCES)
@given(tokens=st.lists(st.sampled_from([*IDS]), max_size=8))
def test_pushes_and_finish_give_what_decode_gives(stages: tuple[DecoderStage, ...], tokens: list[str]) -> None:
    decoding = TextDecoding(VOCABULARY, *stages)
    ids = [IDS[token] for token in tokens]
    data = decoding.decode(ids)
    assert b"".join(decoded(stages, *tokens)) == data
    if "\ufffd" not in decoding.decode_text(ids):
        assert data.decode() == decoding.decode_text(ids)


def test_a_leading_space_goes_once() -> None:
    assert decoded(LLAMA, "▁", "▁a", "▁a") == [b"", b" a", b" a", b""]
    assert decoded(LLAMA, "<s>", "▁a") == [b"<s>", b" a", b""]
    assert decoded(LLAMA, "<0x20>", "a") == [b"", b"a", b""]


def test_bytes_come_as_soon_as_they_are_certain() -> None:
    assert decoded(LLAMA, "a", "<0xE4>", "<0xB8>", "<0xAD>", "a") == [b"a", b"\xe4", b"\xb8", b"\xad", b"a", b""]
    assert decoded(LLAMA, "<0xE4>", "<0x20>") == [b"\xe4", b" ", b""]
    assert decoded((word_piece_decoder("##", cleanup=True),), "a", "##b", ".") == [b"a", b"b", b".", b""]
    assert decoded((SuffixDecoder("</w>"),), "a</w>", "a</w>") == [b"", b"a ", b"a"]


def test_a_space_that_may_be_part_of_a_broken_run_waits() -> None:
    """As text the run is broken, so that its space is none that could be stripped."""
    assert decoded(LLAMA, "<0x20>", "<0xE4>", "a") == [b"", b"", b" \xe4a", b""]
    ids = [IDS[token] for token in ("<0x20>", "<0xE4>", "a")]
    assert TextDecoding(VOCABULARY, *LLAMA).decode_text(ids) == "\ufffd\ufffda"


def test_broken_runs() -> None:
    """Each byte of a run that is no valid UTF-8 is shown as U+FFFD, valid parts of it too; as bytes nothing is lost."""
    decoding = TextDecoding(VOCABULARY, *LLAMA)
    ids = [IDS[token] for token in ("a", "<0x41>", "<0xE4>", "<0xB8>", "中", "<0xE4>", "<0xB8>", "<0xAD>")]
    assert decoding.decode_text(ids) == "a\ufffd\ufffd\ufffd中中"
    assert decoding.decode(ids) == b"aA\xe4\xb8" + "中中".encode()


def test_control_tokens_are_printed_as_spelled() -> None:
    assert decoded((word_piece_decoder("##", cleanup=True),), "a", "<end>", "##b") == [b"a", b" <end>", b"b", b""]


def test_what_follows_the_end() -> None:
    decoder = TextDecoding(VOCABULARY, *LLAMA).decoder()
    decoder.push(IDS["a"])
    assert decoder.finish() == decoder.finish() == b""
    with pytest.raises(TokenizerError, match="V104"):
        decoder.push(IDS["a"])


def test_an_unknown_id() -> None:
    decoding = TextDecoding(VOCABULARY, *LLAMA)
    for decode in (decoding.decode, decoding.decode_text):
        with pytest.raises(TokenizerError, match="V102"):
            decode([99])
    with pytest.raises(TokenizerError, match="V102"):
        decoding.decoder().push(99)


@pytest.mark.parametrize("decoding", [TextDecoding(VOCABULARY, *LLAMA), ByteDecoding(VOCABULARY)])
@pytest.mark.parametrize("wrong", ["x", b"x", 1.0, None, [1]])
def test_what_is_no_id_is_refused_in_one_way(decoding: TextDecoding | ByteDecoding, wrong: object) -> None:
    push = cast(Callable[[object], object], decoding.decoder().push)
    with pytest.raises(TypeError, match=f"^an id is an integer, not a {type(wrong).__name__}$"):
        push(wrong)


def in_parts(stream: Stream, parts: list[str]) -> str:
    return "".join([*(out for part in parts for out in stream.push(part)), *stream.finish()])


PARTS = st.lists(st.text(st.sampled_from("aab "), max_size=4))


@given(PARTS, st.sampled_from(["a", "ab", "aab", "aba", "a a"]))
def test_replacing_in_parts_is_replacing_in_the_whole(parts: list[str], old: str) -> None:
    assert in_parts(ReplacedInParts(old, "-"), parts) == "".join(parts).replace(old, "-")


@given(PARTS, st.integers(0, 3), st.integers(0, 3))
def test_stripping_in_parts_is_stripping_the_whole(parts: list[str], start: int, stop: int) -> None:
    text = "".join(parts)
    left = min(start, len(text) - len(text.lstrip("a")))
    right = min(stop, len(text[left:]) - len(text[left:].rstrip("a")))
    assert in_parts(StrippedInParts("a", start, stop), parts) == text[left : len(text) - right]


@pytest.mark.parametrize("pure", [False, True])
@pytest.mark.parametrize("stages", SEQUENCES)
@given(tokens=st.lists(st.sampled_from([*IDS]), max_size=8))
def test_all_at_once_is_what_the_streams_give(stages: tuple[DecoderStage, ...], tokens: list[str], pure: bool) -> None:
    """Tokens that are joined by their own forms, and the same through one stage after the other."""
    decoding = TextDecoding(VOCABULARY, *stages, pure=pure)
    ids = [IDS[token] for token in tokens]
    texts = [VOCABULARY.bytes_of(token).decode() for token in ids]
    assert decoding.decode(ids) == bytes_of(through(stages, texts, eager=True))
    assert decoding.decode_text(ids) == shown(through(stages, texts, eager=False))


def through(stages: tuple[DecoderStage, ...], texts: list[str], *, eager: bool) -> str:
    """What all texts become, stage by stage, as the protocol of a stream says."""
    streams: list[Stream] = []
    for place in reversed(range(len(stages))):
        fused = any(isinstance(stage, FuseDecoder) for stage in stages[:place])
        streams = [stages[place].stream(fused=fused, passes=passing(streams, eager)), *streams]
    for stage, stream in zip(stages, streams, strict=True):
        if isinstance(stage, FuseDecoder):
            texts = ["".join(texts)]
        texts = [*(out for text in texts for out in stream.push(text)), *stream.finish()]
    return "".join(texts)


def passing(streams: list[Stream], eager: bool) -> Callable[[int], bool]:
    return lambda byte: eager and all(stream.passes(byte) for stream in streams)


def test_which_decoders_are_joined() -> None:
    """Those of whole models are; what a token becomes beside others is not."""
    assert [own_forms(stages) is not None for stages in SEQUENCES] == [True, True, True, False, True, True, True, True]
    assert own_forms((ByteFallbackDecoder(), metaspace_decoder("▁", PrependScheme.ALWAYS))) is None
    assert own_forms((FuseDecoder(), ByteFallbackDecoder())) is None
