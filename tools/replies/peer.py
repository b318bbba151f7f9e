"""A renderer of the package `renderers`, with the model's own tokenizer."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Protocol

from katapi.artifacts.fetch import artifact_bytes
from katapi.artifacts.lock import Lock
from katapi.runtime.json_types import Json, JsonObject
from katapi.runtime.model import Model
from katapi.runtime.request_model import RequestModel
from tools.replies.said import Said, called

CONFIGS = {
    "qwen3": "Qwen3RendererConfig",
    "qwen3-vl": "Qwen3VLRendererConfig",
    "qwen3.5": "Qwen35RendererConfig",
    "deepseek-v3": "DeepSeekV3RendererConfig",
    "deepseek-r1": "DeepSeekR1RendererConfig",
    "deepseek-v4": "DeepSeekV4RendererConfig",
    "glm-4.5": "GLM45RendererConfig",
    "kimi-k2": "KimiK2RendererConfig",
    "minimax-m2": "MiniMaxM2RendererConfig",
    "gpt-oss": "GptOssRendererConfig",
    "llama3.2": "Llama3RendererConfig",
    "gemma4": "Gemma4RendererConfig",
}
"""The models that both have, each with the renderer's configuration."""
ENDS = {"kimi-k2": "[EOS]", "gemma4": "<eos>"}
"""The token that ends a text, of the models whose tokenizer.json the lock does not name."""
O200K = "openai/o200k_base.tiktoken"
"""What gpt-oss reads beside its tokenizer."""


class _Call(Protocol):
    """A call that a renderer read, or tried to."""

    raw: str
    name: str | None
    arguments: JsonObject | str | None
    status: str
    id: str | None


class _Parsed(Protocol):
    """What a renderer reads."""

    content: str
    reasoning_content: str | None
    tool_calls: list[_Call]


class _Rendered(Protocol):
    """What a renderer renders."""

    token_ids: list[int]


class _Renderer(Protocol):
    """The part of a renderer that is used."""

    def parse_response(
        self, token_ids: list[int], *, tools: list[Json] | None, prompt_ids: list[int] | None
    ) -> _Parsed: ...

    def bridge_to_next_turn(
        self,
        previous_prompt_ids: list[int],
        previous_completion_ids: list[int],
        new_messages: list[JsonObject],
        *,
        tools: list[Json] | None,
    ) -> _Rendered | None: ...

    def get_stop_token_ids(self) -> list[int]: ...


class OwnTokenizer:
    """Katapi's tokenizer of a model, as renderers takes one; for a tokenizer.json that is not to be had."""

    unk_token_id: int | None = None

    def __init__(self, model: Model[RequestModel], controls: Mapping[int, str], eos: str) -> None:
        self.name_or_path = model.name
        self._tokenizer = model.tokenizer
        self._ids = {spelling: token for token, spelling in controls.items()}
        self.eos_token_id: int | None = self._ids[eos]
        longest_first = sorted(self._ids, key=len, reverse=True)
        self._spelled = re.compile(f"({'|'.join(map(re.escape, longest_first))})")

    def encode(self, text: str, *_: object, **__: object) -> list[int]:
        """The ids of a text, in which control tokens count as they are spelled."""
        out: list[int] = []
        for piece in self._spelled.split(text):
            control = self._ids.get(piece)
            out += [control] if control is not None else self._tokenizer.encode(piece, first=False)
        return out

    def decode(self, token_ids: int | Sequence[int], *_: object, **__: object) -> str:
        """The text of ids."""
        return self._tokenizer.decode_text([token_ids] if isinstance(token_ids, int) else list(token_ids))

    def convert_tokens_to_ids(self, tokens: str | list[str]) -> int | None | list[int | None]:
        """The ids of control tokens by their spelling."""
        return self._ids.get(tokens) if isinstance(tokens, str) else [self._ids.get(token) for token in tokens]


class Peer:
    """The renderers of one model, one for each setting of its parameters."""

    def __init__(
        self, model: Model[RequestModel], head: Mapping[str, str | None], controls: Mapping[int, str], lock: Lock
    ) -> None:
        """`head` is the first line of the model's vectors. Raises ArtifactError."""
        if model.name == "gpt-oss":
            _provide_o200k(lock)
        self._config = CONFIGS[model.name]
        self._renderers: dict[str, _Renderer] = {}
        self._tokenizer = _tokenizer(model, head, controls, lock)
        self.own_tokenizer = isinstance(self._tokenizer, OwnTokenizer)
        self._beginning: tuple[int, ...] = ()
        if model.name == "gpt-oss":  # its parser takes a reply with the beginning that Katapi's prompt holds
            start = next(token for token, spelling in controls.items() if spelling == "<|start|>")
            self._beginning = (start, *model.tokenizer.encode("assistant", first=False))
        self.stops = frozenset(self._renderer({}).get_stop_token_ids())

    def parse(
        self, ids: Sequence[int], prompt_ids: Sequence[int] | None, tools: list[Json] | None, params: JsonObject
    ) -> Said:
        """What is read of a reply. May raise anything."""
        read = self._renderer(params).parse_response(
            [*self._beginning, *ids], tools=tools, prompt_ids=None if prompt_ids is None else list(prompt_ids)
        )
        good = [call for call in read.tool_calls if call.status == "ok"]
        calls = tuple(called(call.name or "", call.arguments or {}, call.id) for call in good)
        rest = "\n".join(call.raw for call in read.tool_calls if call not in good)
        return Said(read.content or "", read.reasoning_content or "", calls, rest)

    def extend(
        self,
        prompt_ids: Sequence[int],
        ids: Sequence[int],
        new: Sequence[JsonObject],
        tools: list[Json] | None,
        params: JsonObject,
    ) -> list[int] | None:
        """The next prompt, or None where the renderer has none. May raise anything."""
        found = self._renderer(params).bridge_to_next_turn(list(prompt_ids), list(ids), list(new), tools=tools)
        return None if found is None else list(found.token_ids)

    def _renderer(self, params: JsonObject) -> _Renderer:
        renderers = import_module("renderers")
        config = getattr(renderers, self._config)
        known = {name: value for name, value in params.items() if name in config.model_fields}
        key = repr(sorted(known.items()))
        found = self._renderers.get(key)
        if found is None:
            found = self._renderers[key] = renderers.create_renderer(self._tokenizer, config(**known))
        return found


def _tokenizer(
    model: Model[RequestModel], head: Mapping[str, str | None], controls: Mapping[int, str], lock: Lock
) -> object:
    """The tokenizer.json that the vectors were made with; where the lock does not name it, Katapi's own tokenizer."""
    name = next((a.name for a in lock.artifacts.values() if a.sha256 == head["tokenizer_sha256"]), None)
    if name is None:
        return OwnTokenizer(model, controls, ENDS[model.name])
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerFast

    loaded = Tokenizer.from_str(artifact_bytes(name, lock).decode())
    return PreTrainedTokenizerFast(tokenizer_object=loaded, bos_token=head["bos"], eos_token=head["eos"])


def _provide_o200k(lock: Lock) -> None:
    """A folder with the ranks that openai-harmony would otherwise get from the network."""
    folder = Path(tempfile.mkdtemp(prefix="katapi-replies-"))
    (folder / "o200k_base.tiktoken").write_bytes(artifact_bytes(O200K, lock))
    os.environ["TIKTOKEN_ENCODINGS_BASE"] = str(folder)
