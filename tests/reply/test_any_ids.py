"""Replies of any ids: none makes the parser fail or slow, and what is given while they arrive is what is given at last.

The ids are drawn from control tokens, tokens of any text (characters that break off among them), and pieces of what the
template prints for replies.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cache
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DataObject, SearchStrategy

import katapi
from katapi.runtime.errors import KatapiError, TokenizerError
from katapi.runtime.json_types import Json
from katapi.runtime.model import Model
from katapi.runtime.model_input import ModelInput
from katapi.runtime.reply.message import AssistantMessage, Delta
from katapi.runtime.reply.parser import ReplyParser
from katapi.runtime.request_model import RequestModel
from katapi.runtime.segments import ControlSegment
from tests.examples import examples
from tests.vectors.test_chat_models import MODELS, OWN, cases, has_tokenizer

TEXTS = """{"name": "f", "arguments": {"a": [1, {"b": "\\u00e9}"}]}}
{ } " \\ < > </ <tool_call> </think> [TOOL_CALLS] functions.f:0 call:f{a:1} ```json 天空 👩‍👩‍👧 True -1""".split()
TEXTS += ["\n", "\n\n", "  ", " a", '{"a": 1}', "```json\n"]
"""Texts in the manner of replies."""
CASES = 12
"""From how many of the vectors of a model pieces are taken."""

pytestmark = pytest.mark.parametrize("name", MODELS)


class Material:
    """What the replies of a model are made of."""

    def __init__(self, model: Model[RequestModel]) -> None:
        self.model = model
        self.prompts: list[ModelInput | None] = [None]
        self.printed: list[list[int]] = []
        for raw, _ in islice(cases(OWN / f"{model.name}.jsonl.gz"), CASES):
            try:
                found = model.assemble(raw)
            except KatapiError:
                continue
            self._take(found)
            if getattr(found.request, "add_generation_prompt", True):
                self.prompts.append(found)
        self.controls = sorted(self._controls)
        tokenizer = model.tokenizer
        self._texts = [ids for text in TEXTS if (ids := list(tokenizer.encode(text, first=False)))]
        self._texts += [[token] for text in TEXTS for token in tokenizer.encode(text, first=False)]

    def _take(self, found: ModelInput) -> None:
        """The ids of what is sampled, and all control tokens of the vocabulary."""
        marked = found.sampled.tolist()
        ids = found.input_ids.tolist()
        start = 0
        for at in range(len(ids) + 1):
            if at == len(ids) or not marked[at]:
                if start < at:
                    self.printed.append(ids[start:at])
                start = at + 1
        segments = found.rendered.payload
        self._controls = {
            token.id for one in segments if isinstance(one, ControlSegment) for token in type(one.token)
        } or getattr(self, "_controls", set())

    def ids(self) -> SearchStrategy[list[int]]:
        """The ids of a reply."""
        tokenizer = self.model.tokenizer
        known = st.integers(0, tokenizer.vocabulary_size - 1).filter(self._is_known).map(lambda token: [token])
        parts = [st.sampled_from(self._texts), known]
        used = sorted({token for ids in self.printed for token in ids} & set(self.controls))
        parts += [st.sampled_from(some).map(lambda token: [token]) for some in (used, self.controls) if some]
        if self.printed:
            parts.append(st.sampled_from(self.printed))
            parts.append(st.sampled_from(self.printed).flatmap(_pieces))
        return st.lists(st.one_of(parts), max_size=8).map(lambda drawn: [token for ids in drawn for token in ids])

    def _is_known(self, token: int) -> bool:
        try:
            self.model.decode([token])
        except TokenizerError:
            return False
        return True


def _pieces(ids: list[int]) -> SearchStrategy[list[int]]:
    ends = st.integers(0, len(ids))
    return st.tuples(ends, ends).map(lambda pair: ids[min(pair) : max(pair)])


@cache
def material(name: str) -> Material:
    """What the replies of a model are made of; skips where its vocabulary or its replies are not to be had."""
    model = katapi.load(name)
    if not has_tokenizer(model):
        pytest.skip("its vocabulary is not in the cache")
    try:
        model.parse([])
    except KatapiError as error:
        assert error.code == "P110"  # noqa: PT017  # the code is what is looked at
        pytest.skip("its spec does not say how a reply is read")
    return Material(model)


def streamed(parser: ReplyParser, ids: list[int]) -> tuple[Delta, AssistantMessage]:
    """All that is given while ids arrive, and the message at last."""
    given_ = Delta()
    for token in ids:
        new = parser.push(token)
        given_ = Delta(
            given_.content + new.content, given_.reasoning + new.reasoning, given_.tool_calls + new.tool_calls
        )
    return given_, parser.finish()


@examples(test=20, fuzz=1_000)
@given(data=st.data())
def test_what_is_given_while_ids_arrive_is_what_is_given_at_last(name: str, data: DataObject) -> None:
    found = material(name)
    prompt = data.draw(st.sampled_from(found.prompts))
    ids = data.draw(found.ids())
    given_, message = streamed(found.model.parser(prompt), ids)
    assert message.content.startswith(given_.content)
    assert (message.reasoning or "").startswith(given_.reasoning)
    assert message.tool_calls[: len(given_.tool_calls)] == given_.tool_calls


@examples(test=20, fuzz=1_000)
@given(data=st.data())
def test_one_by_one_ids_say_the_same_as_all_at_once(name: str, data: DataObject) -> None:
    found = material(name)
    prompt = data.draw(st.sampled_from(found.prompts[1:] or found.prompts))
    ids = data.draw(found.ids())
    whole = found.model.parser(prompt)
    whole.feed(ids)
    message = whole.finish()
    assert streamed(found.model.parser(prompt), ids)[1] == message
    if prompt is not None:
        assert found.model.parse(ids, prompt) == message


@examples(test=20, fuzz=1_000)
@given(data=st.data())
def test_the_message_is_one_of_a_request(name: str, data: DataObject) -> None:
    found = material(name)
    message = found.model.parse(data.draw(found.ids())).message
    assert message["role"] == "assistant"
    assert _is_json(message)


def _is_json(value: Json) -> bool:
    """Whether a value is JSON without lone surrogates."""
    match value:
        case str():
            return not any("\ud800" <= symbol <= "\udfff" for symbol in value)
        case list() | tuple():
            return all(map(_is_json, value))
        case dict():
            return all(_is_json(key) and _is_json(part) for key, part in value.items())
        case _:
            return value is None or isinstance(value, bool | int | float)


def test_an_unknown_id_is_a_typed_error(name: str) -> None:
    model = material(name).model
    with pytest.raises(TokenizerError, match="V102") as caught:
        model.parse([model.tokenizer.vocabulary_size + 10**6])
    assert caught.value.code == "V102"


@pytest.mark.parametrize("kind", ["text", "braces", "controls", "lines", "printed"])
def test_the_time_is_linear_in_the_ids(name: str, kind: str) -> None:
    found = material(name)
    encode = found.model.tokenizer.encode
    ids: Sequence[int] = {
        "text": encode("a b ", first=False),
        "braces": encode('{"a": [', first=False),
        "controls": found.controls,
        "lines": encode("\nx\n", first=False),
        "printed": [token for reply in found.printed for token in reply],
    }[kind]
    if not ids:
        pytest.skip("the vocabulary has none")
    short = _seconds(found.model, _repeated(ids, 500))
    long = _seconds(found.model, _repeated(ids, 4000))
    assert long < 0.5 or long < 40 * short, (short, long)


def _repeated(ids: Sequence[int], length: int) -> list[int]:
    return (list(ids) * (length // len(ids) + 1))[:length]


def _seconds(model: Model[RequestModel], ids: list[int]) -> float:
    """The least of three, since a machine does other things as well."""
    taken: list[float] = []
    for _ in range(3):
        parser = model.parser()
        began = time.process_time()
        parser.feed(ids)
        parser.finish()
        taken.append(time.process_time() - began)
    return min(taken)
