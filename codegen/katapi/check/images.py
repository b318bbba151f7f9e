"""A template shows images by one pipeline, for whose placeholders its vocabulary has the tokens (K122 to K124)."""

from __future__ import annotations

import re

from katapi.check.traverse import all_statements
from katapi.language.diagnostics import Diagnostic
from katapi.model import template as t
from katapi.model.images import Image
from katapi.model.program import Program, images_of
from katapi.model.resolve.findings import nearest


def check(program: Program) -> list[Diagnostic]:
    """The findings about `image … by NAME`."""
    shown = [statement for statement in all_statements(program.template) if isinstance(statement, t.ImageOf)]
    named = [statement for statement in shown if statement.pipeline is not None]
    declared = images_of(program)
    found: list[Diagnostic] = []
    for statement in named:
        image = declared.get(statement.pipeline or "")
        if image is None:
            message = f"there is no image pipeline `{statement.pipeline}`"
            help = nearest(statement.pipeline or "", declared) or "take it from a file of images with `use`"
            found.append(Diagnostic("K122", statement.span, message, help=help))
        else:
            found.extend(_without_tokens(statement, image[1], program))
    for statement in shown:
        if named and statement.pipeline != named[0].pipeline:
            message = f"another image of this template is shown by `{named[0].pipeline}`"
            help = f"write `by {named[0].pipeline}`: what a model receives of its images comes from one pipeline"
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
