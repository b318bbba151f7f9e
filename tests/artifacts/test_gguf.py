"""Reading GGUF: files written key by key here."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from katapi.runtime.artifacts.gguf import read_gguf
from katapi.runtime.artifacts.gguf_header import read_pairs
from katapi.runtime.errors import ArtifactError
from katapi.runtime.tokenization.build import build_tokenizer
from katapi.runtime.tokenization.byte_alphabet import LETTERS
from katapi.runtime.tokenization.pipeline import PipelineTokenizer
from tests.artifacts.mutations import damaged_bytes, survives

Written = bool | int | float | str | Sequence[int] | Sequence[float] | Sequence[str]

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)


def text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def value_of(value: Written) -> tuple[int, bytes]:
    """The type of a value and its bytes."""
    match value:
        case bool():
            return 7, struct.pack("<?", value)
        case int():
            return 5, struct.pack("<i", value)
        case float():
            return 6, struct.pack("<f", value)
        case str():
            return 8, text(value)
        case _:
            items = [value_of(item) for item in value]
            kind = items[0][0] if items else 5
            return 9, struct.pack("<IQ", kind, len(items)) + b"".join(data for _, data in items)


def gguf(pairs: Mapping[str, Written], version: int = 3) -> bytes:
    out = b"GGUF" + struct.pack("<IQQ", version, 0, len(pairs))
    for key, value in pairs.items():
        kind, data = value_of(value)
        out += text(key) + struct.pack("<I", kind) + data
    return out


def keys(**values: Written) -> dict[str, Written]:
    return {f"tokenizer.ggml.{key}": value for key, value in values.items()}


BYTE_LEVEL = keys(
    model="gpt2",
    pre="gpt-2",
    tokens=[*LETTERS, "ab", "<|end|>", "  "],
    token_type=[NORMAL] * 257 + [CONTROL, USER_DEFINED],
    merges=["a b"],
    eos_token_id=257,
    bos_token_id=257,
)
PIECES = keys(
    model="llama",
    tokens=["<unk>", "<s>", "▁", "a", "b", "ab", *[f"<0x{byte:02X}>" for byte in range(256)]],
    scores=[0.0, 0.0, -3.0, -2.0, -2.0, -1.0] + [0.0] * 256,
    token_type=[UNKNOWN, CONTROL, NORMAL, NORMAL, NORMAL, NORMAL] + [BYTE] * 256,
    bos_token_id=1,
)
UNIGRAM = keys(
    model="t5",
    tokens=["<unk>", "</s>", "▁", "a", "▁a"],
    scores=[0.0, 0.0, -3.0, -2.0, -1.0],
    token_type=[UNKNOWN, CONTROL, NORMAL, NORMAL, NORMAL],
    eos_token_id=1,
    remove_extra_whitespaces=True,
)
WORDS = keys(
    model="bert",
    tokens=["[UNK]", "[CLS]", "[SEP]", "▁a", "b", "▁ab"],
    token_type=[CONTROL, CONTROL, CONTROL, NORMAL, NORMAL, NORMAL],
    unknown_token_id=0,
    cls_token_id=1,
    seperator_token_id=2,
)
MERGED = keys(
    model="gemma4",
    tokens=["<pad>", "<eos>", "<bos>", "<unk>", "▁", "a", "▁a", "\n"],
    token_type=[CONTROL, CONTROL, CONTROL, CONTROL, NORMAL, NORMAL, NORMAL, USER_DEFINED],
    merges=["▁ a"],
    bos_token_id=2,
    unknown_token_id=3,
)


def read(pairs: Mapping[str, Written]) -> PipelineTokenizer:
    file = read_gguf(gguf(pairs), where="x.gguf")
    return build_tokenizer(file.configuration, file.data)


@pytest.mark.parametrize(
    ("pairs", "content", "ids", "framed"),
    [
        (BYTE_LEVEL, "ab  <|end|>", [256, 32, 32, 60, 124, 101, 110, 100, 124, 62], None),
        (PIECES, "ab é", [2, 5, 2, 6 + 0xC3, 6 + 0xA9], [1, 2, 5, 2, 6 + 0xC3, 6 + 0xA9]),
        (UNIGRAM, " a  aa ", [4, 4, 3], [4, 4, 3, 1]),
        (WORDS, "AB Abb xyz", [5, 5, 4, 0], [1, 5, 5, 4, 0, 2]),
        (MERGED, "a a\n", [5, 6, 7], [2, 5, 6, 7]),
    ],
)
def test_models(pairs: Mapping[str, Written], content: str, ids: list[int], framed: list[int] | None) -> None:
    tokenizer = read(pairs)
    assert tokenizer.encode(content) == ids
    assert tokenizer.post_process(ids) == (ids if framed is None else framed)


def test_settings_that_are_written_out() -> None:
    pairs = PIECES | keys(add_space_prefix=False, add_bos_token=False)
    tokenizer = read(pairs)
    assert tokenizer.post_process(tokenizer.encode("ab")) == [5]


def test_a_file_without_pre_tokenizer_is_cut_as_llama_cpp_does() -> None:
    pairs = {key: value for key, value in BYTE_LEVEL.items() if not key.endswith(".pre")}
    assert read(pairs).encode("ab") == [256]


def test_numbers_and_lists_of_every_type() -> None:
    data = b"GGUF" + struct.pack("<IQQ", 2, 0, 3)
    data += text("a") + struct.pack("<IIQ", 9, 9, 1) + struct.pack("<IQ2B", 0, 2, 7, 8)
    data += text("b") + struct.pack("<Iq", 11, -5)
    data += text("c") + struct.pack("<Id", 12, 0.5)
    assert read_pairs(data, where="x") == {"a": [(7, 8)], "b": -5, "c": 0.5}


HEADER = struct.pack("<IQQ", 3, 0, 1)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"GGML" + HEADER, "does not begin with GGUF"),
        (b"GGUF", "cut off"),
        (gguf({}, version=1), "version 1"),
        (b"GGUF" + HEADER, "cut off within a text"),
        (b"GGUF" + HEADER + struct.pack("<Q", 1 << 63), "cut off within a text"),
        (b"GGUF" + HEADER + text("k") + struct.pack("<I", 99), "unknown type 99"),
        (b"GGUF" + HEADER + text("k") + struct.pack("<IIQ", 9, 4, 1 << 60), "numbers"),
        (b"GGUF" + HEADER + text("k") + struct.pack("<IIQ", 9, 8, 1 << 60), "items"),
        (b"GGUF" + HEADER + text("k") + struct.pack("<I", 9) + struct.pack("<IQ", 9, 1) * 9, "nest too deep"),
        (b"GGUF" + HEADER + struct.pack("<Q", 1) + b"\xff", "not UTF-8"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 2) + 2 * (text("k") + struct.pack("<Ii", 5, 1)), "comes twice"),
    ],
)
def test_what_is_no_such_file(data: bytes, message: str) -> None:
    with pytest.raises(ArtifactError, match=f"A136 at x.gguf: byte .*{message}"):
        read_gguf(data, where="x.gguf")


@pytest.mark.parametrize(
    ("pairs", "key", "message"),
    [
        ({}, "model", "the key is missing"),
        (keys(model=3), "model", "expected text"),
        (keys(model="rwkv"), "model", "unknown model"),
        (keys(model="gpt2", pre="own"), "pre", "unknown pre-tokenizer"),
        (keys(model="gpt2", pre="gpt-2"), "tokens", "the key is missing"),
        (BYTE_LEVEL | keys(tokens=["a", "a"]), "tokens", "of id 0 is that of id 1"),
        (BYTE_LEVEL | keys(tokens=[1, 2]), "tokens", "expected texts"),
        (BYTE_LEVEL | keys(merges=["a b", "a xy"]), "merges[1]", "no pair of tokens"),
        (BYTE_LEVEL | keys(token_type=[1]), "token_type", "expected a type for each"),
        (BYTE_LEVEL | keys(token_type=[9]), "token_type", "integers from 1 to 6"),
        (BYTE_LEVEL | keys(add_bos_token=True, bos_token_id=999), "bos_token_id", "expected an id"),
        (PIECES | keys(scores=[1.0]), "scores", "a finite score for each"),
        (PIECES | keys(add_space_prefix=1), "add_space_prefix", "true or false"),
        (UNIGRAM | keys(precompiled_charsmap=[300]), "precompiled_charsmap", "integers from -128 to 255"),
        (WORDS | keys(tokens=["[UNK]", "[CLS]", "[SEP]", "▁a", "▁a", "b"]), "tokens", "is that of id 3"),
    ],
)
def test_the_key_that_is_wrong(pairs: Mapping[str, Written], key: str, message: str) -> None:
    with pytest.raises(ArtifactError) as caught:
        read(pairs)
    assert (caught.value.code, caught.value.where) == ("A137", f"x.gguf: tokenizer.ggml.{key}")
    assert message in caught.value.message


@given(st.data(), st.sampled_from([BYTE_LEVEL, PIECES, UNIGRAM, WORDS, MERGED]))
def test_damaged_files(data: st.DataObject, pairs: Mapping[str, Written]) -> None:
    survives(data.draw(damaged_bytes(gguf(pairs))))
