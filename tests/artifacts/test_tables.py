"""A tokenizer from the table of its vocabulary is the tokenizer from its file."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from katapi.artifacts.table import table_bytes
from katapi.runtime.artifacts.any_file import read_tokenizer_file
from katapi.runtime.errors import ArtifactError
from katapi.runtime.tokenization import configuration as c
from katapi.runtime.tokenization.build import build_segmenter, build_tokenizer
from katapi.runtime.tokenization.pipeline import PipelineTokenizer
from katapi.runtime.tokenization.table import read_table
from katapi.runtime.tokenization.tokens import Tokens
from katapi.runtime.tokenization.vocabulary_data import VocabularyData

DATA = Path(__file__).with_name("data")
FILES = sorted([*DATA.glob("*.tokenizer.json"), *DATA.glob("*.model")])


def both(file: Path) -> tuple[PipelineTokenizer, PipelineTokenizer]:
    read = read_tokenizer_file(file.read_bytes(), where=file.name)
    data = read_table(table_bytes(read.data, artifact="0" * 64), where="table")
    return build_tokenizer(read.configuration, read.data), build_tokenizer(read.configuration, data)


TOKENIZERS = {file.name: both(file) for file in FILES}


@pytest.mark.parametrize("name", TOKENIZERS)
def test_known_texts_and_all_ids(name: str) -> None:
    of_file, of_table = TOKENIZERS[name]
    for case in json.loads((DATA / "cases.json").read_text(encoding="utf-8"))[name]:
        assert of_table.encode(case["text"]) == case["ids"]
    assert of_table.vocabulary_size == of_file.vocabulary_size
    for token in range(of_file.vocabulary_size):
        assert of_table.decode([token]) == of_file.decode([token])


@given(st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from(" \n▁aeé0東🙂")), st.sampled_from(FILES))
def test_any_text(text: str, file: Path) -> None:
    of_file, of_table = TOKENIZERS[file.name]
    assert of_table.encode(text) == of_file.encode(text)


TEXTS = VocabularyData(Tokens.of([b"<unk>", b"a", b"ab"]))


@pytest.mark.parametrize(
    "rules", [c.BytePairScores(byte_fallback=False), c.Unigram(byte_fallback=False, binary32=True)]
)
def test_scores_that_the_vocabulary_lacks(rules: c.Segmentation) -> None:
    with pytest.raises(ArtifactError, match=r"A114.*a score for each of the 3 tokens"):
        build_segmenter(rules, TEXTS, unknown=0)


@pytest.mark.parametrize("rules", [c.LongestMatch(), c.WordPiece(continuing_prefix="##", longest_word=100)])
def test_an_unknown_token_that_is_not_declared(rules: c.Segmentation) -> None:
    assert build_segmenter(rules, TEXTS, unknown=0).segment("ab") == (2,)
    with pytest.raises(ArtifactError, match="A113"):
        build_segmenter(rules, TEXTS, unknown=None)


@pytest.mark.parametrize(
    "rules",
    [
        c.LongestMatch(),
        c.WordPiece(continuing_prefix="", longest_word=100),
        c.BytePairMerges(over_bytes=False),
    ],
)
def test_bytes_where_texts_are_needed(rules: c.Segmentation) -> None:
    with pytest.raises(ArtifactError, match="A110"):
        build_segmenter(rules, VocabularyData(Tokens.of([b"a", b"\xff"])), unknown=0)


def test_ranks_need_all_bytes() -> None:
    tokens = Tokens.of(bytes([byte]) for byte in range(256))
    data = VocabularyData(tokens)
    assert build_segmenter(c.BytePairRanks(), data, unknown=None).segment("é") == (0xC3, 0xA9)
    with pytest.raises(ArtifactError, match="A105"):
        build_segmenter(c.BytePairRanks(), data.hiding({65}), unknown=None)


def test_a_character_map_that_the_vocabulary_lacks() -> None:
    configuration = c.TokenizerConfiguration(
        (c.CharacterMap(),), (), c.LongestMatch(), c.Frame(), (c.Fuse(),), unknown=0
    )
    with pytest.raises(ArtifactError, match="A107"):
        build_tokenizer(configuration, TEXTS)
    with pytest.raises(ArtifactError, match="A107"):
        build_tokenizer(configuration, replace(TEXTS, charsmap=b"abc"))
