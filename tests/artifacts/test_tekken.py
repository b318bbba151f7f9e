"""Reading tekken.json: a small file made here, and what may be wrong with one."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from katapi.runtime.artifacts.any_file import read_tokenizer_file
from katapi.runtime.errors import ArtifactError
from katapi.runtime.json_types import Json
from katapi.runtime.tokenization.build import build_tokenizer
from katapi.runtime.tokenization.pipeline import PipelineTokenizer
from tests.artifacts.mutations import damaged_json, survives

Document = dict[str, Json]

TOKENS = [*[bytes([byte]) for byte in range(256)], b"ab", b"abc", b"beyond"]
VOCABULARY = [
    {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": None}
    for rank, token in enumerate(TOKENS)
]


def config(**members: Json) -> Document:
    return {
        "pattern": r"\p{L}+|\P{L}",
        "num_vocab_tokens": 259,
        "default_vocab_size": 268,
        "default_num_special_tokens": 10,
        "version": "v3",
        **members,
    }


def document(**members: Json) -> Document:
    return {"config": config(), "vocab": VOCABULARY, **members}


def read(content: Document) -> PipelineTokenizer:
    file = read_tokenizer_file(json.dumps(content).encode(), where="tekken.json")
    return build_tokenizer(file.configuration, file.data)


def test_ids_stand_behind_the_control_tokens() -> None:
    tokenizer = read(document())
    assert tokenizer.encode("abc [INST]") == [267, 42, 101, 83, 88, 93, 94, 103]
    assert tokenizer.encode("beyond") == [10 + byte for byte in b"beyond"]  # the file is cut to 268 ids
    assert tokenizer.decode_text([1, 3, 267, 4]) == "<s>[INST]abc[/INST]"


def test_control_tokens_of_newer_files() -> None:
    special: Json = [{"rank": 0, "token_str": "<pad>", "is_control": True}]
    assert read(document(special_tokens=special)).decode_text([0, 9]) == "<pad><SPECIAL_9>"


@pytest.mark.parametrize(
    ("changed", "place", "message"),
    [
        ({"config": config(pattern=None)}, "config.pattern", "expected text"),
        ({"config": config(default_vocab_size=300)}, "vocab", "expected 290 tokens, found 259"),
        ({"config": config(default_num_special_tokens=269)}, "config.default_num_special_tokens", "from 0 to 268"),
        ({"vocab": VOCABULARY[1:]}, "vocab[0].rank", "expected the rank 0"),
        ({"vocab": [{"rank": 0, "token_bytes": "?"}]}, "vocab[0].token_bytes", "base64"),
        (
            {"vocab": [VOCABULARY[0], {**VOCABULARY[0], "rank": 1}]},
            "vocab[1].token_bytes",
            "has the rank 0 as well",
        ),
        ({"special_tokens": [{"rank": 10, "token_str": "x"}]}, "special_tokens[0].rank", "beyond the 10"),
        (
            {"special_tokens": [{"rank": 0, "token_str": "x"}, {"rank": 1, "token_str": "x"}]},
            "special_tokens[1]",
            "another control token",
        ),
    ],
)
def test_the_place_that_is_wrong(changed: Document, place: str, message: str) -> None:
    with pytest.raises(ArtifactError) as caught:
        read(document(**changed))
    assert caught.value.where == f"tekken.json: {place}"
    assert message in caught.value.message


@given(st.data())
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_damaged_values(data: st.DataObject) -> None:
    survives(data.draw(damaged_json(json.dumps(document()).encode())))
