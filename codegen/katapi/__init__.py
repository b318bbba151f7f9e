"""Katapi: a language model's input layer, declared, compiled to typed Python, and recorded.

import katapi
model = katapi.load("qwen3")
model.assemble(b'{"messages": [{"role": "user", "content": "hi"}]}').input_ids
"""

from typing import TYPE_CHECKING

from katapi.registry import (
    audio_pipeline,
    audio_pipelines,
    image_pipeline,
    image_pipelines,
    load,
    load_tokenizer,
    models,
    tokenizers,
    video_pipeline,
    video_pipelines,
)
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

if TYPE_CHECKING:
    from katapi import foreign as foreign
    from katapi.divergence.compare import Diff, diff
    from katapi.engines import EngineReport, engine
    from katapi.packs.pack import Pack
    from katapi.packs.reading import read_pack
    from katapi.packs.replay import Replay, replay
    from katapi.packs.writing import pack_bytes, pack_of
    from katapi.runtime.budget.context import fit_context
    from katapi.runtime.execution import Execution, execute
    from katapi.runtime.images.frames import Frames
    from katapi.runtime.images.given import Images
    from katapi.runtime.tensors.batch import Batch, Padding, batch
    from katapi.runtime.tensors.embedding import check_embedding
    from katapi.runtime.tensors.mrope import VISION_LAYOUTS, VisionLayout, mrope_positions
    from katapi.runtime.tensors.packed import PackedBatch, pack, pack_rows
    from katapi.runtime.tensors.samples import Sample
else:
    from katapi.runtime.late import late

    # What few processes need is imported when it is first asked for; it would count in the first token.
    __getattr__ = late(
        __name__,
        {
            "katapi.runtime.budget.context": ("fit_context",),
            "katapi.runtime.execution": ("Execution", "execute"),
            "katapi.runtime.images.frames": ("Frames",),
            "katapi.runtime.images.given": ("Images",),
            "katapi.divergence.compare": ("Diff", "diff"),
            "katapi.engines": ("EngineReport", "engine"),
            "katapi.packs.pack": ("Pack",),
            "katapi.packs.reading": ("read_pack",),
            "katapi.packs.replay": ("Replay", "replay"),
            "katapi.packs.writing": ("pack_bytes", "pack_of"),
            "katapi.runtime.tensors.batch": ("Batch", "Padding", "batch"),
            "katapi.runtime.tensors.embedding": ("check_embedding",),
            "katapi.runtime.tensors.mrope": ("VISION_LAYOUTS", "VisionLayout", "mrope_positions"),
            "katapi.runtime.tensors.packed": ("PackedBatch", "pack", "pack_rows"),
            "katapi.runtime.tensors.samples": ("Sample",),
        },
        submodules=("foreign",),
    )

__all__ = [
    "VISION_LAYOUTS",
    "ArtifactError",
    "Batch",
    "Budget",
    "BudgetError",
    "Choice",
    "Content",
    "ControlToken",
    "DeclaredTokenizer",
    "Diff",
    "EngineReport",
    "Execution",
    "ExecutionRecord",
    "ExtensionError",
    "FileTokenizer",
    "Frames",
    "Images",
    "KatapiError",
    "Literal",
    "MediaError",
    "Model",
    "ModelInput",
    "Origin",
    "Pack",
    "PackedBatch",
    "Padding",
    "PolicyDecision",
    "RenderedInput",
    "Replay",
    "ReplayError",
    "ReplyError",
    "RequestError",
    "Sample",
    "TemplateError",
    "TokenizerError",
    "VisionLayout",
    "audio_pipeline",
    "audio_pipelines",
    "batch",
    "check_embedding",
    "diff",
    "engine",
    "execute",
    "fit_context",
    "image_pipeline",
    "image_pipelines",
    "load",
    "load_tokenizer",
    "models",
    "mrope_positions",
    "pack",
    "pack_bytes",
    "pack_of",
    "pack_rows",
    "read_pack",
    "replay",
    "tokenizer_from_file",
    "tokenizers",
    "video_pipeline",
    "video_pipelines",
]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
