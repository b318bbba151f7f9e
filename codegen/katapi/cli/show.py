"""What the command line shows on a terminal: models in a table, tokens in the colours of their origin."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import chain, repeat
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from katapi.cli.terminal import print_table, visible
from katapi.engines import EngineReport, engine
from katapi.inspecting.kinds import LOOKS, SAMPLED
from katapi.runtime.budget.policy import Budget, CutLeft, Percent, Section, Share, Structure
from katapi.runtime.declared_tokenizer import DeclaredTokenizer
from katapi.runtime.errors import ArtifactError
from katapi.runtime.model import Model
from katapi.runtime.origins import Kind, kind_of
from katapi.runtime.request_shape import roles_of, spellings

if TYPE_CHECKING:
    from katapi.runtime.images.pipeline import ImagePipeline
    from katapi.runtime.model_input import ModelInput, RenderedInput
    from katapi.runtime.request_model import RequestModel


def model_table(models: Sequence[DeclaredTokenizer]) -> None:
    """A row for each model or tokenizer."""
    table = Table(box=None, pad_edge=False, expand=False)
    for heading in ("model", "template", "tokenizer", "ids", "engine", "spec"):
        table.add_column(heading, no_wrap=True)
    for model in models:
        template = model.template.id if isinstance(model, Model) else ""
        runs = _engine(model)
        form = "" if runs is None else runs.form
        table.add_row(model.name, template, model.tokenizer_identity.id, _size(model), form, model.source)
    print_table(table)


def image_table(pipelines: Sequence[ImagePipeline]) -> None:
    """A row for each image pipeline."""
    table = Table(box=None, pad_edge=False, expand=False)
    for heading in ("image", "version", "ways", "formats"):
        table.add_column(heading, no_wrap=True)
    for one in pipelines:
        table.add_row(one.name, one.version, ", ".join(one.ways), ", ".join(one.reading.accept))
    print_table(table)


def image_details(pipeline: ImagePipeline) -> None:
    """All that an image pipeline declares of files, and how pixels become numbers."""
    limits = pipeline.reading.limits
    frames = "" if limits.frames is None else f", {limits.frames} frames"
    rows = [
        ("image", f"{pipeline.name}@{pipeline.version}  {pipeline.digest}"),
        ("formats", ", ".join(pipeline.reading.accept)),
        ("limits", f"{limits.bytes} bytes, {limits.pixels} pixels{frames}"),
        ("frames", pipeline.reading.frames),
        ("media type", pipeline.reading.media_type),
        *((f"way {name}", json.dumps(way.to_json())) for name, way in pipeline.ways.items()),
        ("numbers", json.dumps(pipeline.numbers.to_json())),
    ]
    table = Table(box=None, pad_edge=False, expand=False, show_header=False)
    for row in rows:
        table.add_row(*row)
    print_table(table)


def _size(model: DeclaredTokenizer) -> str:
    """How many ids there are, or what to do where the vocabulary has not been fetched."""
    try:
        return str(model.tokenizer.vocabulary_size)
    except ArtifactError as error:
        return error.help or error.message


def _engine(model: DeclaredTokenizer) -> EngineReport | None:
    """What runs; None where the vocabulary has not been fetched."""
    try:
        return engine(model)
    except ArtifactError:
        return None


def model_row(model: DeclaredTokenizer) -> dict[str, object]:
    """The row of a model or tokenizer as plain data; what only a vocabulary tells is null where there is none."""
    runs = _engine(model)
    return {
        "model": model.name,
        "template": model.template.id if isinstance(model, Model) else None,
        "tokenizer": model.tokenizer_identity.id,
        "ids": None if runs is None else model.tokenizer.vocabulary_size,
        "engine": None if runs is None else runs.to_json(),
        "spec": model.source,
    }


def model_details(model: DeclaredTokenizer) -> None:
    """All that a model or a tokenizer declares."""
    rows = [
        ("model", model.name),
        ("spec", model.source),
        ("tokenizer", f"{model.tokenizer_identity.id}  {model.tokenizer_identity.digest}"),
        ("ids", _size(model)),
        *_engine_rows(model),
    ]
    if isinstance(model, Model):
        rows += [
            ("template", f"{model.template.id}  {model.template.digest}"),
            ("invalid UTF-8", model.invalid_utf8),
            ("depth", str(model.max_depth)),
        ]
        for name, budget in model.budgets.items():
            rows += zip(chain([f"budget {name}"], repeat("")), _said(budget), strict=False)
        rows += [(f"role {role}", ", ".join(fields)) for role, fields in roles_of(model.request_type).items()]
        for (name, field), spelled in zip(
            model.request_type.model_fields.items(), spellings(model.request_type), strict=True
        ):
            default = "required" if field.is_required() else f"default {json.dumps(field.default)}"
            rows.append((f"key {name}", ", ".join([default, *(f"also {other}" for other in spelled[1:])])))
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        print(visible(f"{name:{width}}  {value}"))


def _engine_rows(model: DeclaredTokenizer) -> list[tuple[str, str]]:
    """Which form runs and why."""
    runs = _engine(model)
    if runs is None:
        return []
    rows = [("engine", f"{runs.form}: {runs.reason}")]
    if runs.modules:
        rows.append(("compiled", f"{', '.join(runs.modules)}, by mypyc {runs.mypyc}"))
    return rows


def _said(budget: Budget) -> list[str]:
    """What a budget says: its numbers, a line for each section of which something can be left out, and what it cuts."""
    lines = [f"window {budget.window}, reserve {budget.reserve}"]
    for number, one in enumerate(budget.optional, start=1):
        parts = [one.order.value, *([one.grouping.value] if one.section is Section.HISTORY else []), one.misfit.value]
        parts += [f"at least {_amount(one.at_least)}"] if one.at_least is not None else []
        parts += [f"at most {_amount(one.at_most)}"] if one.at_most is not None else []
        lines.append(f"{number}. {one.section.value}: {', '.join(parts)}")
    if isinstance(budget.overflow, CutLeft):
        lines.append(", ".join(["cut left", *(f"breaks {s.value}" for s in Structure if s in budget.overflow.breaks)]))
    return lines


def _amount(share: Share) -> str:
    return f"{share.count} {'percent' if isinstance(share, Percent) else 'tokens'}"


def colored_segments(rendered: RenderedInput) -> None:
    """The rendered string, each segment in the colour of its kind."""
    out = Text()
    sampled = _flags(len(rendered.payload), rendered.sampled)
    for segment, by_model in zip(rendered.payload, sampled, strict=True):
        out.append(visible(segment.text), _style(kind_of(segment), by_model))
    console = Console(highlight=False, soft_wrap=True)
    console.print(out, end="")
    _legend(console)


def _flags(count: int, ranges: Sequence[tuple[int, int]]) -> list[bool]:
    flags = [False] * count
    for start, end in ranges:
        flags[start:end] = [True] * (end - start)
    return flags


def _style(kind: Kind, by_model: bool) -> str:
    """The style of a kind; that of sampled tokens besides."""
    return f"{LOOKS[kind].style} {SAMPLED.style}" if by_model else LOOKS[kind].style


def colored_tokens(model: Model[RequestModel], result: ModelInput) -> None:
    """The input token by token; neighbours of one colour alternate in brightness, so that tokens can be told apart."""
    out = Text()
    decoder = model.decoder()
    pending = b""
    for number, (token, origin, by_model) in enumerate(
        zip(result.input_ids.tolist(), result.origins, result.sampled.tolist(), strict=True)
    ):
        pending += decoder.push(token)
        try:
            text = pending.decode()
        except UnicodeDecodeError:
            continue
        pending = b""
        dim = " dim" if number % 2 and origin.kind != "control" else ""
        out.append(visible(text), _style(origin.kind, by_model) + dim)
    console = Console(highlight=False, soft_wrap=True)
    console.print(out)
    sampled = int(result.sampled.sum())
    console.print(f"{len(result)} tokens, {sampled} of them sampled; template {result.rendered.template_id}")
    _legend(console)


def _legend(console: Console) -> None:
    console.print()
    for kind, look in LOOKS.items():
        if kind != "unknown":  # what was rendered here has its origin
            console.print(Text(f"{kind:8}", look.style), look.words)
    console.print(Text("underlined", SAMPLED.style), SAMPLED.words)
