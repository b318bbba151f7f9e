"""Requests beside compiled Jinja, transformers and renderers, which all begin with a model's official files.

The template comes from an installed package and the tokenizer.json as `katapi fetch` gets it, both known by the digests
that stand in the header of the model's vectors. Katapi and the peers are given the same clock.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from datetime import date
from typing import NamedTuple, Protocol

import katapi
from katapi.artifacts.fetch import artifact_bytes
from katapi.artifacts.lock import Lock
from katapi.runtime.json_types import Json
from tools.benchmarks.conversations import Case, Conversation, Messages, Plain, plain, read_vectors
from tools.benchmarks.tasks import Result, Task
from tools.benchmarks.timing import Side, Work
from tools.benchmarks.vocabularies import Unavailable
from tools.official_templates.places import facts, official


class HubModel(NamedTuple):
    """A model with official files."""

    title: str
    name: str
    """What `katapi.load` takes, and templates.toml."""
    renderer: str | None = None
    """The configuration of renderers for it; None where renderers has none."""
    renderer_date: str | None = None
    """What that configuration calls the day, and the form in which it takes it."""
    clock: bool = False
    """Whether its template prints the day."""
    thinking: bool = False
    """Whether it takes `enable_thinking`."""


HUB_MODELS = (
    HubModel("Qwen3", "qwen3", "Qwen3RendererConfig", thinking=True),
    HubModel("Llama 3.2", "llama3.2", "Llama3RendererConfig", "date_string:%d %b %Y", clock=True),
    HubModel("Gemma 3", "gemma3"),
    HubModel("gpt-oss", "gpt-oss", "GptOssRendererConfig", "conversation_start_date:%Y-%m-%d", clock=True),
    HubModel("DeepSeek V3", "deepseek-v3", "DeepSeekV3RendererConfig"),
    HubModel("Mistral NeMo", "mistral-nemo-tekken"),
)


class JinjaTemplate(Protocol):
    """A compiled Jinja template."""

    def render(self, **variables: object) -> str: ...


class HubTokenizer(Protocol):
    """The part of a transformers tokenizer that is measured."""

    def apply_chat_template(
        self,
        conversation: Messages,
        *,
        tools: list[dict[str, Json]] | None,
        tokenize: bool,
        return_dict: bool,
        **params: bool,
    ) -> list[int]: ...


class Renderer(Protocol):
    """The part of a `renderers` renderer that is measured."""

    def render_ids(
        self, messages: Messages, *, tools: list[dict[str, Json]] | None, add_generation_prompt: bool
    ) -> list[int]: ...


def hub_tasks(of: HubModel, lock: Lock, today: date) -> list[Task]:
    """Builds every peer of a model and pairs it with Katapi.

    Raises ImportError, NotFound where no package has the template, ArtifactError where the tokenizer.json is not to be
    had, and Unavailable where one of both is not that of the vectors.
    """
    os.environ["TRANSFORMERS_VERBOSITY"] = "error"
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerFast
    from transformers.utils.chat_template_utils import _compile_jinja_template

    vectors = read_vectors(of.name, 1)
    fact = facts()[of.name]
    text_of_template = official(fact, None)
    file = next((a.name for a in lock.artifacts.values() if a.sha256 == vectors.tokenizer_sha256), None)
    if file is None or text_of_template.sha256 != vectors.template_sha256:
        raise Unavailable(f"the official files of {of.title} are not those of its vectors")
    hub = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(artifact_bytes(file, lock).decode()),
        bos_token=fact.bos,
        eos_token=fact.eos,
        chat_template=text_of_template.text,
    )
    tokenizer: HubTokenizer = hub
    template: JinjaTemplate = _compile_jinja_template(text_of_template.text)
    special: dict[str, str] = hub.special_tokens_map

    def params(case: Conversation) -> dict[str, bool]:
        return {name: value for name, value in case.params.items() if of.thinking or name != "enable_thinking"}

    def jinja(case: Conversation, request: Plain) -> str:
        return template.render(messages=request.messages, tools=request.tools, **special, **params(case))

    def transformers_ids(case: Conversation, request: Plain) -> list[int]:
        return tokenizer.apply_chat_template(
            request.messages, tools=request.tools, tokenize=True, return_dict=False, **params(case)
        )

    text, ids = _katapi(of, today, params)
    tasks = [
        _Made("text", "compiled Jinja", jinja, text),
        _Made("ids", "transformers", transformers_ids, ids),
    ]
    if of.renderer is not None:
        tasks.append(_Made("ids", "renderers", _renderers(of, hub, today), ids))
    return [task for made in tasks for task in made.tasks(of)]


class _Sides(NamedTuple):
    """What Katapi does, from objects and from bytes."""

    objects: Side[Conversation]
    raw: Side[Conversation]


class _Made(NamedTuple):
    """What a peer makes of a request, and Katapi beside it."""

    result: str
    peer: str
    make: Callable[[Conversation, Plain], Result]
    katapi: _Sides

    def tasks(self, of: HubModel) -> list[Task]:
        """From objects, and from bytes."""

        def from_bytes(case: Conversation) -> Work:
            return lambda: self.make(case, plain(case.raw))

        def from_objects(case: Conversation) -> Work:
            request = plain(case.raw)
            return lambda: self.make(case, request)

        expected: Callable[[Case], Result] | None = None
        if of.name == "qwen3":  # the conversations are those of its vectors
            expected = _text if self.result == "text" else _ids
        return [
            Task(of.title, f"request to {self.result}", self.peer, expected, self.katapi.objects, from_objects),
            Task(of.title, f"bytes to {self.result}", self.peer, expected, self.katapi.raw, from_bytes),
        ]


def _text(case: Case) -> str:
    return case.text


def _ids(case: Case) -> list[int]:
    return case.ids


def _katapi(of: HubModel, today: date, params: Callable[[Conversation], Mapping[str, bool]]) -> tuple[_Sides, _Sides]:
    """Text and ids. What a peer is given beside its request stands in Katapi's request; it is put there beforehand."""
    model = katapi.load(of.name)

    def given(case: Conversation) -> bytes:
        request = plain(case.raw)
        fields: dict[str, Json] = {"messages": [*request.messages], **params(case)}
        if request.tools:
            fields["tools"] = [*request.tools]
        if of.clock:
            fields["now"] = today.isoformat()
        return json.dumps(fields, ensure_ascii=False).encode()

    def rendered(case: Conversation) -> Work:
        request = model.decode_request(given(case))
        return lambda: model.render(request).text

    def rendered_from_bytes(case: Conversation) -> Work:
        raw = given(case)
        return lambda: model.render(raw).text

    def assembled(case: Conversation) -> Work:
        request = model.decode_request(given(case))
        return lambda: model.assemble(request).input_ids

    def assembled_from_bytes(case: Conversation) -> Work:
        raw = given(case)
        return lambda: model.assemble(raw).input_ids

    return _Sides(rendered, rendered_from_bytes), _Sides(assembled, assembled_from_bytes)


def _renderers(of: HubModel, tokenizer: object, today: date) -> Callable[[Conversation, Plain], Result]:
    import renderers

    config = getattr(renderers, of.renderer or "")
    fixed: dict[str, object] = {}
    if of.renderer_date is not None:
        name, _, form = of.renderer_date.partition(":")
        fixed[name] = today.strftime(form)
    by_thinking: dict[bool, Renderer] = {
        thinking: renderers.create_renderer(
            tokenizer, config(**fixed, **({"enable_thinking": thinking} if of.thinking else {}))
        )
        for thinking in (False, True)
    }

    def ids(case: Conversation, request: Plain) -> list[int]:
        renderer = by_thinking[case.params.get("enable_thinking", True)]
        prompt = case.params["add_generation_prompt"]
        return renderer.render_ids(request.messages, tools=request.tools, add_generation_prompt=prompt)

    return ids
