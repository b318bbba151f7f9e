"""The token table: what is written is what is read, and nothing damaged is read at all."""

from __future__ import annotations

import hashlib
import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from katapi.artifacts.table import table_bytes
from katapi.runtime.errors import ArtifactError
from katapi.runtime.tokenization.configuration import AddedToken
from katapi.runtime.tokenization.table import CHECKSUM, START, added_of, artifact_of, checksum, load_table, read_table
from katapi.runtime.tokenization.tokens import Tokens
from katapi.runtime.tokenization.vocabulary_data import VocabularyData, merge_array, score_array

DIGEST = hashlib.sha256(b"artifact").hexdigest()
DATA = VocabularyData(
    Tokens.by_id({0: b"a", 1: b"bc", 3: "é".encode(), 4: b"a"}),
    merges=merge_array([(0, 1, 3), (1, 1, 0)]),
    scores=score_array([-1.0, -2.5, 0.0, 0.1, 0.0]),
    lowest=-2.5,
    unreachable=frozenset({4}),
    charsmap=b"map",
    added=(AddedToken(5, "<ü>", control=True, lstrip=True), AddedToken(1, "bc", control=False, special=False)),
)
ADDED = (
    b'[[5, "<\\u00fc>", true, true, false, true, false, false], [1, "bc", false, false, false, false, false, false]]'
)
TABLE = table_bytes(DATA, artifact=DIGEST)


def tokens_alone(*tokens: bytes) -> VocabularyData:
    return VocabularyData(Tokens.of(tokens))


@st.composite
def vocabularies(draw: st.DrawFn) -> VocabularyData:
    tokens = draw(st.dictionaries(st.integers(0, 40), st.binary(max_size=300), max_size=30))
    table = Tokens.by_id(tokens)
    ids = st.sampled_from(sorted(tokens) or [0])
    hidden = {token for token, data in tokens.items() if [*tokens.values()].count(data) > 1}
    score = st.floats(allow_nan=False) | st.floats(allow_nan=False, width=32)
    return VocabularyData(
        table,
        merge_array(draw(st.lists(st.tuples(ids, ids, ids))) if tokens else []),
        score_array(draw(st.lists(score, min_size=len(table), max_size=len(table)) | st.just([]))),
        draw(score),
        frozenset(hidden | draw(st.sets(ids) if tokens else st.just(set()))),
        charsmap=draw(st.binary(max_size=9)),
    )


@given(vocabularies())
def test_reading_gives_what_was_written(data: VocabularyData) -> None:
    table = table_bytes(data, artifact=DIGEST)
    read = read_table(table, where="memory")
    assert [*read.tokens] == [*data.tokens]
    assert read.tokens.gaps == data.tokens.gaps
    assert np.array_equal(read.merges, data.merges)
    assert read.scores.tobytes() == data.scores.tobytes()
    assert struct.pack("d", read.lowest) == struct.pack("d", data.lowest)
    assert (read.unreachable, read.charsmap) == (data.unreachable, data.charsmap)
    assert artifact_of(table) == DIGEST
    assert table_bytes(read, artifact=DIGEST) == table


def test_the_bytes_are_fixed() -> None:
    expected = b"KATAPIV2" + bytes.fromhex(DIGEST) + checksum(TABLE)
    expected += struct.pack("<8Id", 5, 1, 8, 1, 1, 2, 3, len(ADDED), -2.5)
    expected += bytes([1, 2, 0, 2, 1])
    expected += struct.pack("<2i", 2, 4)
    expected += struct.pack("<6i", 0, 1, 1, 1, 3, 0)
    expected += struct.pack("<5d", -1.0, -2.5, 0.0, 0.1, 0.0)
    assert expected + "abcéa".encode() + b"map" + ADDED == TABLE


def test_added_tokens_are_kept_and_read_apart() -> None:
    assert added_of(TABLE) == DATA.added
    assert read_table(TABLE, where="memory").added is None
    assert added_of(table_bytes(tokens_alone(b"a"), artifact=DIGEST)) is None
    none = replace(tokens_alone(b"a"), added=())
    assert added_of(table_bytes(none, artifact=DIGEST)) == ()


def test_ranks_are_those_of_tokens_that_text_can_yield() -> None:
    assert read_table(TABLE, where="memory").ranks == {b"a": 0, b"bc": 1, "é".encode(): 3}


@pytest.mark.parametrize("size", range(len(TABLE)))
def test_a_table_that_is_cut_off(size: int) -> None:
    with pytest.raises(ArtifactError, match=r"artifact error A10[23] at cut"):
        read_table(TABLE[:size], where="cut")


@pytest.mark.parametrize("position", range(len(TABLE)))
def test_a_table_with_a_changed_byte(position: int) -> None:
    changed = bytearray(TABLE)
    changed[position] ^= 1
    with pytest.raises(ArtifactError, match=r"artifact error A10[23] at changed"):
        read_table(bytes(changed), where="changed")


def test_a_table_with_more_behind_it() -> None:
    with pytest.raises(ArtifactError, match="A103"):
        read_table(TABLE + b"\0", where="longer")


def sealed(table: bytes) -> bytes:
    """The same with the checksum that belongs to it."""
    return table[: START.size] + checksum(table) + table[START.size + CHECKSUM.size :]


@given(st.data())
def test_numbers_that_do_not_agree(data: st.DataObject) -> None:
    """Whatever the numbers say, a table is refused or read, and never more memory taken than it has bytes."""
    changed = bytearray(TABLE)
    for _ in range(data.draw(st.integers(1, 2))):
        place = data.draw(st.integers(START.size, len(TABLE) - 1))
        changed[place] = data.draw(st.integers(0, 255))
    try:
        read = read_table(sealed(bytes(changed)), where="changed")
    except ArtifactError:
        return
    assert (read.merges < len(read.tokens)).all()
    assert len(b"".join(read.tokens)) == len(read.tokens.joined)


def test_a_table_of_the_first_version() -> None:
    with pytest.raises(ArtifactError, match="A102"):
        read_table(sealed(b"KATAPIV1" + TABLE[8:]), where="old")


def test_a_table_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="A101"):
        load_table(tmp_path / "vocabulary.bin")


def test_loading_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "vocabulary.bin").write_bytes(TABLE)
    assert load_table(tmp_path / "vocabulary.bin").tokens[1] == b"bc"


@pytest.mark.parametrize("length", [255, 256, 65535, 65536])
def test_long_tokens(length: int) -> None:
    table = table_bytes(tokens_alone(b"a" * length), artifact=DIGEST)
    assert [*read_table(table, where="memory").tokens] == [b"a" * length]


def test_scores_that_binary32_holds_take_half_the_place() -> None:
    halves, tenths = (VocabularyData(Tokens.of([b"a"]), scores=score_array([score])) for score in (0.5, 0.1))
    assert len(table_bytes(tenths, artifact=DIGEST)) == len(table_bytes(halves, artifact=DIGEST)) + 4


def test_two_ids_of_one_token() -> None:
    with pytest.raises(ArtifactError, match="A104 at id 0: the same token as id 1"):
        table_bytes(tokens_alone(b"a", b"a"), artifact=DIGEST)
