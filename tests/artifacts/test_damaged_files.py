"""Files made to do harm: each is refused with an `ArtifactError`, soon and in little memory."""

from __future__ import annotations

import json
import struct
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

import katapi
from katapi.runtime.json_types import Json

Document = dict[str, Json]

MODEL: Document = {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]]}
STAGES = ("normalizer", "pre_tokenizer", "post_processor", "decoder")


def document(**members: Json) -> bytes:
    return json.dumps({"added_tokens": [], **dict.fromkeys(STAGES), "model": MODEL, **members}).encode()


def added(token: int, content: str) -> Document:
    flags: Document = dict.fromkeys(("normalized", "lstrip", "rstrip", "single_word", "special"), True)
    return {"id": token, "content": content, **flags}


def split(pattern: str) -> bytes:
    stage: Json = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
    return document(pre_tokenizer=stage)


def nested(member: str, list_name: str) -> bytes:
    opened = f'{{"type":"Sequence","{list_name}":['
    return document().replace(f'"{member}": null'.encode(), f'"{member}":{opened * 300}{"]}" * 300}'.encode())


def gguf(*parts: bytes, pairs: int = 1) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", 3, 0, pairs) + b"".join(parts)


def text(value: bytes, claimed: int | None = None) -> bytes:
    return struct.pack("<Q", len(value) if claimed is None else claimed) + value


def list_of(kind: int, count: int) -> bytes:
    return text(b"tokenizer.ggml.tokens") + struct.pack("<IIQ", 9, kind, count)


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def piece(body: bytes) -> bytes:
    return b"\x0a" + varint(len(body)) + body


UNKNOWN = piece(b"\x0a\x05<unk>\x15\x00\x00\x00\x00\x18\x02")

HARMFUL: dict[str, bytes] = {
    "nothing": b"",
    "zeros": bytes(1000),
    "json: cut off": document()[:-5],
    "json: lists within lists": b'{"model":' + b"[" * 5_000_000,
    "json: objects within objects": b'{"a":' * 1_000_000,
    "json: a number of a million digits": b'{"model":' + b"9" * 1_000_000 + b"}",
    "json: an exponent of ten thousand digits": b'{"model":1e' + b"9" * 10_000 + b"}",
    "json: a key twice": document().replace(b'"b": 1', b'"b": 1, "b": 1'),
    "json: NaN": document(model={**MODEL, "dropout": float("nan")}),
    "json: a score that is not finite": document(
        model={"type": "Unigram", "unk_id": None, "vocab": [["a", 1.0]]}
    ).replace(b"1.0", b"1e999"),
    "json: an id of 2**70": document(model={**MODEL, "vocab": {"a": 1 << 70}, "merges": []}),
    "json: the highest id of 32 bits": document(model={**MODEL, "vocab": {"a": (1 << 32) - 1}, "merges": []}),
    "json: an id twice": document(model={**MODEL, "vocab": {"a": 0, "b": 0}, "merges": []}),
    "json: a merge of what is no token": document(model={**MODEL, "merges": [["a", "z"]]}),
    "json: a merge into what is no token": document(model={**MODEL, "merges": [["b", "a"]]}),
    "json: half of a surrogate pair": document(model={**MODEL, "vocab": {"\ud800": 0}, "merges": []}),
    "json: a long prefix": document(model={**MODEL, "continuing_subword_prefix": "x" * 100_000}),
    "json: a repetition of repetitions": split("((a{1000}){1000}){1000}"),
    "json: a repetition of a million": split("a{1000000}"),
    "json: groups within groups": split("(" * 10_000),
    "json: a look-behind": split("(?<=a+)b"),
    "json: a back-reference": split(r"(a)\1"),
    **{
        f"json: sequences within sequences, {member}": nested(member, list_name)
        for member, list_name in [
            ("normalizer", "normalizers"),
            ("pre_tokenizer", "pretokenizers"),
            ("post_processor", "processors"),
            ("decoder", "decoders"),
        ]
    },
    "GGUF: cut off": b"GGUF\x03",
    "GGUF: more pairs than bytes": gguf(pairs=1 << 62),
    "GGUF: a text of a gigabyte": gguf(text(b"k", 1 << 30)),
    "GGUF: a text of 2**63 bytes": gguf(text(b"k", 1 << 63)),
    "GGUF: a list of 2**62 numbers": gguf(list_of(4, 1 << 62)),
    "GGUF: a list of a milliard flags": gguf(list_of(7, 1 << 30)),
    "GGUF: a list of 2**60 texts": gguf(list_of(8, 1 << 60)),
    "GGUF: a list of 2**40 lists": gguf(list_of(9, 1 << 40)),
    "GGUF: lists within lists": gguf(list_of(9, 1), struct.pack("<IQ", 9, 1) * 100_000),
    "GGUF: a key twice": gguf(*[text(b"k") + struct.pack("<I?", 7, True)] * 2, pairs=2),
    ".model: a length beyond the end": b"\x0a" + varint(1 << 30) + b"x",
    ".model: a length of 70 bits": b"\x0a" + b"\xff" * 10,
    ".model: a number without an end": b"\x0a\xff\xff",
    ".model: groups": b"\x0a\x02\x0b\x0b",
    ".model: a piece twice": UNKNOWN + piece(b"\x0a\x01a") * 2,
    ".model: a score that is not a number": UNKNOWN + piece(b"\x0a\x01a\x15\x00\x00\xc0\x7f"),
    ".model: no unknown piece": piece(b"\x0a\x01a"),
    "json: an added token beyond a gap": document(added_tokens=[added((1 << 32) - 1, "<s>"), added(0, "<t>")]),
    ".tiktoken: a rank of ten digits": b"YQ== 4294967295\n",
    ".tiktoken: a rank of twenty digits": b"YQ== 99999999999999999999\n",
    ".tiktoken: a rank twice": b"YQ== 0\nYg== 0\n",
    ".tiktoken: a token twice": b"YQ== 0\nYQ== 1\n",
    "tekken.json: a milliard tokens": json.dumps(
        {"config": {"pattern": "a", "default_vocab_size": 1 << 30, "default_num_special_tokens": 1 << 30}, "vocab": []}
    ).encode(),
}


@pytest.mark.parametrize("name", HARMFUL)
def test_harmful_files_are_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(HARMFUL[name])
    with pytest.raises(katapi.ArtifactError):  # so that all modules are loaded
        katapi.tokenizer_from_file(path)
    tracemalloc.start()
    try:
        with pytest.raises(katapi.ArtifactError):
            katapi.tokenizer_from_file(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2_500_000 + 20 * len(HARMFUL[name])


def unigram_of(score: float) -> bytes:
    """A GGUF of pieces whose scores are binary64."""
    tokens = text(b"tokenizer.ggml.tokens") + struct.pack("<IIQ", 9, 8, 2) + text(b"<unk>") + text("▁".encode())
    scores = text(b"tokenizer.ggml.scores") + struct.pack("<IIQdd", 9, 12, 2, 0.0, score)
    kinds = text(b"tokenizer.ggml.token_type") + struct.pack("<IIQii", 9, 5, 2, 2, 1)
    model = text(b"tokenizer.ggml.model") + struct.pack("<I", 8) + text(b"t5")
    end = text(b"tokenizer.ggml.eos_token_id") + struct.pack("<Ii", 5, 0)
    return gguf(tokens, scores, kinds, model, end, pairs=5)


@pytest.mark.parametrize("make", [lambda: unigram_of(1e308), lambda: unigram_of(-1e308)], ids=["1e308", "-1e308"])
def test_scores_beyond_binary32(make: Callable[[], bytes], tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(make())
    assert katapi.tokenizer_from_file(path).encode("a") in ([1, 0], [0])
