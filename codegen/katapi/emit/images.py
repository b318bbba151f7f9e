"""Emits a file of images, videos or audio: `__init__.py`, with a class a plan, and a constant a pipeline."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from katapi.emit.environment import render
from katapi.emit.formulas import SEVERAL, module_imports, refuse
from katapi.emit.marks import MarkWriter
from katapi.emit.names import class_name
from katapi.emit.python import Lines, call, string
from katapi.emit.terms import TermWriter, annotation, name_of
from katapi.emit.values import Values
from katapi.language.syntax_types import MediaKind
from katapi.model import formulas as m
from katapi.model.images import Image, terms_of_marks
from katapi.model.program import Library
from katapi.model.sites import cited
from katapi.runtime.images.arrays import Join
from katapi.runtime.images.arrival import Arrival
from katapi.runtime.images.decoding import Limits

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_PIPELINES = {
    MediaKind.IMAGE: ("katapi.runtime.images.pipeline", "ImagePipeline"),
    MediaKind.VIDEO: ("katapi.runtime.images.videos", "VideoPipeline"),
    MediaKind.AUDIO: ("katapi.runtime.audio.pipeline", "AudioPipeline"),
}
_SOURCES = {
    MediaKind.IMAGE: ("katapi.runtime.images.picture", "Picture"),
    MediaKind.VIDEO: ("katapi.runtime.images.film", "Film"),
    MediaKind.AUDIO: ("katapi.runtime.audio.recording", "Recording"),
}
_PLAN = "katapi.runtime.images.plan"


@dataclass(frozen=True, slots=True)
class PipelineRow:
    """A pipeline as a constant: its lines, its kind, its name and version, and where it is declared."""

    lines: str
    kind: str
    name: str
    version: str
    place: str


@dataclass(frozen=True, slots=True)
class ImagesContext:
    """What `images.py.j2` shows."""

    name: str
    kind: str
    source: str
    imports: list[str]
    plans: list[str]
    constants: list[str]
    pipelines: list[PipelineRow]
    listed: str
    taker: str


@dataclass(frozen=True, slots=True)
class _Names:
    """The constants of the images of a file, and the classes of their plans, by the names of the images."""

    constants: Mapping[str, str]
    classes: Mapping[str, str]

    @classmethod
    def of(cls, images: Sequence[Image]) -> _Names:
        """`qwen3_vl` → QWEN3_VL and Qwen3VlPlan."""
        constants: dict[str, str] = {}
        classes: dict[str, str] = {}
        for name in (image.identity.name for image in images):
            constants[name] = _new(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).upper(), constants)
            classes[name] = _new(class_name(name) + "Plan", classes)
        return cls(constants, classes)


def image_constants(images: Sequence[Image]) -> Mapping[str, str]:
    """The constants of the images of a file, by their names: `qwen3_vl` → QWEN3_VL."""
    return _Names.of(images).constants


def _new(name: str, known: Mapping[str, str]) -> str:
    while name in known.values():
        name += "_"
    return name


def emit_images(library: Library, package: str) -> str:
    """The text of the module of a file of images; `package` is its dotted name."""
    writer = TermWriter(name_of)
    values = Values({})
    plans = [image for image in library.images if image.plan == image.identity.name]
    names = _Names.of(library.images)
    texts = [_Plan(image, names.classes[image.plan], writer).text() for image in plans]
    shared = _Shared(values)
    rows = [_pipeline(image, library, names, writer, values, shared) for image in library.images]
    called = {name_of(name) for image in library.images for name in _called(image)}
    for module, classes in values.modules.items():
        writer.modules.setdefault(module, set()).update(classes)
    if called:
        writer.modules[f"{package}.formulas"] = called
    kind = library.images[0].kind
    pipeline = writer.need(*_PIPELINES[kind])
    listed = Lines()
    pairs = [f"{string(name)}: {constant}" for name, constant in names.constants.items()]
    listed.statement(f"PIPELINES: dict[str, {pipeline}] = ", f"{{{', '.join(pairs)}}}")
    return render(
        "images.py.j2",
        ImagesContext(
            name=library.name,
            kind=SEVERAL[kind],
            source=library.source.name,
            imports=module_imports(writer),
            plans=texts,
            constants=shared.lines,
            pipelines=rows,
            listed=listed.text(),
            taker=f"{kind.value}_pipeline",
        ),
    )


def _called(image: Image) -> list[str]:
    """The formulas that an image calls by itself."""
    return m.calls((*image.steps, *_later(image)))


def _later(image: Image) -> tuple[m.Term, ...]:
    """What is asked for when the picture is there: for arrays, the count of tokens, and the placeholder."""
    return (*(one.value for one in image.outputs), image.tokens, *terms_of_marks(image.placeholder))


def _variables(value: object) -> set[m.Quantity]:
    return {term.variable for term in m.terms(value) if isinstance(term, m.VarOf)}


class _Shared:
    """Constants that pipelines share: which files they read, and the ways in which images come in.

    The first one has the plain name, another one the name of the first pipeline that is of it.
    """

    def __init__(self, values: Values) -> None:
        self.lines: list[str] = []
        self._values = values
        self._names: dict[str, str] = {}

    def reading(self, image: Image, pipeline: str) -> str:
        """The constant of which files are read."""
        return self._constant(
            "_HEARING" if image.kind is MediaKind.AUDIO else "_READING", self._whole(image.reading), pipeline
        )

    def ways(self, ways: Mapping[str, Arrival], pipeline: str) -> str:
        """The constant of the ways."""
        pairs = [f"{string(name)}: {self._whole(way)}" for name, way in ways.items()]
        return self._constant("_WAYS", f"{{{', '.join(pairs)}}}", pipeline)

    def _whole(self, value: DataclassInstance) -> str:
        """A value with all that is declared of it, be it a default of the class or not; None is nothing."""
        module = type(value).__module__
        self._values.modules.setdefault(module, set()).add(type(value).__name__)
        said = {field.name: getattr(value, field.name) for field in fields(value)}
        written = [f"{name}={self._field(content)}" for name, content in said.items() if content is not None]
        return call(type(value).__name__, written)

    def _field(self, content: object) -> str:
        return self._whole(content) if isinstance(content, Limits) else self._values.expression(content)

    def _constant(self, name: str, expression: str, pipeline: str) -> str:
        if expression not in self._names:
            self._names[expression] = f"_{pipeline}{name}" if name in self._names.values() else name
            lines = Lines()
            lines.statement(f"{self._names[expression]} = ", expression)
            self.lines.append(lines.text())
        return self._names[expression]


def _pipeline(
    image: Image, library: Library, names: _Names, writer: TermWriter, values: Values, shared: _Shared
) -> PipelineRow:
    params = {one.variable: one.value for one in image.params}
    name = image.identity.name
    joins = [f"{string(one.name)}: {values.expression(one.join)}" for one in image.outputs if one.join != Join()]
    lines = Lines()
    lines.add(f"{names.constants[name]} = {_PIPELINES[image.kind][1]}(")
    lines.indent()
    lines.statement("name=", string(name), ",")
    lines.statement("version=", string(image.identity.version), ",")
    lines.statement("digest=", string(image.digest), ",")
    taken = shared.reading(image, names.constants[name])
    lines.statement("hearing=" if image.kind is MediaKind.AUDIO else "reading=", taken, ",")
    if image.numbers is not None:
        lines.statement("ways=", shared.ways(image.ways, names.constants[name]), ",")
        lines.statement("numbers=", writer.numbers(image.numbers, params), ",")
    lines.statement("plan=", _plan_of(image, names.classes[image.plan], writer), ",")
    lines.statement("joins=", f"{{{', '.join(joins)}}}", ",")
    lines.dedent()
    lines.add(")")
    return PipelineRow(lines.text(), image.kind.value, name, image.identity.version, cited(image.span, library.source))


def _plan_of(image: Image, name: str, writer: TermWriter) -> str:
    """The class of an image, with the values of its parameters."""
    asked = _variables((*image.steps, *_later(image)))
    params = [one for one in image.params if one.variable in asked]
    if not params:
        return name
    values = [f"{name_of(one.variable.name)}={writer.text(one.value)}" for one in params]
    return call(writer.need("functools", "partial"), [name, *values])


class _Plan:
    """Writes the class of an image: the `let`s are made with it, and its methods ask for what they need of them."""

    def __init__(self, image: Image, name: str, writer: TermWriter) -> None:
        self._image = image
        self._name = name
        self._writer = writer
        self._lines = Lines()
        self._kept = _variables(_later(image))
        self._asked = _variables((*image.steps, *_later(image)))

    def text(self) -> str:
        """The class."""
        image, lines = self._image, self._lines
        lines.add(f"class {self._name}:")
        lines.indent()
        what = m.named(image.source.sort)
        lines.add(f'"""What becomes of a {what} in the {image.kind.value} {image.plan} and those that are like it."""')
        lines.add("")
        self._init()
        lines.add("")
        self._arrays()
        lines.add("")
        lines.add("def tokens(self) -> int:")
        lines.indent()
        lines.statement("return ", self._writer.text(image.tokens))
        lines.dedent()
        lines.add("")
        self._placeholder()
        return lines.text()

    def _init(self) -> None:
        lines, writer = self._lines, self._writer
        source = writer.need(*_SOURCES[self._image.kind])
        params = [one.variable for one in self._image.params if one.variable in self._asked]
        written = [f"{name_of(one.name)}: {annotation(one.sort, writer)}" for one in params]
        parameters = ["self", f"source: {source}", *(["*", *written] if written else [])]
        lines.statement("def __init__", f"({', '.join(parameters)})", " -> None:")
        lines.indent()
        before = len(lines)
        given = [one for one in [self._image.source, *params] if one in self._kept]
        for variable in given:
            lines.add(f"self.{name_of(variable.name)} = {name_of(variable.name)}")
        for step in self._image.steps:
            match step:
                case m.LetStep(variable, value):
                    target = self._place(variable) if variable in self._kept else name_of(variable.name)
                    lines.statement(f"{target} = ", writer.text(value))
                    writer.places[variable] = target
                case m.RefuseStep():
                    refuse(lines, step, writer)
        if len(lines) == before:
            lines.add("pass")
        lines.dedent()
        writer.places |= {variable: self._place(variable) for variable in given}

    @staticmethod
    def _place(variable: m.Quantity) -> str:
        return f"self.{name_of(variable.name)}"

    def _arrays(self) -> None:
        lines, writer = self._lines, self._writer
        outputs = writer.need(_PLAN, "Outputs")
        given = ""
        if self._image.numbers is not None:
            given = f", numbers: {writer.need('katapi.runtime.images.pixels', 'Normalization')}"
        lines.add(f"def arrays(self{given}) -> {outputs}:")
        lines.indent()
        lines.add("return {")
        lines.indent()
        for output in self._image.outputs:
            lines.statement(f"{string(output.name)}: ", writer.array(output.value, output.type), ",")
        lines.dedent()
        lines.add("}")
        lines.dedent()

    def _placeholder(self) -> None:
        lines, writer = self._lines, self._writer
        piece = writer.need("katapi.runtime.images.pieces", "Piece")
        body = self._image.placeholder
        kind = writer.need("collections.abc", "Iterator" if body else "Iterable")
        lines.add(f"def placeholder(self) -> {kind}[{piece}]:")
        lines.indent()
        if body:
            MarkWriter(writer, lines).block(body)
        else:
            lines.add("return ()")
        lines.dedent()
        writer.places.pop(self._image.source, None)
