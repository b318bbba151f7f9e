"""Formulas and images → layout documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import assert_never

from katapi.language import syntax as s
from katapi.language import syntax_formulas as f
from katapi.language import syntax_images as i
from katapi.language.braces import Entry, ListPrinter, part_doc, setting_doc
from katapi.language.expressions import type_text
from katapi.language.layout import Doc, Group, Line, Nest, concat, joined
from katapi.language.literals import quote
from katapi.language.terms import term


class ImagePrinter(ListPrinter):
    """Builds the layout documents of formulas and images."""

    def _formula(self, node: s.Formula) -> Entry:
        texts = [f"{one.name.text}: {type_text(one.type)}" for one in node.parameters]
        inner = Nest(concat(Line(""), joined([",", Line()], texts)))
        head = (
            Group(concat(f"formula {node.name.text}(", inner, Line(""), ")"))
            if texts
            else f"formula {node.name.text}()"
        )
        entries = [self._formula_item(item) for item in self._choices.in_order(node.items)]
        end = node.span.end
        return Entry(
            node.span.start,
            end,
            self._head_end(node, entries),
            lambda: concat(head, f": {type_text(node.result)} ", self._list(entries, end)),
        )

    def _formula_item(self, item: f.FormulaItem) -> Entry:
        match item:
            case f.FormulaLet(name, value):
                return self._leaf(item, concat(f"let {name.text} = ", term(value)))
            case f.Refuse(message, condition):
                doc = Group(Nest(concat(f"reject {quote(message)}", Line(), "when ", term(condition))))
                return self._leaf(item, doc)
            case f.Give(value, condition):
                when: list[Doc] = [] if condition is None else [Nest(concat(Line(), "when ", term(condition)))]
                return self._leaf(item, Group(concat("give ", term(value), *when)))
            case _:
                assert_never(item)

    def _image_entries(self, items: Sequence[i.ImageItem]) -> list[Entry]:
        return [self._image_item(item) for item in self._choices.in_order(items)]

    def _image_item(self, item: i.ImageItem) -> Entry:
        match item:
            case s.Setting():
                return self._leaf(item, setting_doc(item))
            case i.Arrival(name, settings):
                return self._entries(item, f"arrive {name.text}", self._settings(settings))
            case i.ImageParam(name, of, value):
                typed = "" if of is None else f": {type_text(of)}"
                return self._leaf(item, concat(f"param {name.text}{typed} = ", term(value)))
            case f.FormulaLet() | f.Refuse():
                return self._formula_item(item)
            case i.Numbers(value):
                return self._leaf(item, concat("numbers = ", term(value)))
            case i.Output(name, form, value):
                said = ", ".join(map(part_doc, form))
                return self._leaf(item, concat(f"output {name.text}: {said} = ", term(value)))
            case i.TokenCount(control, value):
                named = "" if control is None else f"@{control.text} "
                return self._leaf(item, concat(f"tokens {named}= ", term(value)))
            case i.ImageControls(rows):
                entries = [self._leaf(row, _control_row(row)) for row in rows]
                return self._entries(item, "control", entries)
            case i.Placeholder(body):
                return self._with_marks(item, "placeholder ", body)
            case _:
                assert_never(item)

    # ---- placeholders

    def _with_marks(self, node: s.Node, head: Doc, body: i.MarkBlock) -> Entry:
        return Entry(
            node.span.start,
            node.span.end,
            body.span.start,
            lambda: Group(concat(head, self._mark_block(body))),
            inline=not isinstance(node, i.Placeholder),
        )

    def _mark_block(self, block: i.MarkBlock) -> Doc:
        entries = [self._mark(item) for item in block.items]
        flat = self._may_be_flat(entries, block.span.start, block.span.end)
        return self._braced(entries, block.span.start, block.span.end, flat=flat)

    def _mark(self, item: i.Mark) -> Entry:
        match item:
            case i.MarkControl(name, arguments):
                inner = concat("(", joined([", "], map(term, arguments)), ")") if arguments else ""
                return self._leaf(item, concat(f"@{name.text}", inner), inline=True)
            case i.MarkText(text):
                return self._leaf(item, quote(text), inline=True)
            case i.MarkNumber(value, digits):
                doc = Group(concat("decimal(", Nest(concat(Line(""), term(value), f", {digits}")), Line(""), ")"))
                return self._leaf(item, doc, inline=True)
            case i.MarkEach(name, source, body):
                return self._with_marks(item, concat(f"each {name.text} in ", Nest(term(source)), " "), body)
            case i.MarkRepeat(count, body):
                return self._with_marks(item, concat("repeat ", Nest(term(count)), " "), body)
            case i.MarkIf():
                entry = self._with_marks(item, "", item.then)
                return replace(entry, doc=lambda: self._mark_choice(item))
            case _:
                assert_never(item)

    def _mark_choice(self, item: i.MarkIf) -> Doc:
        """`if … else if … else`: all its blocks are on one line, or none is."""
        branches: list[tuple[f.Term | None, i.MarkBlock]] = [(item.test, item.then)]
        rest = item.otherwise
        while isinstance(rest, i.MarkIf):
            branches.append((rest.test, rest.then))
            rest = rest.otherwise
        if rest is not None:
            branches.append((None, rest))
        lists = [[self._mark(one) for one in block.items] for _, block in branches]
        flat = not self._choices.has_comment(item.then.span.start, item.span.end) and all(
            self._may_be_flat(entries, block.span.start, block.span.end)
            for entries, (_, block) in zip(lists, branches, strict=True)
        )
        parts: list[Doc] = []
        for entries, (test, block) in zip(lists, branches, strict=True):
            head: list[Doc] = [] if test is None else ["if ", Nest(term(test)), " "]
            parts.append(concat(*head, self._braced(entries, block.span.start, block.span.end, flat=flat)))
        return Group(joined([" else "], parts))


def _control_row(row: i.ImageControl) -> str:
    named = f"({', '.join(one.text for one in row.parameters)})" if row.parameters else ""
    return f"@{row.name.text}{named} {quote(row.spelling)}"
