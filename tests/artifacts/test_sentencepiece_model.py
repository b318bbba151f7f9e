"""Reading SentencePiece's `.model`: files written field by field here, and damaged ones of the library."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from katapi.runtime.artifacts.sentencepiece_model import read_sentencepiece
from katapi.runtime.errors import ArtifactError
from katapi.runtime.tokenization.build import build_tokenizer
from katapi.runtime.tokenization.pipeline import PipelineTokenizer
from tests.artifacts.mutations import damaged_bytes, survives

DATA = Path(__file__).with_name("data")

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)
UNIGRAM, BPE, WORD = 1, 2, 3


def varint(value: int) -> bytes:
    return bytes([value]) if value < 0x80 else bytes([value & 0x7F | 0x80]) + varint(value >> 7)


def field(number: int, value: int | float | bytes) -> bytes:
    """One field of a message; the type of the value says how it is written."""
    match value:
        case int():
            return varint(number << 3) + varint(value)
        case float():
            return varint(number << 3 | 5) + struct.pack("<f", value)
        case bytes():
            return varint(number << 3 | 2) + varint(len(value)) + value


def piece(text: str, score: float = 0.0, kind: int = NORMAL) -> bytes:
    return field(1, field(1, text.encode()) + field(2, score) + field(3, kind))


HEAD = piece("<unk>", kind=UNKNOWN) + piece("<s>", kind=CONTROL)
PLAIN = field(3, field(3, 0) + field(4, 0))
"""No dummy prefix, and spaces as they are."""


def read(*parts: bytes) -> PipelineTokenizer:
    file = read_sentencepiece(b"".join(parts), where="x.model")
    return build_tokenizer(file.configuration, file.data)


def encode(text: str, *parts: bytes) -> list[int]:
    return read(*parts).encode(text)


def test_unigram_takes_the_best_sum() -> None:
    pieces = HEAD + piece("a", -1.0) + piece("b", -1.0) + piece("ab", -1.5) + piece("ba", -3.5)
    assert encode("abba", pieces, PLAIN) == [4, 3, 2]


def test_byte_pairs_merge_the_best_score_first() -> None:
    pieces = HEAD + piece("a", -9.0) + piece("b", -9.0) + piece("ab", -2.0) + piece("ba", -1.0)
    assert encode("aba", pieces, field(2, field(3, BPE)), PLAIN) == [2, 5]


def test_bytes_stand_for_characters_that_are_no_piece() -> None:
    pieces = HEAD + piece("a", -1.0) + b"".join(piece(f"<0x{byte:02X}>", kind=BYTE) for byte in range(256))
    settings = field(2, field(3, BPE) + field(35, 1))
    tokenizer = read(pieces, settings, PLAIN)
    assert tokenizer.encode("aé<0x41>")[:3] == [2, 3 + 0xC3, 3 + 0xA9]
    assert tokenizer.decode_text(tokenizer.encode("aé<0x41>")) == "aé<0x41>"


def test_spaces() -> None:
    pieces = HEAD + b"".join(piece(text, -1.0) for text in ("▁", "a", "b"))
    as_trained = encode(" a  b ", pieces)
    assert as_trained == [2, 3, 2, 4]
    assert encode(" a  b ", pieces, PLAIN) == [2, 3, 2, 2, 4, 2]
    assert encode("a", pieces, field(2, field(24, 1))) == [3, 2]
    assert encode("  ", pieces) == []
    assert read(pieces).decode_text(as_trained) == "a b"


def test_control_and_long_user_defined_pieces_are_out_of_reach() -> None:
    pieces = HEAD + b"".join(piece(text, -1.0) for text in "<s>tol")
    own = piece("<tool>", kind=USER_DEFINED) + piece("(", kind=USER_DEFINED)
    ids = encode("<s><tool>(", pieces, own, PLAIN)
    assert not {1, 8} & {*ids}
    assert ids[-1] == 9  # a single character is text, whatever the file calls it


def test_unused_pieces_are_passed_over() -> None:
    pieces = HEAD + piece("a", -1.0) + piece("aa", -0.5, UNUSED)
    assert encode("aa", pieces, PLAIN) == [2, 2]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "no pieces"),
        (b"\n", "cut off within an integer"),
        (HEAD + b"\n\x05ab", "cut off within a field"),
        (HEAD + b"\x0b", "unknown wire type 3"),
        (b"\xff" * 11, "more than ten bytes"),
        (HEAD + piece("<s>"), 'the piece "<s>" of id 2 is that of id 1'),
        (HEAD + piece(""), "without text"),
        (HEAD + piece("a", float("nan")), "no finite number"),
        (HEAD + piece("a", kind=9), "unknown number 9 of a kind"),
        (HEAD + field(1, field(1, b"\xff")), "text in UTF-8"),
        (HEAD + field(1, field(1, b"a") + field(2, 3)), "expected bytes"),
        (HEAD + field(1, 3), "expected bytes"),
        (HEAD + field(2, field(3, b"BPE")), "expected an integer"),
        (piece("a", -1.0), "expected one unknown piece, found 0"),
        (HEAD + field(2, field(3, WORD)), "WORD are not supported"),
        (HEAD + piece("a", kind=UNUSED) + field(2, field(3, BPE)), "UNUSED"),
    ],
)
def test_what_is_wrong(data: bytes, message: str) -> None:
    with pytest.raises(ArtifactError, match=f"A135 at x.model.*{message}"):
        read(data)


def test_a_character_map_that_is_damaged() -> None:
    with pytest.raises(ArtifactError, match="A107"):
        read(HEAD, piece("a"), field(3, field(2, b"abc")))


@given(st.data(), st.sampled_from(["bpe.model", "unigram.model"]))
def test_damaged_files(data: st.DataObject, name: str) -> None:
    survives(data.draw(damaged_bytes((DATA / name).read_bytes())))
