"""A template shows its images by one pipeline, its videos by another, and has their control tokens (K122 to K124)."""

from __future__ import annotations

import re

from katapi.check.traverse import all_statements
from katapi.language.diagnostics import Diagnostic
from katapi.model import template as t
from katapi.model.images import Image
from katapi.model.program import Program, images_of
from katapi.model.resolve.findings import nearest


def check(program: Program) -> list[Diagnostic]:
    """The findings about `image … by NAME` and `video … by NAME`."""
    shown = [statement for statement in all_statements(program.template) if isinstance(statement, t.ImageOf)]
    named = [statement for statement in shown if statement.pipeline is not None]
    declared = images_of(program)
    found: list[Diagnostic] = []
    for statement in named:
        image = declared.get(statement.pipeline or "")
        word = statement.kind.value
        if image is None or image[1].kind is not statement.kind:
            message = f"there is no {word} pipeline `{statement.pipeline}`"
            known = [name for name, (_, one) in declared.items() if one.kind is statement.kind]
            help = nearest(statement.pipeline or "", known) or f"take it from a file of {word}s with `use`"
            found.append(Diagnostic("K122", statement.span, message, help=help))
        else:
            found.extend(_without_tokens(statement, image[1], program))
    for statement in shown:
        first = next((one.pipeline for one in named if one.kind is statement.kind), statement.pipeline)
        if statement.pipeline != first:
            word = statement.kind.value
            message = f"another {word} of this template is shown by `{first}`"
            help = f"write `by {first}`: what a model receives of its {word}s comes from one pipeline"
            found.append(Diagnostic("K123", statement.span, message, help=help))
    return found


def _without_tokens(statement: t.ImageOf, image: Image, program: Program) -> list[Diagnostic]:
    """The control tokens of a placeholder that the vocabulary lacks; no text stands for one."""
    spellings = {control.spelling for control in program.vocabulary.controls}
    found: list[Diagnostic] = []
    for control in image.controls:
        pattern = re.compile("[0-9]+".join(map(re.escape, re.split(r"\{\w+\}", control.spelling))))
        if not any(map(pattern.fullmatch, spellings)):
            message = f"the vocabulary has no control token `{control.spelling}`, which `{image.identity.name}` prints"
            help = "declare it under `control`, or name the pipeline of this model"
            found.append(Diagnostic("K124", statement.span, message, help=help))
    return found
