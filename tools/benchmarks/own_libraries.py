"""Requests beside the libraries of the models' own makers: mistral-common and openai-harmony.

The conversations are those of the Qwen3 vectors. Who would be given a conversation that it refuses, or makes something
else of it, is not timed on it. The peers' objects are made outside of the time, and so is Katapi's request.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Protocol

import katapi
from katapi.runtime.json_types import Json
from tools.benchmarks.conversations import Conversation, plain
from tools.benchmarks.tasks import Task
from tools.benchmarks.timing import Side, Work

TODAY = "2025-03-09"


class Tokenized(Protocol):
    """What mistral-common gives."""

    tokens: list[int]


class MistralTokenizer(Protocol):
    """The part of mistral-common that is measured."""

    def encode_chat_completion(self, request: object) -> Tokenized: ...


class HarmonyEncoding(Protocol):
    """The part of openai-harmony that is measured."""

    def render_conversation_for_completion(self, conversation: object, next_turn_role: object) -> list[int]: ...


def mistral_tasks() -> list[Task]:
    """Mistral NeMo. Raises ImportError.

    The official templates of the models with a vocabulary of SentencePiece put spaces where mistral-common puts none,
    so that there is no conversation on which both agree.
    """
    from mistral_common.protocol.instruct.request import ChatCompletionRequest
    from mistral_common.tokens.tokenizers.mistral import MistralTokenizer as Loader

    tokenizer: MistralTokenizer = Loader.v3(is_tekken=True)

    def from_objects(case: Conversation) -> Work:
        request = plain(case.raw)
        made = ChatCompletionRequest(messages=request.messages, tools=request.tools)
        return lambda: tokenizer.encode_chat_completion(made).tokens

    def from_bytes(case: Conversation) -> Work:
        raw = _fields(case)

        def work() -> list[int]:
            return tokenizer.encode_chat_completion(ChatCompletionRequest.model_validate_json(raw)).tokens

        return work

    objects, raw = _assembled("mistral-nemo-tekken")
    return [
        Task("Mistral NeMo", "request to ids", "mistral-common", None, objects, from_objects),
        Task("Mistral NeMo", "bytes to ids", "mistral-common", None, raw, from_bytes),
    ]


def provide_o200k(ranks: str, folder: Path) -> None:
    """Gives openai-harmony, on which gpt-oss stands in renderers too, the ranks that it would else download."""
    vocabularies = folder / "harmony"
    vocabularies.mkdir(exist_ok=True)
    shutil.copyfile(ranks, vocabularies / "o200k_base.tiktoken")
    os.environ["TIKTOKEN_ENCODINGS_BASE"] = str(vocabularies)


def harmony_tasks() -> list[Task]:
    """gpt-oss, after `provide_o200k`. Raises ImportError."""
    import openai_harmony as harmony

    encoding: HarmonyEncoding = harmony.load_harmony_encoding(harmony.HarmonyEncodingName.HARMONY_GPT_OSS)
    role = harmony.Role

    def other(case: Conversation) -> Work:
        request = plain(case.raw)
        system = harmony.SystemContent.new().with_conversation_start_date(TODAY)
        messages = [harmony.Message.from_role_and_content(role.SYSTEM, system)]
        if request.tools:
            tools = [_described(harmony.ToolDescription.new, tool) for tool in request.tools]
            developer = harmony.DeveloperContent.new().with_function_tools(tools)
            messages.append(harmony.Message.from_role_and_content(role.DEVELOPER, developer))
        for message in request.messages:
            if message["role"] == "user":
                messages.append(harmony.Message.from_role_and_content(role.USER, message["content"]))
            elif message["role"] == "assistant" and not message.get("tool_calls"):
                said = harmony.Message.from_role_and_content(role.ASSISTANT, message["content"])
                messages.append(said.with_channel("final"))
            else:
                raise ValueError("only what users and assistants say is made into harmony's objects here")
        conversation = harmony.Conversation.from_messages(messages)
        return lambda: encoding.render_conversation_for_completion(conversation, role.ASSISTANT)

    ours, _ = _assembled("gpt-oss", now=datetime.fromisoformat(TODAY).isoformat(), add_generation_prompt=True)
    return [Task("gpt-oss", "request to ids", "openai-harmony", None, ours, other)]


class _Described(Protocol):
    def __call__(self, name: Json, description: Json, parameters: Json) -> object: ...


def _described(make: _Described, tool: Mapping[str, Json]) -> object:
    function = tool["function"]
    if not isinstance(function, Mapping):
        raise ValueError("a tool is a function")
    return make(function["name"], function.get("description", ""), function.get("parameters"))


def _assembled(name: str, **params: Json) -> tuple[Side[Conversation], Side[Conversation]]:
    """Katapi from objects, and from bytes."""
    model = katapi.load(name)

    def from_objects(case: Conversation) -> Work:
        request = model.decode_request(_fields(case, **params))
        return lambda: model.assemble(request).input_ids

    def from_bytes(case: Conversation) -> Work:
        raw = _fields(case, **params)
        return lambda: model.assemble(raw).input_ids

    return from_objects, from_bytes


def _fields(case: Conversation, **params: Json) -> bytes:
    """Messages and tools alone, since parameters differ between models."""
    given = plain(case.raw)
    fields = {"messages": given.messages} | ({"tools": given.tools} if given.tools else {}) | params
    return json.dumps(fields, ensure_ascii=False).encode()
