"""One small tokenizer of each algorithm: the ids and texts that the official libraries gave (`cases.json`).

`tools/tokenizer_cases.py` made files and cases.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import NotRequired, TypedDict, cast

import numpy as np
import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

import katapi

DATA = Path(__file__).with_name("data")


class Case(TypedDict):
    """What a library gave for a text."""

    text: str
    ids: list[int]
    ids_special: NotRequired[list[int]]
    decoded: NotRequired[str]


CASES = cast(dict[str, list[Case]], json.loads((DATA / "cases.json").read_text(encoding="utf-8")))
TOKENIZER_JSON = sorted(name for name in CASES if name.endswith(".json"))


@cache
def tokenizer(name: str) -> katapi.FileTokenizer:
    return katapi.tokenizer_from_file(DATA / name)


@pytest.mark.parametrize("name", CASES)
def test_cases(name: str) -> None:
    subject = tokenizer(name)
    for case in CASES[name]:
        assert subject.encode(case["text"]) == case["ids"], case["text"]
        assert subject.encode(case["text"].encode()) == case["ids"]
        if "ids_special" in case:
            assert subject.encode(case["text"], post_process=True) == case["ids_special"]
        if "decoded" in case:
            assert subject.decode_text(case["ids"]) == case["decoded"]


@pytest.mark.parametrize("name", CASES)
def test_decoding_by_parts(name: str) -> None:
    subject = tokenizer(name)
    for case in CASES[name]:
        decoder = subject.decoder()
        assert b"".join([*map(decoder.push, case["ids"]), decoder.finish()]) == subject.decode(case["ids"])


@pytest.mark.parametrize("name", CASES)
def test_spans_ascend_and_lie_in_the_text(name: str) -> None:
    subject = tokenizer(name)
    for case in CASES[name]:
        spans = subject.spans(case["text"], case["ids"])
        bounds = [(0, 0), *spans.tolist(), (len(case["text"].encode()),) * 2]
        assert spans.shape == (len(case["ids"]), 2)
        assert (np.diff(np.array(bounds), axis=0) >= 0).all()
        assert (spans[:, 0] <= spans[:, 1]).all()


@cache
def official(name: str) -> tokenizers.Tokenizer:
    return tokenizers.Tokenizer.from_file(str(DATA / name))


ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from(" \n\t\u2581aeéß'0½²東🙂\u0301"))


@given(ANY_TEXT, st.sampled_from(TOKENIZER_JSON))
def test_any_text_as_the_official_library(text: str, name: str) -> None:
    library = official(name)
    if any(token.content in text for token in library.get_added_tokens_decoder().values()):
        return  # the library finds added tokens in text, and Katapi does not
    expected = library.encode(text, add_special_tokens=False).ids
    assert tokenizer(name).encode(text) == expected
    assert tokenizer(name).decode_text(expected) == library.decode(expected, skip_special_tokens=False)


@pytest.mark.parametrize("name", CASES)
def test_no_text_yields_a_control_token(name: str) -> None:
    subject = tokenizer(name)
    unknown = subject.configuration.unknown
    for token in subject.configuration.added_tokens:
        if token.control and token.id != unknown:
            assert token.id not in subject.encode(f"a{token.content} {token.content}{token.content}\n")
            assert subject.decode([token.id]) == token.content.encode()


@pytest.mark.parametrize("path", [DATA, DATA / "missing.json", "a\0b"])
def test_a_path_that_cannot_be_read(path: Path | str) -> None:
    with pytest.raises(katapi.ArtifactError, match="A130"):
        katapi.tokenizer_from_file(path)


def test_a_file_of_no_known_format() -> None:
    with pytest.raises(katapi.ArtifactError, match=r"A139 at test_small_tokenizers.py"):
        katapi.tokenizer_from_file(__file__)
