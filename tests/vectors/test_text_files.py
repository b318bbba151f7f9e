"""Every tokenizer.json in `../shared/artifacts` on its plain strings: the ids and texts that the official library gave.

These files are not part of the repository. Where they are not there, nothing is tested here and the run says so;
`tests/artifacts/test_small_tokenizers.py` has one small tokenizer of each algorithm.
"""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import NotRequired, TypedDict, cast

import pytest

import katapi

SHARED = Path(__file__).parents[3] / "shared"
MODELS = sorted(path.name.removesuffix(".tokenizer.json.gz") for path in SHARED.glob("artifacts/*.tokenizer.json.gz"))

UNDONE = {"bert-base-cased", "bert-uncased-gte", "clip", "t5-small", "xlm-roberta", "xlnet-base-cased"}
"""Tokenizers whose normalizers lose parts of a text."""


class Case(TypedDict):
    """One line of a file of vectors."""

    text: str
    ids: list[int]
    ids_special: NotRequired[list[int]]
    decoded: str
    spells: NotRequired[list[str]]


@cache
def cases(model: str) -> list[Case]:
    with gzip.open(SHARED / "vectors" / "text" / f"{model}.jsonl.gz", "rt", encoding="utf-8") as lines:
        header = json.loads(next(lines))
        found = [cast(Case, json.loads(line)) for line in lines]
    assert len(found) == header["cases"]
    return found


@pytest.mark.skipif(not MODELS, reason="../shared/artifacts is not there: the tokenizers in it are not tested")
@pytest.mark.parametrize("model", MODELS)
def test_as_the_official_library(model: str, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(gzip.decompress((SHARED / "artifacts" / f"{model}.tokenizer.json.gz").read_bytes()))
    tokenizer = katapi.tokenizer_from_file(path)
    controls = {token.id for token in tokenizer.configuration.added_tokens if token.control}
    controls -= {tokenizer.configuration.unknown}
    for case in cases(model):
        text, ids = case["text"], tokenizer.encode(case["text"])
        if "spells" in case:  # the official library gives the token that the text spells
            assert not controls & {*ids}
            if model not in UNDONE:
                # What normalization changed, the official decoder does not bring back either.
                assert tokenizer.decode_text(ids).strip() in (text.strip(), case["decoded"].strip())
            continue
        assert ids == case["ids"], text
        assert tokenizer.decode_text(ids) == case["decoded"], text
        if "ids_special" in case:
            assert tokenizer.encode(text, post_process=True) == case["ids_special"]
