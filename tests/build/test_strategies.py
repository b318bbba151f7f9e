"""The strategies of `katapi.testing`: what generated property tests draw from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import find, given

from katapi.artifacts.cache import Cache
from katapi.emit.property_tests import JSON_NESTING
from katapi.runtime.arguments import JsonText
from katapi.runtime.json_types import Json
from katapi.runtime.parts import MergedText
from katapi.runtime.request_model import Items, RequestModel
from katapi.runtime.segments import Content, ControlToken
from katapi.runtime.tokenization.configuration import TokenizerConfiguration
from katapi.runtime.tokenization.decoding import ByteDecoding
from katapi.runtime.tokenization.encoding import Encoding
from katapi.runtime.tokenization.engine import PieceEngine
from katapi.runtime.tokenization.facade import TextAndIds
from katapi.runtime.tokenization.interface import Tokenizer
from katapi.runtime.tokenization.longest_match import LongestMatch
from katapi.runtime.tokenization.normalizers import Unchanged
from katapi.runtime.tokenization.pipeline import PipelineTokenizer
from katapi.runtime.tokenization.post_processors import Bare
from katapi.runtime.tokenization.pretokenizers import Whole
from katapi.runtime.tokenization.vocabulary import Vocabulary
from katapi.runtime.tokenization.vocabulary_data import VocabularyData
from katapi.testing import (
    json_objects,
    json_values,
    known_ids,
    nesting,
    other_roles,
    texts,
    texts_at,
    texts_of_parts,
    with_vocabulary,
)
from katapi_models.gemma2_tokens.tokenizer import CONFIGURATION as GEMMA2
from katapi_models.glm_4_7_tokens.tokenizer import CONFIGURATION as GLM
from katapi_models.gpt2 import TOKENIZER as GPT2
from katapi_models.llama2_tokens.tokenizer import CONFIGURATION as LLAMA2


class Sparse(ControlToken):
    """A control token far above the tokens of text."""

    FAR = (1_000_000_000, "<far>")


class Silent(ControlToken):
    """No control token at all."""


TEXTS = {3: "a", 7: "b"}


@dataclass(frozen=True)
class Gaps(TextAndIds):
    """A tokenizer most of whose ids stand for nothing."""

    @property
    def tokenizer(self) -> Tokenizer:
        vocabulary = Vocabulary(texts=TEXTS, control={1_000_000_000: "<far>", 8: "<unk>"})
        engine = PieceEngine(Whole(), LongestMatch(VocabularyData.of_texts(TEXTS), unknown=8))
        return PipelineTokenizer(
            form=engine.form,
            encoding=lambda: Encoding(engine, Unchanged(), Unchanged()),
            post_processor=Bare(),
            decoding=ByteDecoding(vocabulary),
            vocabulary=vocabulary,
        )


@given(known_ids(Gaps(), Sparse))
def test_an_id_that_is_drawn_stands_for_something(drawn: int) -> None:
    assert drawn in {3, 7, 8, 1_000_000_000}


def test_the_control_tokens_are_drawn_too() -> None:
    assert find(known_ids(Gaps(), Sparse), lambda drawn: drawn == 1_000_000_000) == 1_000_000_000


@given(texts(Silent))
def test_texts_need_no_control_token(text: Content) -> None:
    text.encode()


@given(json_values(Sparse) | json_objects(Sparse))
def test_json_nests_no_deeper_than_the_emitter_counts_with(value: Json) -> None:
    assert nesting(value) <= JSON_NESTING


class Call(RequestModel):
    name: str
    arguments: JsonText


class Message(RequestModel):
    content: str | None = None
    calls: Items[Call] | None = None


MESSAGE = Message(
    content="c",
    calls=(Call(name="f", arguments=JsonText({"a": [1]})), Call(name="g", arguments=JsonText({"a": [[1]]}, "…"))),
)


def test_nesting_counts_lists_objects_and_messages() -> None:
    assert nesting(1) == 0
    assert nesting([]) == nesting({}) == 1
    assert nesting({"a": [{}]}) == 3
    assert nesting(MESSAGE) == 5  # the message, its calls, a call, its arguments, a list; the text counts by itself
    assert nesting(JsonText({"a": [[1]]}, "…"), around=9) == 3


def test_texts_are_found_with_their_paths() -> None:
    assert list(texts_at(MESSAGE, ["content", "calls.name"])) == [
        (("content",), "c"),
        (("calls", 0, "name"), "f"),
        (("calls", 1, "name"), "g"),
    ]
    assert list(texts_at(Message(), ["content", "calls.name"])) == []


def test_a_text_may_spell_a_control_token() -> None:
    assert find(texts(Sparse), lambda text: "<far>" in text) == "<far>"


def test_a_text_of_parts_is_drawn_in_both_forms() -> None:
    drawn = texts_of_parts(Sparse, "\n")
    assert not isinstance(find(drawn, lambda text: not isinstance(text, MergedText)), MergedText)
    merged = find(drawn, lambda text: isinstance(text, MergedText) and len(text.parts) > 1 and "<far>" in text)
    assert isinstance(merged, MergedText)
    assert merged == "\n".join(merged.parts)
    assert nesting([merged]) == 3
    assert nesting(find(drawn, lambda text: isinstance(text, MergedText))) == 1  # of no parts


def test_another_role_is_any_text_but_those_with_a_class() -> None:
    drawn = other_roles(Sparse, ("", "hello"))
    assert "<far>" in find(drawn, lambda role: "<far>" in role)
    assert find(drawn, lambda role: True) not in ("", "hello")


class Part(RequestModel):
    text: str


class Parted(RequestModel):
    content: str | Items[Part]


def test_texts_of_either_kind_of_content_are_found() -> None:
    places = ["content.text", "content"]
    assert list(texts_at(Parted(content="c"), places)) == [(("content",), "c")]
    assert list(texts_at(Parted(content=(Part(text="a"),)), places)) == [(("content", 0, "text"), "a")]


@pytest.mark.parametrize("configuration", [LLAMA2, GEMMA2, GLM])
def test_a_vocabulary_that_is_not_there_gives_way_to_single_bytes(
    configuration: TokenizerConfiguration, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of bytes and of characters, with scores and with merges, as the specs declare them."""
    monkeypatch.setenv("KATAPI_CACHE", str(tmp_path))
    text = "天空 a</s><bos><|user|>"
    stand_in = with_vocabulary(GPT2, configuration, "ab" * 32)
    assert stand_in is not GPT2
    ids = stand_in.encode(text)
    assert len(ids) >= len(text.encode()) - 2, "no token is longer than a byte or a space"
    assert not {token.id for token in configuration.added_tokens if token.control} & set(ids)
    assert stand_in.decode(ids).decode() == text


def test_a_vocabulary_that_is_there_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KATAPI_CACHE", str(tmp_path))
    path = Cache(tmp_path).path("ab" * 32)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"")
    assert with_vocabulary(GPT2, LLAMA2, "ab" * 32) is GPT2
