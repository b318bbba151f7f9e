"""`katapi.foreign.of_transformers` with tokenizers of an installed transformers: the fixture, and faults in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import katapi
from katapi.foreign import ChatTokenizer, of_folder, of_transformers
from katapi.packs.replay import FIXTURE
from katapi.runtime.stages import Failure, Stage

transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")
pytestmark = pytest.mark.networks

BOOK = katapi.load("book")
PROMPT = BOOK.assemble(FIXTURE.encode())
TEMPLATE = (
    "<bos>{% for m in messages %}<{{ m.role }}>{{ m.content }}</{{ m.role }}>{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)
CONTROLS = ["<pad>", "<bos>", "<system>", "</system>", "<user>", "</user>", "<assistant>"]
WORDS = ["简洁回答", "天空", "为什么", "是", "蓝色", "？"]


def tokenizer_with(template: str = TEMPLATE, words: list[str] = WORDS) -> ChatTokenizer:
    """The tokenizer of the fixture: each word is one piece of the text, cut by a pattern."""
    vocabulary = {word: id for id, word in enumerate([*CONTROLS, *words, "<unk>"])}
    inner = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="<unk>"))
    inner.pre_tokenizer = tokenizers.pre_tokenizers.Split(tokenizers.Regex("|".join(WORDS)), "isolated")
    made = transformers.PreTrainedTokenizerFast(tokenizer_object=inner, unk_token="<unk>", pad_token="<pad>")
    made.add_special_tokens({"additional_special_tokens": CONTROLS[1:]})
    made.chat_template = template
    tokenizer: ChatTokenizer = made
    return tokenizer


def parted(of: ChatTokenizer) -> katapi.Diff:
    request = json.loads(FIXTURE)
    return katapi.diff(PROMPT, of_transformers(of, request["messages"], add_generation_prompt=True, model="book"))


def test_transformers_does_what_the_chapter_says() -> None:
    found = parted(tokenizer_with())
    assert found.same
    assert [each.stage for each in found.stages if each.same.value == "same"] == [
        Stage.RENDERED,
        Stage.IDS,
        Stage.TENSORS,
    ]


def test_a_line_end_of_the_template() -> None:
    found = parted(tokenizer_with(TEMPLATE.replace("{% endfor %}", "\n{% endfor %}")))
    assert found.between == (None, Stage.RENDERED)
    assert found.failure is None, "another request would have been printed otherwise as well"
    assert Failure.TEMPLATE_VERSION in found.possible


def test_another_vocabulary() -> None:
    found = parted(tokenizer_with(words=WORDS[::-1]))
    assert found.between == (Stage.RENDERED, Stage.IDS)
    assert found.failure is Failure.VOCABULARY


def test_a_template_that_refuses_the_request() -> None:
    found = parted(tokenizer_with("{{ raise_exception('no system') }}"))
    assert found.first is not None
    assert found.first.difference is not None
    assert (found.first.stage, found.first.difference.second) == (Stage.RENDERED, "TemplateError: no system")


def test_a_request_goes_to_the_tokenizer_in_a_folder(tmp_path: Path) -> None:
    tokenizer_with().save_pretrained(str(tmp_path))  # type: ignore[attr-defined]  # it is a tokenizer of transformers
    assert katapi.diff(PROMPT, of_folder(tmp_path, FIXTURE.encode(), model="book")).same
    with pytest.raises(katapi.ReplayError, match="transformers ended with "):
        of_folder(tmp_path, b'{"messages": [], "return_dict": 1}')
    (tmp_path / "tokenizer.json").write_text("{")
    with pytest.raises(katapi.ReplayError, match="transformers ended with "):
        of_folder(tmp_path, FIXTURE.encode())
