"""The token table: what is written is what is read, and nothing damaged is read at all."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from katapi.artifacts.table import table_bytes
from katapi.runtime.errors import ArtifactError
from katapi.runtime.tokenization.table import load_table, read_table

DIGEST = hashlib.sha256(b"artifact").hexdigest()
TABLE = table_bytes([b"a", b"bc", "é".encode()], artifact=DIGEST)


@given(st.lists(st.binary(min_size=1, max_size=300), unique=True))
def test_reading_gives_what_was_written(tokens: list[bytes]) -> None:
    table = read_table(table_bytes(tokens, artifact=DIGEST), where="memory")
    assert table.tokens == tokens
    assert table.artifact == DIGEST
    assert [table.ranks[token] for token in tokens] == list(range(len(tokens)))


def test_the_bytes_are_fixed() -> None:
    expected = b"KATAPIV1" + bytes([3, 0, 0, 0, 1, 0, 0, 0]) + bytes.fromhex(DIGEST) + TABLE[48:52]
    assert expected + bytes([1, 2, 2]) + "abcé".encode() == TABLE


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


def test_a_table_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="A101"):
        load_table(tmp_path / "vocabulary.bin")


def test_loading_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "vocabulary.bin").write_bytes(TABLE)
    assert load_table(tmp_path / "vocabulary.bin").tokens == [b"a", b"bc", "é".encode()]


@pytest.mark.parametrize("tokens", [[b"a", b"a"], [b""], [b"a" * 65536]])
def test_tokens_that_no_table_can_hold(tokens: list[bytes]) -> None:
    with pytest.raises(ArtifactError, match="A104"):
        table_bytes(tokens, artifact=DIGEST)
