"""The template path on whole conversations: what the official tokenizer makes of the text that a template printed.

No template is needed for that: an official text is cut at the spellings of control tokens, which no content of these
vectors spells, and what lies between goes through the same assembly as what a template prints.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import NotRequired, TypedDict, cast

import pytest

import katapi
from katapi.runtime.assembly import assemble_ids
from katapi.runtime.errors import ArtifactError
from katapi.runtime.printed import Printed, fixed
from katapi.runtime.segments import ControlSegment, ControlToken, Literal, LiteralSegment, Site

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared" / "vectors" / "chat"
OWN = Path(__file__).with_name("chat")

TOKENIZERS = {
    "command-r-plus": "command-r-tokens",
    "deepseek-r1": "deepseek-r1-tokens",
    "deepseek-v3": "deepseek-v3-tokens",
    "deepseek-v3.1": "deepseek-v3.1-tokens",
    "deepseek-v3.2": "deepseek-v3.2-tokens",
    "deepseek-v4": "deepseek-v4-tokens",
    "gemma2": "gemma2-tokens",
    "gemma3": "gemma3-tokens",
    "gemma4": "gemma4-tokens",
    "glm-4": "glm-4-tokens",
    "glm-4-0414": "glm-4-tokens",
    "glm-4.5": "glm-4.5-tokens",
    "glm-4.5v": "glm-4.5-tokens",
    "glm-4.6": "glm-4.5-tokens",
    "glm-4.7-flash": "glm-4.7-tokens",
    "gpt-oss": "gpt-oss-tokens",
    "granite-4": "granite-4-tokens",
    "hermes-3-llama-3.1": "llama3.1-tokens",
    "kimi-k2": "kimi-k2-tokens",
    "llama2": "llama2-tokens",
    "llama3.1": "llama3.1-tokens",
    "llama3.2": "llama3.2-tokens",
    "llama3.3": "llama3.2-tokens",
    "llama4": "llama4-tokens",
    "minimax-m2": "minimax-m2-tokens",
    "mistral-nemo-tekken": "mistral-nemo-tokens",
    "mistral-v3": "mistral-v3-tokens",
    "olmo2-dolma2": "olmo2-tokens",
    "phi-3-medium": "phi-3-tokens",
    "phi-3-mini": "phi-3-tokens",
    "phi-4": "phi-4-tokens",
    "qwen2.5": "qwen2.5-tokens",
    "qwen2.5-vl": "qwen2.5-tokens",
    "qwen3": "qwen",
    "qwen3-coder": "qwen",
    "qwen3-instruct-2507": "qwen",
    "qwen3-next-thinking": "qwen",
    "qwen3-vl": "qwen",
    "qwen3.5": "qwen3.5-tokens",
    "qwq-32b": "qwen",
    "smollm3": "smollm3-tokens",
}
"""The tokenizer of each chat model of the vectors."""
IN_SHARED = [model for model in TOKENIZERS if (SHARED / f"{model}.jsonl.gz").exists()]


class Case(TypedDict):
    """What is needed here of one line of a file of vectors."""

    id: str
    text: NotRequired[str]
    ids: NotRequired[list[int]]


def cases(path: Path) -> list[Case]:
    """The cases that there are ids for: the official template printed a text, and the tokenizer was at hand."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        header = json.loads(next(lines))
        found = [cast(Case, json.loads(line)) for line in lines]
    assert header["cases"] == len(found)
    return [case for case in found if "ids" in case]


class TemplatePath:
    """One tokenizer, and the control tokens that a template over it can place."""

    def __init__(self, name: str) -> None:
        package = f"katapi_models.{name.replace('.', '_').replace('-', '_')}"
        controls = cast(type[ControlToken], import_module(f"{package}.vocabulary").Control)
        self.tokenizer = katapi.load_tokenizer(name).tokenizer
        self.controls = {token.spelling: token for token in controls}
        longest_first = sorted(self.controls, key=len, reverse=True)
        self._spelled = re.compile(f"({'|'.join(map(re.escape, longest_first))})")

    def printed(self, text: str) -> Iterator[Printed]:
        """An official text as a template prints it: some of the literals one by one, some with control tokens."""
        for number, piece in enumerate(self._spelled.split(text)):
            token = self.controls.get(piece)
            if token is not None:
                yield fixed(ControlSegment(token, Site(1, 1)))
            elif number % 3:
                yield fixed(LiteralSegment(Literal(piece), Site(1, 1)))
            else:
                half = len(piece) // 2
                yield Literal(piece[:half]), Site(1, 1)
                yield Literal(piece[half:]), Site(1, 1)

    def ids(self, text: str) -> list[int]:
        """The ids of an official text."""
        return assemble_ids([*self.printed(text)], self.tokenizer)[0]


@cache
def template_path(model: str) -> TemplatePath:
    """Skips where the vocabulary is made in the user's cache, and its artifact is not there."""
    try:
        return TemplatePath(TOKENIZERS[model])
    except ArtifactError as error:
        if error.code != "A125":
            raise
        pytest.skip(f"{error.where} is not in the cache")


RENUMBERED = {"kimi-k2"}
"""Models whose control tokens have gaps between their ids, which `tokenizers` closes (docs/tokenizers.md)."""


@cache
def renumbered(model: str) -> dict[int, int]:
    """The ids that the vectors give the control tokens of a model, where they have others."""
    if model not in RENUMBERED:
        return {}
    controls = sorted(token.id for token in template_path(model).controls.values())
    return dict(zip(controls, range(controls[0], controls[0] + len(controls)), strict=True))


def differences(model: str, folder: Path) -> list[str]:
    """The cases that have other ids."""
    path = template_path(model)
    own = {other: token for token, other in renumbered(model).items()}
    found = cases(folder / f"{model}.jsonl.gz")
    assert found
    return [case["id"] for case in found if path.ids(case["text"]) != [own.get(i, i) for i in case["ids"]]]


@pytest.mark.parametrize("model", TOKENIZERS)
def test_the_ids_of_a_text_are_the_official_ones(model: str) -> None:
    assert differences(model, OWN) == []


@pytest.mark.skipif(not SHARED.exists(), reason="../shared/vectors is not there: only the cases in this repository")
@pytest.mark.parametrize("model", IN_SHARED)
def test_the_ids_of_every_text_are_the_official_ones(model: str) -> None:
    assert differences(model, SHARED) == []
