"""Images, videos and audio → model."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TypeVar

from katapi.language import syntax as s
from katapi.language import syntax_formulas as f
from katapi.language import syntax_images as i
from katapi.language.printer import canonical
from katapi.language.syntax_types import MediaKind
from katapi.model import formulas as m
from katapi.model.formulas import Basic, Binding
from katapi.model.images import (
    SOURCES,
    ArrayType,
    ControlMark,
    Image,
    ImageControl,
    Marks,
    Output,
    Param,
    marks,
    terms_of_marks,
)
from katapi.model.resolve.findings import Findings, Unresolved, nearest
from katapi.model.resolve.formulas import resolve_let, resolve_refuse, resolve_sort
from katapi.model.resolve.headers import identity
from katapi.model.resolve.image_settings import Policies, resolve_policies
from katapi.model.resolve.marks import MarkReader, control_named, resolve_controls
from katapi.model.resolve.settings import Misread, Part
from katapi.model.resolve.term_functions import is_array, is_real_array
from katapi.model.resolve.terms import Signature, Terms, TermScope
from katapi.runtime.images.arrays import Join

ItemT = TypeVar("ItemT", bound=s.Node)

_TYPES = {one.value: one for one in ArrayType}


@dataclass(frozen=True, slots=True)
class _Known:
    """An image that those behind it can be like, what it says of files, and its canonical text."""

    image: Image
    policies: Policies
    text: str


def resolve_images(
    nodes: Sequence[s.Image],
    formulas: Mapping[str, m.Formula],
    signatures: Mapping[str, Signature],
    written: Iterable[s.Formula],
    findings: Findings,
) -> tuple[Image, ...]:
    """The images of a file, in its order; what has a mistake is left out, and what calls a formula that has one.

    `signatures` are those of all formulas, `written` the formulas as they stand in the file.
    """
    texts = {node.name.text: canonical(node) for node in written}
    known: dict[str, _Known | None] = {}
    for node in nodes:
        reader = _Like(node, known, findings) if node.like else _Own(node, formulas, signatures, findings)
        one = reader.resolved()
        known.setdefault(node.header.name.text, one)
    return tuple(_digested(one, texts) for one in known.values() if one is not None)


def _digested(known: _Known, texts: Mapping[str, str]) -> Image:
    """The image with the digest of its text and those of the formulas that it calls."""
    meaning = known.text + "".join(texts[formula.name] for formula in known.image.formulas)
    return replace(known.image, digest="sha256:" + hashlib.sha256(meaning.encode()).hexdigest())


class _Own:
    """An image that says all by itself."""

    def __init__(
        self,
        node: s.Image,
        formulas: Mapping[str, m.Formula],
        signatures: Mapping[str, Signature],
        findings: Findings,
    ) -> None:
        self._node = node
        self._formulas = formulas
        self._findings = findings
        self._terms = Terms(findings, signatures, in_image=True)
        self._scope = TermScope({"source": SOURCES[node.kind]})
        self._params: list[Param] = []
        self._steps: list[m.LetStep | m.RefuseStep] = []
        self._outputs: list[Output] = []

    def resolved(self) -> _Known | None:
        """What it means; None behind a finding."""
        before = len(self._findings.diagnostics)
        policies = resolve_policies(self._node, None, self._findings)
        sound = [self._item(item) for item in self._node.items]
        audio = self._node.kind is MediaKind.AUDIO
        numbers = None if audio else self._numbers()
        counted = self._counted()
        if not any(isinstance(item, i.Output) for item in self._node.items):
            self._of_whole("K806", "outputs nothing", "add `output pixel_values: float32 = …`")
        if len(self._findings.diagnostics) == before and all(sound):
            self._check_used()
        if (
            policies is None
            or (numbers is None and not audio)
            or counted is None
            or len(self._findings.diagnostics) > before
        ):
            return None
        if not all(sound):
            return None
        tokens, control, controls, placeholder = counted
        header = self._node.header
        values = [*(one.value for one in self._params), *(one.value for one in self._outputs), tokens]
        if numbers is not None:
            values.append(numbers)
        called = _called(m.calls((*values, *self._steps, *terms_of_marks(placeholder))), self._formulas)
        if called is None:
            return None
        image = Image(
            self._node.kind,
            identity(header),
            header.name.text,
            policies.reading,
            policies.ways,
            tuple(self._params),
            tuple(self._steps),
            numbers,
            tuple(self._outputs),
            tokens,
            control,
            controls,
            placeholder,
            called,
            "",
            header.span,
        )
        return _Known(image, policies, canonical(self._node))

    def _of_whole(self, code: str, what: str, help: str) -> None:
        name = self._node.header.name.text
        self._findings.add(code, self._node.header.span, f"the {self._node.kind.value} `{name}` {what}", help=help)

    def _item(self, item: i.ImageItem) -> bool:
        """Takes up an item; false behind a finding."""
        try:
            match item:
                case i.ImageParam():
                    self._params.append(self._param(item))
                case f.FormulaLet():
                    self._steps.append(resolve_let(item, self._terms, self._scope))
                case f.Refuse():
                    self._steps.append(resolve_refuse(item, self._terms, self._scope))
                case i.Output():
                    self._outputs.append(self._output(item))
                case _:
                    pass
        except Unresolved:
            return False
        return True

    def _param(self, item: i.ImageParam) -> Param:
        try:
            if item.type is None:
                help = f"write `param {item.name.text}: int = …`"
                raise self._findings.fail("K106", item.name.span, "a parameter says its type", help=help)
            sort = resolve_sort(item.type, self._findings)
            value = self._terms.wanted(item.value, TermScope({}), sort, f"`{item.name.text}`")
        except Unresolved:
            self._terms.bind(item.name, None, Binding.PARAMETER, self._scope)
            raise
        variable = self._terms.bind(item.name, sort, Binding.PARAMETER, self._scope)
        assert variable is not None, "its sort is known"
        return Param(variable, value)

    # ---- arrays

    def _numbers(self) -> m.Term | None:
        """What pixels become, which is the same for every image."""
        node = self._only(i.Numbers, "numbers", "numbers = rescaling(1 / 255)")
        if node is None:
            return None
        try:
            numbers = self._terms.numbers(node.value, self._scope)
        except Unresolved:
            return None
        for term in m.terms(numbers):
            if isinstance(term, m.VarOf) and term.variable.binding is not Binding.PARAMETER:
                message = f"what pixels become does not depend on `{term.variable.name}`"
                help = "write numbers, or parameters of the image"
                self._findings.add("K804", term.span, message, help=help)
        _check_channels(numbers, self._params, self._findings)
        self._check_opencv(numbers)
        self._check_bfloat16(numbers)
        return numbers

    def _check_opencv(self, numbers: m.Term) -> None:
        """A picture that OpenCV resizes has real numbers, not 8 bits."""
        of_opencv = m.Operation.PLANES_BY_OPENCV
        terms = [*m.terms(tuple(self._steps)), *m.terms(tuple(one.value for one in self._outputs))]
        by_opencv = any(isinstance(term, m.OperationOf) and term.operation is of_opencv for term in terms)
        if by_opencv and not (isinstance(numbers, m.OperationOf) and numbers.operation is m.Operation.REAL):
            message = "OpenCV gives pixels as real numbers, and these numbers are made of 8 bits"
            help = "write `numbers = real_normalization(255.0, …)`"
            self._findings.add("K804", numbers.span, message, help=help)

    def _check_bfloat16(self, numbers: m.Term) -> None:
        """Arrays of pictures hold bfloat16 where their numbers are computed so, and only there."""
        computed = isinstance(numbers, m.OperationOf) and numbers.operation is m.Operation.BFLOAT16
        said, other = (ArrayType.BFLOAT16, ArrayType.FLOAT32) if computed else (ArrayType.FLOAT32, ArrayType.BFLOAT16)
        for output in self._outputs:
            if output.type is other:
                message = f"the numbers of this array are {said.value}"
                help = f"write `output {output.name}: {said.value} = …`"
                self._findings.add("K804", output.span, message, help=help)

    def _output(self, item: i.Output) -> Output:
        first = next((one.span for one in self._outputs if one.name == item.name.text), None)
        if first is not None:
            self._findings.add("K107", item.name.span, f"`{item.name.text}` is put out twice", first=first)
        value = self._terms.term(item.value, self._scope)
        of, join = self._form(item)
        if of is ArrayType.FLOAT32 and is_real_array(value.sort):
            return Output(item.name.text, of, join, value, item.name.span)
        if is_real_array(value.sort):
            message = "these are no whole numbers"
            raise self._findings.fail("K201", item.value.span, message, help="write `float32`")
        if not is_array(value.sort):
            help = "`planes([…])` makes one of pictures" if value.sort in _PICTURES else ""
            message = f"an array is put out, and this is `{m.named(value.sort)}`"
            raise self._findings.fail("K201", item.value.span, message, help=help)
        if of in (ArrayType.FLOAT32, ArrayType.BFLOAT16) and value.sort is not Basic.ARRAY:
            message = f"a {of.value} array is made of pictures, and this is made of whole numbers"
            raise self._findings.fail("K201", item.value.span, message, help="write `int64`")
        return Output(item.name.text, of, join, value, item.name.span)

    def _form(self, item: i.Output) -> tuple[ArrayType, Join]:
        """The type of the items of an array, and how the arrays of several images become one."""
        said: dict[str, int] = {}
        alone = False
        first, *others = item.form
        part = Part(first)
        try:
            of = part.one_of(_TYPES)
            part.done()
            for node in others:
                part = Part(node)
                if len(others) == 1 and part.flag("alone"):
                    alone = True
                    part.done()
                    continue
                word = part.one_of({"along": "along", "filled": "filled"})
                if word in said:
                    raise Misread
                said[word] = part.number()
                part.done()
        except Misread:
            message = "this does not say what the array is"
            help = f"write {', '.join(f'`{name}`' for name in _TYPES)}, and behind it `along 1`, `filled 0` or `alone`"
            raise self._findings.fail("K112", part.span, message, help=help) from None
        return of, Join(said.get("along", 0), said.get("filled"), alone)

    # ---- tokens

    def _counted(self) -> tuple[m.Term, ImageControl | None, tuple[ImageControl, ...], Marks] | None:
        """The count of tokens, the control that each is, all controls, and the placeholder."""
        controls = resolve_controls(self._node, self._findings)
        count = self._only(i.TokenCount, "tokens", "tokens = 0")
        placeholder = self._at_most_one(i.Placeholder, "placeholder")
        reader = MarkReader(controls, self._terms, self._findings)
        body: Marks | None = () if placeholder is None else None
        tokens: m.Term | None = None
        control: ImageControl | None = None
        sound = count is not None
        with suppress(Unresolved):
            body = () if placeholder is None else reader.marks(placeholder.body, self._scope)
        with suppress(Unresolved):
            if count is not None:
                tokens = self._terms.wanted(count.value, self._scope, Basic.INT, "the count of tokens")
        try:
            if count is not None and count.control is not None:
                control = control_named(count.control, controls, self._findings)
        except Unresolved:
            sound = False
        if body is None or tokens is None or count is None or not sound:
            return None
        standing = [mark.control for mark in marks(body) if isinstance(mark, ControlMark)]
        for one in controls.values() if placeholder is not None else ():
            if one not in standing:
                message = f"`@{one.name}` never stands in the placeholder"
                self._findings.add("K310", one.span, message, help="remove it, or put it there")
        if placeholder is not None and control is None:
            message, help = "this does not say which control the tokens are", "write `tokens @image = …`"
            self._findings.add("K807", count.span, message, help=help)
        elif placeholder is None and control is not None:
            message = "there is no placeholder in which the tokens stand"
            self._findings.add("K807", count.span, message, help="add `placeholder { … }`")
        return tokens, control, tuple(controls.values()), body

    # ---- what all parts share

    def _only(self, kind: type[ItemT], word: str, example: str) -> ItemT | None:
        found = self._at_most_one(kind, word)
        if found is None:
            self._of_whole("K111", f"does not say `{word}`", f"add `{example}`")
        return found

    def _at_most_one(self, kind: type[ItemT], word: str) -> ItemT | None:
        found = [item for item in self._node.items if isinstance(item, kind)]
        for extra in found[1:]:
            self._findings.add("K107", extra.span, f"`{word}` stands here twice", first=found[0].span)
        return found[0] if found else None

    def _check_used(self) -> None:
        lets = [step.variable for step in self._steps if isinstance(step, m.LetStep)]
        for variable in [*(one.variable for one in self._params), *lets]:
            if variable not in self._scope.used and variable.name not in self._findings.untyped:
                what = "parameter" if variable.binding is Binding.PARAMETER else "`let`"
                message, help = f"`{variable.name}` is never used", f"remove the {what}"
                self._findings.add("K310", variable.span, message, help=help)
        if SOURCES[self._node.kind] not in self._scope.used and "source" not in self._findings.untyped:
            self._of_whole(
                "K806",
                "never uses `source`",
                f"what it outputs depends on the {m.named(SOURCES[self._node.kind].sort)}",
            )


def _check_channels(numbers: m.Term, params: Iterable[Param], findings: Findings) -> None:
    """A mean and a deviation have one number for each channel, and are written out."""
    values = {one.variable: one.value for one in params}
    given = numbers.arguments if isinstance(numbers, m.OperationOf) else ()
    for term in given:
        value = values.get(term.variable, term) if isinstance(term, m.VarOf) else term
        if isinstance(value.sort, m.ListSort) and not (isinstance(value, m.ListOf) and len(value.items) == 3):
            message = "a mean or a deviation has a number for each of the 3 channels"
            findings.add("K804", value.span, message, help="write one for red, green and blue each: `[0.5, 0.5, 0.5]`")


_PICTURES = (Basic.PICTURE, m.ListSort(Basic.PICTURE))


def _called(asked: Sequence[str], formulas: Mapping[str, m.Formula]) -> tuple[m.Formula, ...] | None:
    """The formulas that are called, also by way of others, each behind those that it calls; None if one is unknown."""
    found: set[str] = set()
    open_names = list(asked)
    while open_names:
        name = open_names.pop()
        if name not in formulas:
            return None
        if name not in found:
            found.add(name)
            open_names += m.calls(formulas[name].steps)
    return tuple(formula for name, formula in formulas.items() if name in found)


class _Like:
    """An image that is like one before it, but for settings and values of parameters."""

    def __init__(self, node: s.Image, known: Mapping[str, _Known | None], findings: Findings) -> None:
        self._node = node
        self._known = known
        self._findings = findings

    def resolved(self) -> _Known | None:
        """What it means; None behind a finding."""
        name = self._node.like
        assert name is not None, "the caller asks"
        if name.text not in self._known:
            message = f"there is no {self._node.kind.value} `{name.text}` before this one"
            self._findings.add("K809", name.span, message, help=nearest(name.text, self._known))
            return None
        base = self._known[name.text]
        if base is None or base.image.kind is not self._node.kind:
            return None  # the other kind is told of where the declaration stands
        before = len(self._findings.diagnostics)
        policies = resolve_policies(self._node, base.policies, self._findings)
        params = {one.variable.name: one for one in base.image.params}
        values = dict(params)
        for item in self._node.items:
            if isinstance(item, i.ImageParam):
                self._param(item, params, values)
            elif not isinstance(item, s.Setting | i.Arrival):
                message = f"what is like `{name.text}` has settings and values of parameters, and nothing else"
                self._findings.add("K809", item.span, message, help="make what differs a `param`")
        if base.image.numbers is not None:
            _check_channels(base.image.numbers, values.values(), self._findings)
        if policies is None or len(self._findings.diagnostics) > before:
            return None
        image = replace(
            base.image,
            identity=identity(self._node.header),
            reading=policies.reading,
            ways=policies.ways,
            params=tuple(values.values()),
            span=self._node.header.span,
        )
        return _Known(image, policies, base.text + canonical(self._node))

    def _param(self, item: i.ImageParam, params: Mapping[str, Param], values: dict[str, Param]) -> None:
        name = item.name.text
        param = params.get(name)
        if param is None:
            message, help = f"there is no parameter `{name}` to set", nearest(name, params)
            self._findings.add("K809", item.name.span, message, label="unknown parameter", help=help)
            return
        if values[name] is not param:
            self._findings.add("K107", item.name.span, f"`{name}` is set twice")
            return
        if item.type is not None:
            message, help = f"the type of `{name}` is said already", f"write `param {name} = …`"
            self._findings.add("K809", item.type.span, message, help=help)
            return
        terms = Terms(self._findings, {}, in_image=True)
        try:
            value = terms.wanted(item.value, TermScope({}), param.variable.sort, f"`{name}`")
        except Unresolved:
            return
        values[name] = Param(param.variable, value)
