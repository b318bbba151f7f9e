"""The generated tokenizer of Qwen3, and what its peers are built from: artifact, pattern, control tokens."""

from __future__ import annotations

from pathlib import Path

import pytest

from katapi.artifacts.fetch import artifact_bytes
from katapi.artifacts.lock import read_lock
from katapi.runtime.artifacts.tiktoken import read_tiktoken
from katapi.runtime.patterns.matcher import compile_pattern
from katapi.runtime.tokenization.configuration import Behaviour
from katapi.runtime.tokenization.interface import Tokenizer
from katapi.runtime.tokenization.pretokenizers import Split
from katapi_models.qwen.tokenizer import tokenizer

QWEN_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN_CONTROL = (
    "<|endoftext|> <|im_start|> <|im_end|> <|object_ref_start|> <|object_ref_end|> <|box_start|> <|box_end|> "
    "<|quad_start|> <|quad_end|> <|vision_start|> <|vision_end|> <|vision_pad|> <|image_pad|> <|video_pad|> "
    "<tool_call> </tool_call> <|fim_prefix|> <|fim_middle|> <|fim_suffix|> <|fim_pad|> <|repo_name|> <|file_sep|> "
    "<tool_response> </tool_response> <think> </think>"
)


class DeclaredSplit(Split):
    """A split by a declared pattern."""

    def __init__(self, declared: str) -> None:
        super().__init__(compile_pattern(declared, unicode="16.0"), Behaviour.ISOLATED)


@pytest.fixture(scope="session")
def declared_split() -> type[DeclaredSplit]:
    """`Split` from a declared pattern."""
    return DeclaredSplit


@pytest.fixture(scope="session")
def qwen_tokens() -> list[bytes]:
    """The 151,643 tokens of Qwen's artifact by id."""
    lock = read_lock(Path(__file__).parents[2] / "spec" / "artifacts.lock")
    return read_tiktoken(artifact_bytes("qwen/qwen.tiktoken", lock), where="qwen.tiktoken")


@pytest.fixture(scope="session")
def qwen_ranks(qwen_tokens: list[bytes]) -> dict[bytes, int]:
    """The id of each token of the artifact."""
    return {token: rank for rank, token in enumerate(qwen_tokens)}


@pytest.fixture(scope="session")
def qwen_control(qwen_tokens: list[bytes]) -> dict[int, str]:
    """The spelling of each control token; their ids follow those of the artifact."""
    return dict(enumerate(QWEN_CONTROL.split(), start=len(qwen_tokens)))


@pytest.fixture(scope="session")
def qwen_pattern() -> str:
    """The pre-tokenizer pattern of Qwen2 and Qwen3."""
    return QWEN_PATTERN


@pytest.fixture(scope="session")
def qwen() -> Tokenizer:
    """The generated tokenizer of Qwen3."""
    return tokenizer()
