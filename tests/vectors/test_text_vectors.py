"""Generated tokenizers on the plain strings of `vectors/text`: the ids and texts that the official tokenizers gave.

And what comes back from ids where a tokenizer normalizes: for NFC, decode(encode(s)) == NFC(s).
"""

from __future__ import annotations

import gzip
import json
from importlib import import_module
from pathlib import Path
from typing import NotRequired, TypedDict, cast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import normalizers

import katapi

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared" / "vectors" / "text"
OWN = ROOT / "tests" / "vectors" / "text"
MODELS = sorted(path.name.removesuffix(".jsonl.gz") for path in OWN.glob("*.jsonl.gz"))


class Case(TypedDict):
    """One line of a file of vectors."""

    text: str
    ids: list[int]
    ids_special: NotRequired[list[int]]
    decoded: str
    spells: NotRequired[list[str]]


def cases(model: str) -> list[Case]:
    """Those of `../shared` where it exists, otherwise the copy in this repository."""
    path = next(folder / f"{model}.jsonl.gz" for folder in (SHARED, OWN) if (folder / f"{model}.jsonl.gz").exists())
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        header = json.loads(next(lines))
        found = [cast(Case, json.loads(line)) for line in lines]
    assert len(found) == header["cases"] > 400
    return found


@pytest.mark.parametrize("model", MODELS)
def test_as_the_official_tokenizer(model: str) -> None:
    tokenizer = katapi.load_tokenizer(model)
    declared = {"qwen3": "qwen"}.get(model, model)  # the spec that the model's tokenizer comes from
    package = f"katapi_models.{declared.replace('.', '_').replace('-', '_')}"
    spellings: dict[int, str] = import_module(f"{package}.vocabulary").SPELLINGS
    unknown = import_module(f"{package}.tokenizer").CONFIGURATION.unknown
    for case in cases(model):
        text = case["text"]
        ids = tokenizer.encode(text)
        assert not (spellings.keys() - {unknown}) & {*ids}, text
        if "spells" in case:  # the official tokenizer gives the control id that the text spells
            assert tokenizer.decode_text(ids) == text
            continue
        assert ids == case["ids"], text
        assert tokenizer.decode_text(ids) == case["decoded"], text
        if "ids_special" in case:
            assert tokenizer.encode(text, post_process=True) == case["ids_special"], text


def texts() -> st.SearchStrategy[str]:
    """Texts with many marks and with letters that are composed of others."""
    composing = st.sampled_from(["e", "\u0301", "\u0323", "\u0307", "\u1100", "\u1161", "\u11a8", "\u212b", "\u0f71"])
    return st.lists(composing | st.characters(exclude_categories=["Cs"]), max_size=20).map("".join)


@given(texts())
@example("e\u0301")
@example("<|im_end|>e\u0301")
@example("q\u0307\u0323")
@example("\u1100\u1161\u11a8")
def test_what_comes_back_from_a_tokenizer_with_nfc_is_the_text_in_nfc(text: str) -> None:
    tokenizer = katapi.load_tokenizer("qwen3")
    assert tokenizer.decode_text(tokenizer.encode(text)) == normalizers.NFC().normalize_str(text)


def test_a_tokenizer_without_a_template_loads_as_a_model_that_takes_no_request() -> None:
    model, tokenizer = katapi.load("gpt2"), katapi.load_tokenizer("gpt2")
    assert model is katapi.load("gpt2")
    assert (model.name, model.tokenizer) == (tokenizer.name, tokenizer.tokenizer)
    assert model.encode("a b") == tokenizer.encode("a b")
    for call in (model.decode_request, model.render, model.assemble):
        with pytest.raises(katapi.ArtifactError, match="'gpt2' is a tokenizer without a template") as caught:
            call(b'{"messages": []}')
        assert caught.value.code == "A144"
