"""Controls and placeholders of images → model."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import assert_never

from katapi.language import syntax as s
from katapi.language import syntax_images as i
from katapi.language.syntax_expressions import Name
from katapi.model.formulas import Basic, Binding, ListSort, Term
from katapi.model.images import (
    ControlMark,
    EachMark,
    IfMark,
    ImageControl,
    Mark,
    Marks,
    NumberMark,
    RepeatMark,
    TextMark,
)
from katapi.model.resolve.findings import Findings, Unresolved, nearest
from katapi.model.resolve.terms import Terms, TermScope

_MOST_BLOCKS = 20
_MOST_DIGITS = 9
_FIELD = re.compile(r"\{(\w*)\}")


def resolve_controls(node: s.Image, findings: Findings) -> dict[str, ImageControl]:
    """The control tokens that an image declares, by their names."""
    out: dict[str, ImageControl] = {}
    for row in [row for item in node.items if isinstance(item, i.ImageControls) for row in item.rows]:
        first = out.get(row.name.text)
        if first is not None:
            findings.add("K107", row.name.span, f"`@{row.name.text}` is declared twice", first=first.span)
            continue
        parameters = tuple(one.text for one in row.parameters)
        if not row.spelling:
            findings.add("K703", row.span, f"`@{row.name.text}` has no text")
        elif parameters and set(_FIELD.findall(row.spelling)) != set(parameters):
            wanted = ", ".join(f"`{{{one}}}`" for one in parameters)
            message = f"the spelling of `@{row.name.text}` holds {wanted} and no other names in braces"
            findings.add("K808", row.span, message, help='write `@tile(row) "<tile_{row}>"`')
        out[row.name.text] = ImageControl(row.name.text, parameters, row.spelling, row.name.span)
    return out


def control_named(name: Name, controls: Mapping[str, ImageControl], findings: Findings) -> ImageControl:
    """The control token of a name. Raises `Unresolved` behind a finding."""
    if name.text not in controls:
        message = f"there is no control token `@{name.text}`"
        help = nearest(name.text, controls, mark="@") or 'declare it: `control { @image "<image>" }`'
        raise findings.fail("K102", name.span, message, label="unknown control token", help=help)
    return controls[name.text]


class MarkReader:
    """Resolves what stands in a placeholder."""

    def __init__(self, controls: Mapping[str, ImageControl], terms: Terms, findings: Findings) -> None:
        self._depth = 0
        self._controls = controls
        self._terms = terms
        self._findings = findings

    def marks(self, block: i.MarkBlock, scope: TermScope) -> Marks:
        """The marks of a block, all that is wrong with them told. Raises `Unresolved` behind a finding."""
        if self._depth == _MOST_BLOCKS:
            message = "blocks of a placeholder stand too deep inside each other"
            raise self._findings.fail("K504", block.span, message, help="Python has at most 20 loops in a function")
        inner = scope.inner()
        self._depth += 1
        found = [self._known(item, inner) for item in block.items]
        self._depth -= 1
        marks = tuple(mark for mark in found if mark is not None)
        if len(marks) < len(found):
            raise Unresolved
        return marks

    def _known(self, item: i.Mark, scope: TermScope) -> Mark | None:
        try:
            return self._mark(item, scope)
        except Unresolved:
            return None

    def _within(self, name: Name | None, block: i.MarkBlock, scope: TermScope) -> None:
        """Tells what is wrong in a block whose head has a mistake, which gives `name` no value."""
        inner = scope.inner()
        if name is not None:
            inner.names[name.text] = None
        with suppress(Unresolved):
            self.marks(block, inner)

    def _mark(self, item: i.Mark, scope: TermScope) -> Mark:
        match item:
            case i.MarkControl():
                return self._control(item, scope)
            case i.MarkText(text):
                return TextMark(text)
            case i.MarkNumber(value, digits):
                number = self._terms.wanted(value, scope, Basic.REAL, "what is printed as a number")
                if digits > _MOST_DIGITS:
                    message = f"a number has at most {_MOST_DIGITS} digits behind the point"
                    raise self._findings.fail("K112", item.span, message, help="write `decimal(seconds, 1)`")
                return NumberMark(number, digits)
            case i.MarkEach(name, source, body):
                inner = scope.inner()
                what = "what is gone through"
                try:
                    term = self._terms.wanted(source, scope, ListSort(Basic.INT), what)
                except Unresolved:
                    self._within(name, body, scope)
                    raise
                variable = self._terms.bind(name, Basic.INT, Binding.LOOP, inner)
                assert variable is not None, "its sort is known"
                return EachMark(variable, term, self.marks(body, inner))
            case i.MarkRepeat(count, body):
                try:
                    term = self._terms.wanted(count, scope, Basic.INT, "how often something stands there")
                except Unresolved:
                    self._within(None, body, scope)
                    raise
                return RepeatMark(term, self.marks(body, scope))
            case i.MarkIf():
                return self._choice(item, scope)
            case _:
                assert_never(item)

    def _control(self, item: i.MarkControl, scope: TermScope) -> Mark:
        control = control_named(item.name, self._controls, self._findings)
        count = len(control.parameters)
        if len(item.arguments) != count:
            values = "value" if count == 1 else "values"
            message = f"`@{control.name}` takes {count} {values}, and gets {len(item.arguments)}"
            raise self._findings.fail("K114", item.span, message)
        what = "a number in a spelling"
        arguments = tuple(self._terms.wanted(one, scope, Basic.INT, what) for one in item.arguments)
        return ControlMark(control, arguments)

    def _choice(self, item: i.MarkIf, scope: TermScope) -> IfMark:
        test: Term | None = None
        blocks: list[Marks] = []
        with suppress(Unresolved):
            test = self._terms.condition(item.test, scope)
        for part in (item.then, item.otherwise):
            with suppress(Unresolved):
                match part:
                    case i.MarkBlock():
                        blocks.append(self.marks(part, scope))
                    case i.MarkIf():
                        blocks.append((self._choice(part, scope),))
                    case None:
                        blocks.append(())
        if test is None or len(blocks) < 2:
            raise Unresolved
        return IfMark(test, *blocks)
