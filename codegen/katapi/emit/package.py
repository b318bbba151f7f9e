"""Emits the `__init__.py` of a generated model, and that of the package that holds all of them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from katapi.check.traverse import all_statements
from katapi.derive.reach import UnboundedReach
from katapi.derive.reply_forms import NotInvertible
from katapi.derive.starts import starts_of
from katapi.emit.budgets import model_budgets
from katapi.emit.environment import render
from katapi.emit.images import image_constants
from katapi.emit.names import lender
from katapi.emit.python import Lines, call, imports, string
from katapi.emit.values import Values
from katapi.language.syntax_types import MediaKind
from katapi.model import template as t
from katapi.model.program import Library, Program, TokenizerProgram, images_of
from katapi.model.sites import cited
from katapi.runtime.record import TokenizerParts


@dataclass(frozen=True, slots=True)
class PipelineRow:
    """The constant of an image pipeline, and the dotted name of its package."""

    name: str
    package: str


@dataclass(frozen=True, slots=True)
class ModelContext:
    """What `model.py.j2` shows."""

    name: str
    name_literal: str
    source: str
    source_literal: str
    imports: list[str]
    template_id: str
    template_digest: str
    request_id: str
    request_digest: str
    tokenizer_id: str
    tokenizer_digest: str
    parts: str
    invalid_utf8: str
    depth: int
    budgets: str
    starts: str
    package: str
    unreadable: str | None
    unbounded: str | None
    pipeline: PipelineRow | None
    video: PipelineRow | None
    shown: str | None


@dataclass(frozen=True, slots=True)
class DeclaredTokenizerContext:
    """What `declared_tokenizer.py.j2` shows."""

    name: str
    name_literal: str
    source: str
    source_literal: str
    imports: list[str]
    tokenizer_id: str
    tokenizer_digest: str
    parts: str


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A model's name and its sub-package, as Python literals."""

    name: str
    package: str


@dataclass(frozen=True, slots=True)
class ModelsContext:
    """What `models.py.j2` shows."""

    models: list[ModelRow]
    tokenizers: list[ModelRow]
    images: list[ModelRow]
    videos: list[ModelRow]
    audio: list[ModelRow]


def digest(text: str) -> str:
    """The sha256 of a text, marked as such."""
    return "sha256:" + hashlib.sha256(text.encode("utf-8")).hexdigest()


def emit_model(
    program: Program,
    package: str,
    *,
    template: str,
    request: str,
    tokenizer: str,
    parts: TokenizerParts,
    unreadable: NotInvertible | None,
    unbounded: UnboundedReach | None,
) -> str:
    """The text of a model's `__init__.py`; digests are taken of the meanings of its template, request and tokenizer.

    `parts` are what the tokenizer is made of. `unreadable` is why its replies cannot be read, and `unbounded` why it is
    not known how far its template looks, where that is so.
    """
    values = Values({})
    starts = Lines(1)
    starts.statement("_starts=", values.expression(starts_of(program)), ",")
    made_of = _parts(parts, values)
    budgets, lenders = model_budgets(program, values, package.rpartition(".")[0])
    used = {
        **values.modules,
        **({"katapi.runtime.budget.reach": ["Unbounded"]} if unbounded is not None else {}),
        **lenders,
        "katapi.runtime.model": ["Model", *(["Unreadable"] if unreadable is not None else [])],
        "katapi.runtime.record": ["Identity", "TokenizerParts"],
        f"{package}.renderer": ["render"],
        f"{package}.request": ["Request"],
        f"{lender(program, package)}.tokenizer": ["tokenizer"],
    }
    pipeline, video = (_pipeline(program, package, kind) for kind in (MediaKind.IMAGE, MediaKind.VIDEO))
    shown = None
    if pipeline is not None or video is not None:
        named = ["None" if pipeline is None else "_pipeline", *([] if video is None else ["_video_pipeline"])]
        shown = call("Shown", ["Control", *named])
        used["katapi.runtime.images.placing"] = ["Shown"]
        used[f"{lender(program, package)}.vocabulary"] = ["Control"]
    lines = Lines(1)
    lines.statement("budgets=", budgets, ",")
    return render(
        "model.py.j2",
        ModelContext(
            name=program.name,
            name_literal=string(program.name),
            source=program.source.name,
            source_literal=string(program.source.name),
            imports=imports(used),
            template_id=string(program.title),
            template_digest=string(digest(template)),
            request_id=string(str(program.request.identity)),
            request_digest=string(digest(request)),
            tokenizer_id=string(str(program.tokenizer.identity)),
            tokenizer_digest=string(digest(tokenizer)),
            parts=made_of,
            invalid_utf8='"replace"' if program.request.replace_invalid else '"strict"',
            depth=program.request.depth,
            budgets=lines.text(),
            starts=starts.text(),
            package=package,
            unreadable=None
            if unreadable is None
            else call("Unreadable", [string(cited(unreadable.span, program.source)), string(unreadable.why)]),
            unbounded=None
            if unbounded is None
            else call("Unbounded", [string(cited(unbounded.span, program.source)), string(unbounded.why)]),
            pipeline=pipeline,
            video=video,
            shown=shown,
        ),
    )


def _pipeline(program: Program, package: str, kind: MediaKind) -> PipelineRow | None:
    """The pipeline that the template names for its images or its videos, if it names one."""
    declared = images_of(program)
    for statement in all_statements(program.template):
        if isinstance(statement, t.ImageOf) and statement.kind is kind and statement.pipeline is not None:
            library, image = declared[statement.pipeline]
            constant = image_constants(library.images)[image.identity.name]
            return PipelineRow(constant, f"{package.rpartition('.')[0]}.{library.package}")
    return None


def _parts(parts: TokenizerParts, values: Values) -> str:
    """What a tokenizer is made of, as an argument."""
    lines = Lines(1)
    lines.statement("tokenizer_parts=", values.expression(parts), ",")
    return lines.text()


def emit_declared_tokenizer(program: TokenizerProgram, package: str, meaning: str, parts: TokenizerParts) -> str:
    """The text of the `__init__.py` of a tokenizer without a template, its `meaning`, and what it is made of."""
    used = {
        "katapi.runtime.declared_tokenizer": ["DeclaredTokenizer"],
        "katapi.runtime.record": ["Identity", "TokenizerParts"],
        f"{package}.tokenizer": ["tokenizer"],
    }
    return render(
        "declared_tokenizer.py.j2",
        DeclaredTokenizerContext(
            name=program.name,
            name_literal=string(program.name),
            source=program.source.name,
            source_literal=string(program.source.name),
            imports=imports(used),
            tokenizer_id=string(str(program.tokenizer.identity)),
            tokenizer_digest=string(digest(meaning)),
            parts=_parts(parts, Values({})),
        ),
    )


def emit_models(programs: Sequence[TokenizerProgram], libraries: Sequence[Library]) -> str:
    """The text of the `__init__.py` that lists all models, tokenizers and pipelines."""
    return render(
        "models.py.j2",
        ModelsContext(
            models=_rows([program for program in programs if isinstance(program, Program)]),
            tokenizers=_rows([program for program in programs if not isinstance(program, Program)]),
            images=_pipelines(libraries, MediaKind.IMAGE),
            videos=_pipelines(libraries, MediaKind.VIDEO),
            audio=_pipelines(libraries, MediaKind.AUDIO),
        ),
    )


def _pipelines(libraries: Sequence[Library], kind: MediaKind) -> list[ModelRow]:
    found = sorted(
        (image.identity.name, library.package)
        for library in libraries
        for image in library.images
        if image.kind is kind
    )
    return [ModelRow(string(name), string(package)) for name, package in found]


def _rows(programs: Sequence[TokenizerProgram]) -> list[ModelRow]:
    return [ModelRow(string(name), string(package)) for name, package in sorted((p.name, p.package) for p in programs)]
