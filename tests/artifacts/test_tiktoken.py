"""Reading `.tiktoken` files: the whole file is right, or the line that is wrong is named."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import katapi
from katapi.runtime.artifacts.tiktoken import read_ranks, read_tiktoken
from katapi.runtime.errors import ArtifactError


def lines(*tokens: bytes) -> list[bytes]:
    return [b"%s %d" % (base64.b64encode(token), rank) for rank, token in enumerate(tokens)]


@given(st.lists(st.binary(min_size=1), min_size=1, unique=True), st.sampled_from([b"\n", b"\r\n"]), st.booleans())
def test_tokens_in_order(tokens: list[bytes], newline: bytes, newline_at_end: bool) -> None:
    data = newline.join(lines(*tokens)) + (newline if newline_at_end else b"")
    assert read_tiktoken(data, where="file") == tokens


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (b"YQ== 3", "expected the rank 2, found 3"),  # a gap
        (b"YQ== 0", "expected the rank 2, found 0"),  # a duplicate
        (b"YQ== -1", "base64"),
        (b"YQ== 2 ", "base64"),
        (b"YQ==  2", "base64"),
        (b"YQ==", "base64"),
        (b"YQ 2", "base64"),
        (b"Y!== 2", "base64"),
        (b" 2", "base64"),
        (b"YQ== x", "base64"),
        (b"", "base64"),
        (b"YWE= 2", "the rank 0 as well"),
    ],
)
def test_the_line_that_is_wrong(changed: bytes, message: str) -> None:
    data = b"\n".join([*lines(b"aa", b"b"), changed, b"ZA== 3"])
    with pytest.raises(ArtifactError, match=f"A131 at file, line 3: .*{message}"):
        read_tiktoken(data, where="file")


@pytest.mark.parametrize("data", [b"", b"\xff\xfe\x00", b"PK\x03\x04 binary"])
def test_what_is_no_such_file(data: bytes) -> None:
    with pytest.raises(ArtifactError, match="A131"):
        read_tiktoken(data, where="file")


def test_ranks_that_belong_to_control_tokens_are_passed_over() -> None:
    data = b"YQ== 0\nYg== 2"
    assert read_ranks(data, where="file", passed_over=[1]) == {b"a": 0, b"b": 2}
    with pytest.raises(ArtifactError, match="expected the rank 1, found 2"):
        read_ranks(data, where="file")


BYTES = b"\n".join(lines(*[bytes([byte]) for byte in range(256)], b"ab", b"abc"))


def test_a_file_that_is_not_known_needs_a_pattern(tmp_path: Path) -> None:
    path = tmp_path / "own.tiktoken"
    path.write_bytes(BYTES)
    with pytest.raises(ArtifactError, match=r"A138 at own.tiktoken"):
        katapi.tokenizer_from_file(path)
    assert katapi.tokenizer_from_file(path, pattern=r"\w|\W").encode("abc") == [97, 98, 99]
    assert katapi.tokenizer_from_file(path, pattern=r"\w+|\W").encode("abc") == [257]
    with pytest.raises(ArtifactError, match=r"A108 at own.tiktoken: the pattern"):
        katapi.tokenizer_from_file(path, pattern="(")
