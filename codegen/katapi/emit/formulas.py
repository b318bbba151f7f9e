"""Emits the formulas of a file of images: `formulas.py`, one typed function each."""

from __future__ import annotations

from dataclasses import dataclass

from katapi.emit.environment import render
from katapi.emit.python import Lines, imports, string
from katapi.emit.terms import TermWriter, annotation, name_of
from katapi.language.syntax_types import MediaKind
from katapi.model import formulas as m
from katapi.model.program import Library
from katapi.model.sites import cited

SEVERAL = {MediaKind.IMAGE: "images", MediaKind.VIDEO: "videos", MediaKind.AUDIO: "audio"}
"""What a file declares, by its kind."""


@dataclass(frozen=True, slots=True)
class FormulasContext:
    """What `formulas.py.j2` shows."""

    name: str
    kind: str
    source: str
    imports: list[str]
    formulas: list[str]


def formulas_of(library: Library) -> list[m.Formula]:
    """The formulas that the images of a file call, each behind those that it calls."""
    found: dict[str, m.Formula] = {}
    for image in library.images:
        for formula in image.formulas:
            found.setdefault(formula.name, formula)
    return list(found.values())


def emit_formulas(library: Library) -> str:
    """The text of the module."""
    writer = TermWriter(name_of)
    texts = [_function(formula, library, writer) for formula in formulas_of(library)]
    return render(
        "formulas.py.j2",
        FormulasContext(
            name=library.name,
            kind=SEVERAL[library.images[0].kind],
            source=library.source.name,
            imports=module_imports(writer),
            formulas=texts,
        ),
    )


def module_imports(writer: TermWriter) -> list[str]:
    """The import statements of what terms need: those of Python's own library first."""
    standard = {module: names for module, names in writer.modules.items() if not module.startswith("katapi")}
    own = {module: names for module, names in writer.modules.items() if module.startswith("katapi")}
    lines = (["import math"] if writer.uses_math else []) + imports(standard)
    return [*lines, *([""] if lines and own else []), *imports(own)]


def refuse(lines: Lines, step: m.RefuseStep, writer: TermWriter) -> None:
    """Adds the lines that refuse an image."""
    error = writer.need("katapi.runtime.errors", "MediaError")
    lines.statement("if ", writer.text(step.condition), ":")
    lines.indent()
    lines.statement("raise ", f'{error}({string(step.message)}, code="M109")')
    lines.dedent()


def _function(formula: m.Formula, library: Library, writer: TermWriter) -> str:
    lines = Lines()
    parameters = [f"{name_of(one.name)}: {annotation(one.sort, writer)}" for one in formula.parameters]
    result = annotation(formula.result, writer)
    lines.statement(f"def {name_of(formula.name)}", f"({', '.join(parameters)})", f" -> {result}:")
    lines.indent()
    lines.add(f'"""The formula `{formula.name}` ({cited(formula.span, library.source)})."""')
    for step in formula.steps:
        match step:
            case m.LetStep(variable, value):
                lines.statement(f"{name_of(variable.name)} = ", writer.text(value))
            case m.RefuseStep():
                refuse(lines, step, writer)
            case m.GiveStep(value, None):
                lines.statement("return ", writer.text(value))
            case m.GiveStep(value, condition):
                assert condition is not None, "the case above has none"
                lines.statement("if ", writer.text(condition), ":")
                lines.indent()
                lines.statement("return ", writer.text(value))
                lines.dedent()
    return lines.text()
