"""A process of its own: the first ids of a request, from one implementation.

usage: python -m tools.benchmarks.first_request PEER GIVEN.json

Nothing is imported here that the peer does not need. The result is a line of JSON.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Protocol

Given = Mapping[str, str]
"""What a peer starts from: `katapi` the model, `raw` the request, paths and tokens of official files, `day` a date."""


class _HubTokenizer(Protocol):
    """The part of a transformers tokenizer that is used."""

    def apply_chat_template(
        self, conversation: list[dict[str, str]], *, tokenize: bool, return_dict: bool, add_generation_prompt: bool
    ) -> list[int]: ...


def _katapi(given: Given) -> Iterable[int]:
    import katapi

    ids: list[int] = katapi.load(given["katapi"]).assemble(given["raw"].encode()).input_ids.tolist()
    return ids


def _transformers(given: Given) -> Iterable[int]:
    request = json.loads(given["raw"])
    prompt = bool(request["add_generation_prompt"])
    return _hub(given).apply_chat_template(
        request["messages"], tokenize=True, return_dict=False, add_generation_prompt=prompt
    )


def _renderers(given: Given) -> Iterable[int]:
    import renderers

    request = json.loads(given["raw"])
    renderer = renderers.create_renderer(_hub(given), getattr(renderers, given["renderer"])())
    ids: list[int] = renderer.render_ids(
        request["messages"], tools=None, add_generation_prompt=request["add_generation_prompt"]
    )
    return ids


def _hub(given: Given) -> _HubTokenizer:
    from transformers import PreTrainedTokenizerFast

    hub: _HubTokenizer = PreTrainedTokenizerFast(
        tokenizer_file=given["tokenizer_json"],
        bos_token=given["bos"] or None,
        eos_token=given["eos"],
        chat_template=Path(given["template"]).read_text("utf-8"),
    )
    return hub


def _mistral_common(given: Given) -> Iterable[int]:
    from mistral_common.protocol.instruct.request import ChatCompletionRequest
    from mistral_common.tokens.tokenizers.mistral import MistralTokenizer

    messages = json.loads(given["raw"])["messages"]
    ids: list[int] = (
        MistralTokenizer.v3(is_tekken=True).encode_chat_completion(ChatCompletionRequest(messages=messages)).tokens
    )
    return ids


def _openai_harmony(given: Given) -> Iterable[int]:
    import openai_harmony as harmony

    encoding = harmony.load_harmony_encoding(harmony.HarmonyEncodingName.HARMONY_GPT_OSS)
    role = harmony.Role
    system = harmony.SystemContent.new().with_conversation_start_date(given["day"])
    said = json.loads(given["raw"])["messages"][0]["content"]
    conversation = harmony.Conversation.from_messages(
        [
            harmony.Message.from_role_and_content(role.SYSTEM, system),
            harmony.Message.from_role_and_content(role.USER, said),
        ]
    )
    ids: list[int] = encoding.render_conversation_for_completion(conversation, role.ASSISTANT)
    return ids


PEERS: Mapping[str, Callable[[Given], Iterable[int]]] = {
    "Katapi": _katapi,
    "transformers": _transformers,
    "renderers": _renderers,
    "mistral-common": _mistral_common,
    "openai-harmony": _openai_harmony,
}


def main() -> None:
    """Reads the command line."""
    peer, file = sys.argv[1:]
    ids = [*PEERS[peer](json.loads(Path(file).read_text(encoding="utf-8")))]
    seconds = time.process_time()
    print(json.dumps({"ids": ids, "seconds": seconds}), flush=True)


if __name__ == "__main__":
    main()
