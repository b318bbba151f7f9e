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
from tokenizers import normalizers

import katapi
from katapi.runtime.tokenization.configuration import NormalForm, Normalize

SHARED = Path(__file__).parents[3] / "shared"
MODELS = sorted(path.name.removesuffix(".tokenizer.json.gz") for path in SHARED.glob("artifacts/*.tokenizer.json.gz"))

NFC = normalizers.NFC()
COMPOSING = {"gpt-neox-20b", "modernbert", "olmo-neox"}
"""Tokenizers with the normalizer NFC whose vectors have texts that spell a token and are not in NFC."""

OTHERS = {
    ("bert-base-cased", "[CLS] [MASK]"): "[ CLS ] [ MASK ]",
    ("bert-uncased-gte", "[CLS] [MASK]"): "[ cls ] [ mask ]",
    ("t5-small", "</s>"): "<unk>/s>",
    ("t5-small", "<unk>"): "<unk>unk>",
}
"""What comes back from texts that spell a token, where the model's tokenizer loses part of any text like it."""


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
    rules = tokenizer.configuration
    controls = {token.id for token in rules.added_tokens if token.control} - {rules.unknown}
    composed = 0
    for case in cases(model):
        text, ids = case["text"], tokenizer.encode(case["text"])
        if "spells" in case:  # the official library gives the token that the text spells
            assert not controls & {*ids}
            normalized = NFC.normalize_str(text) if Normalize(NormalForm.NFC) in rules.normalizers else text
            assert tokenizer.decode_text(ids) == OTHERS.get((model, text), normalized), text
            if normalized != text:  # from the official library it comes back so as well
                assert case["decoded"] == normalized
                composed += 1
            continue
        assert ids == case["ids"], text
        assert tokenizer.decode_text(ids) == case["decoded"], text
        if "ids_special" in case:
            assert tokenizer.encode(text, post_process=True) == case["ids_special"]
    assert composed == (14 if model in COMPOSING else 0)
