"""Katapi: a language model's input layer, declared, compiled to typed Python, and recorded.

import katapi
model = katapi.load("qwen3")
model.assemble(b'{"messages": [{"role": "user", "content": "hi"}]}').input_ids
"""

from katapi.registry import load, load_tokenizer, models, tokenizers
from katapi.runtime.budget.context import fit_context
from katapi.runtime.budget.decision import Choice, PolicyDecision
from katapi.runtime.budget.policy import Budget
from katapi.runtime.declared_tokenizer import DeclaredTokenizer
from katapi.runtime.errors import (
    ArtifactError,
    BudgetError,
    ExtensionError,
    KatapiError,
    MediaError,
    ReplayError,
    ReplyError,
    RequestError,
    TemplateError,
    TokenizerError,
)
from katapi.runtime.model import Model
from katapi.runtime.model_input import ModelInput, RenderedInput
from katapi.runtime.origins import Origin
from katapi.runtime.record import ExecutionRecord
from katapi.runtime.segments import Content, ControlToken, Literal
from katapi.tokenizer_file import FileTokenizer, tokenizer_from_file

__all__ = [
    "ArtifactError",
    "Budget",
    "BudgetError",
    "Choice",
    "Content",
    "ControlToken",
    "DeclaredTokenizer",
    "ExecutionRecord",
    "ExtensionError",
    "FileTokenizer",
    "KatapiError",
    "Literal",
    "MediaError",
    "Model",
    "ModelInput",
    "Origin",
    "PolicyDecision",
    "RenderedInput",
    "ReplayError",
    "ReplyError",
    "RequestError",
    "TemplateError",
    "TokenizerError",
    "fit_context",
    "load",
    "load_tokenizer",
    "models",
    "tokenizer_from_file",
    "tokenizers",
]
