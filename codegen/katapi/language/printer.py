"""Syntax tree → text: the canonical form of .kata files.

`format_source` keeps what the tree does not hold and the author chose: comments, empty lines, the order of
declarations, which printed items share a line, which blocks stand on one line. `canonical` knows the tree alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar, assert_never

from katapi.language import syntax as s
from katapi.language.braces import Entry, setting_doc
from katapi.language.comments import AuthorsChoices, Choices
from katapi.language.diagnostics import SpecError
from katapi.language.expressions import block_text, expression, type_text
from katapi.language.layout import Doc, Group, Line, Nest, concat, joined, render
from katapi.language.literals import quote
from katapi.language.parser import parse
from katapi.language.printer_images import ImagePrinter
from katapi.language.source import Source

WIDTH = 120
NodeT = TypeVar("NodeT", bound=s.Node)


def format_source(source: Source) -> str:
    """The canonical text of a file; raises SpecError where the file has syntax errors."""
    file, findings = parse(source)
    if findings:
        raise SpecError(source, findings)
    text = _Printer(AuthorsChoices(source.text)).file(file, len(source.text))
    return text + "\n" if text else ""


def canonical(declaration: s.Declaration | s.Shared) -> str:
    """The text of one declaration as its tree alone determines it: what digests are taken of."""
    return render(_Printer(Choices()).declaration(declaration), WIDTH) + "\n"


class _Printer(ImagePrinter):
    """Builds layout documents from nodes, in source order, so that each comment is given out once."""

    def file(self, file: s.File, length: int) -> str:
        entries = self._uses(file.uses)
        before: s.Option | s.Model | s.Declaration | s.Shared | None = None
        for node in self._choices.in_order([*file.options, *file.models, *file.declarations, *file.shared]):
            match node:
                case s.Option(name, type_, default):
                    doc = concat(f"option {name.text}: {type_text(type_)}", *_default(default))
                    entries.append(replace(self._leaf(node, doc), close=isinstance(before, s.Option)))
                case s.Model():
                    entries.append(replace(self._model(node), close=isinstance(before, s.Model)))
                case s.RecordDecl() | s.Def() | s.Formula():
                    entries.append(self._shared(node))
                case _:
                    entries.append(self._declaration_entry(node))
            before = node
        rows, _ = self._rows(entries, None, length, apart=True)
        return render(self._lines(rows), WIDTH)

    def _uses(self, uses: Sequence[s.Use]) -> list[Entry]:
        return [replace(self._leaf(u, f"use {quote(u.path)}"), close=number > 0) for number, u in enumerate(uses)]

    def _model(self, node: s.Model) -> Entry:
        values = [self._leaf(v, concat(f"{v.name.text}: ", expression(v.value))) for v in node.values]
        entries = sorted([*self._uses(node.uses), *values], key=lambda entry: entry.start)
        return self._entries(node, f"model {quote(node.name)}", entries)

    # ---- declarations

    def declaration(self, node: s.Declaration | s.Shared) -> Doc:
        """A whole declaration, or a shared part."""
        return self._shared(node).doc() if isinstance(node, s.Shared) else self._declaration_entry(node).doc()

    def _shared(self, node: s.Shared) -> Entry:
        match node:
            case s.RecordDecl():
                (entry,) = self._request_entries([node])
                return entry
            case s.Def():
                return self._part(node)
            case s.Formula():
                return self._formula(node)

    def _declaration_entry(self, node: s.Declaration) -> Entry:
        head = f"{node.header.name.text} version {quote(node.header.version)}"
        match node:
            case s.Vocabulary():
                head = f"vocabulary {head}"
                entries = self._vocabulary(node)
            case s.Tokenizer(_, over, settings):
                head = f"tokenizer {head} over {over.text}"
                entries = self._settings(settings)
            case s.Serialization(_, like, settings):
                head = f"serialization {head}" + (f" like {like.text}" if like else "")
                entries = self._settings(settings)
            case s.Budget(_, target, settings):
                head = f"budget {head}" + (f" for {target.text}" if target else "")
                entries = self._settings(settings)
            case s.Request():
                head = f"request {head}"
                entries = self._request(node)
            case s.Template(_, target, parts):
                head = f"template {head} for {target.text}"
                entries = [self._part(p) for p in parts]
            case s.Image(kind, _, like, items):
                head = f"{kind.value} {head}" + (f" like {like.text}" if like else "")
                entries = self._image_entries(items)
            case _:
                assert_never(node)
        return Entry(
            node.span.start,
            node.span.end,
            self._head_end(node, entries),
            lambda: concat(head, " ", self._list(entries, node.span.end)),
        )

    def _vocabulary(self, node: s.Vocabulary) -> list[Entry]:
        entries: list[Entry] = []
        for item in node.items:
            match item:
                case s.ControlTable(rows):
                    entries.append(self._table(item, "control", [self._leaf(row, _token_row(row)) for row in rows]))
                case s.AddedTable(rows):
                    entries.append(self._table(item, "added", [self._leaf(row, _token_row(row)) for row in rows]))
                case s.TextTable(rows):
                    entries.append(self._table(item, "text", [self._leaf(row, _token_row(row)) for row in rows]))
                case s.ArtifactRef(name, sha256, bare):
                    digest = "" if sha256 is None else f" sha256 {quote(sha256)}"
                    entries.append(self._leaf(item, f"artifact {quote(name)}{digest}{' bare' if bare else ''}"))
                case s.SizeRow(size):
                    entries.append(self._leaf(item, f"size {size}"))
                case s.UnknownRow(number, spelling):
                    entries.append(self._leaf(item, f"unknown {number} {quote(spelling)}"))
                case s.UnknownControl(name):
                    entries.append(self._leaf(item, f"unknown @{name.text}"))
                case s.UnusedIds(first, last):
                    entries.append(self._leaf(item, f"unused {first}" + (f" to {last}" if last != first else "")))
                case _:
                    assert_never(item)
        return entries

    def _table(self, node: s.Node, word: str, entries: list[Entry]) -> Entry:
        """A table of tokens, one row a line."""
        end = node.span.end
        return Entry(
            node.span.start, end, self._head_end(node, entries), lambda: concat(word, " ", self._list(entries, end))
        )

    def _request(self, node: s.Request) -> list[Entry]:
        parts: list[s.RequestEntry] = [
            *node.settings,
            *node.roles,
            *node.records,
            *node.tools,
            *node.documents,
            *node.params,
            *node.choices,
        ]
        return self._request_entries(self._choices.in_order(parts))

    def _request_entries(self, parts: Sequence[s.RequestEntry]) -> list[Entry]:
        entries: list[Entry] = []
        for part in parts:
            match part:
                case s.Setting():
                    entries.append(self._leaf(part, setting_doc(part)))
                case s.RoleDecl(names, is_open, fields, choices):
                    head = f"role {_names(names)}" + (" (any)" if is_open else "")
                    entries.append(self._entries(part, head, self._fields([*fields, *choices])))
                case s.RecordDecl(name, fields, choices):
                    entries.append(self._entries(part, f"record {name.text}", self._fields([*fields, *choices])))
                case s.ToolsDecl(type_):
                    entries.append(self._leaf(part, f"tools: {type_text(type_)}"))
                case s.DocumentsDecl(type_):
                    entries.append(self._leaf(part, f"documents: {type_text(type_)}"))
                case s.ParamDecl(name, type_, also, default):
                    spelled = "".join(f" also {other.text}" for other in also)
                    doc = concat(f"param {name.text}: {type_text(type_)}{spelled}", *_default(default))
                    entries.append(self._leaf(part, doc))
                case s.EntryIf():
                    entries.append(self._entry_if(part))
                case s.FieldDecl():
                    raise AssertionError("a field stands in a role or a record")
                case _:
                    assert_never(part)
        return entries

    def _fields(self, fields: Sequence[s.FieldDecl | s.EntryIf]) -> list[Entry]:
        entries: list[Entry] = []
        for group in self._ignored_together(self._choices.in_order(fields)):
            if isinstance(group, s.EntryIf):
                entries.append(self._entry_if(group))
                continue
            texts = [_field_text(f) for f in group]
            words: list[Doc] = ["ignore "] if group[0].ignored else []
            doc = Group(concat(*words, Nest(joined([",", Line()], texts))))
            entries.append(replace(self._leaf(group[0], doc), end=group[-1].span.end, head_end=group[-1].span.end))
        return entries

    def _entry_if(self, node: s.EntryIf) -> Entry:
        """`if … { … } else …` among the entries of a request, or the fields of a role or record."""

        def doc() -> Doc:
            parts: list[Doc] = ["if ", Nest(expression(node.test)), " ", self._choice_of(node.then)]
            match node.otherwise:
                case s.Entries() as entries:
                    parts += [" else ", self._choice_of(entries)]
                case s.EntryIf() as choice:
                    parts += [" else ", self._entry_if(choice).doc()]
                case None:
                    pass
            return Group(concat(*parts))

        return Entry(node.span.start, node.span.end, node.then.span.start, doc)

    def _choice_of(self, node: s.Entries) -> Doc:
        fields = [e for e in node.entries if isinstance(e, s.FieldDecl | s.EntryIf)]
        whole = len(fields) == len(node.entries)
        entries = self._fields(fields) if whole else self._request_entries(node.entries)
        return self._list(entries, node.span.end, may_be_flat=True, gap="  ")

    def _ignored_together(self, fields: Sequence[s.FieldDecl | s.EntryIf]) -> list[list[s.FieldDecl] | s.EntryIf]:
        """The fields and choices, with the fields in one list that stand behind one `ignore`."""
        groups: list[list[s.FieldDecl] | s.EntryIf] = []
        for f in fields:
            if isinstance(f, s.EntryIf):
                groups.append(f)
                continue
            group = groups[-1] if groups and isinstance(groups[-1], list) else []
            if group and group[-1].ignored and f.ignored and self._choices.same_list(group[-1].span.end, f.span.start):
                group.append(f)
            else:
                groups.append([f])
        return groups

    # ---- template

    def _part(self, part: s.TemplatePart) -> Entry:
        match part:
            case s.Def(name, parameters, body):
                texts = [f"{p.name.text}: {type_text(p.type)}" for p in parameters]
                inner = Nest(concat(Line(""), joined([",", Line()], texts)))
                head = Group(concat(f"def {name.text}(", inner, Line(""), ")")) if texts else f"def {name.text}()"
                return self._headed(part, [head], body)
            case s.Generate(condition, body):
                where: list[Doc] = [] if condition is None else [" where ", Nest(expression(condition))]
                return self._headed(part, ["generate", *where], body)
            case s.Parse(name, condition, body):
                options: list[Doc] = [] if condition is None else [" where ", Nest(expression(condition))]
                return self._headed(part, [f"parse {name.text}", *options], body)
            case s.NoPrefix():
                return self._leaf(part, "generate none")
            case s.Counter(name):
                return self._leaf(part, f"counter {name.text}", binds=True)
            case s.Boundary(texts, answer):
                listed = joined([",", Line()], [quote(one.text) for one in texts])
                behind = answer.kind.value + ("" if answer.escape is None else f" with {quote(answer.escape)}")
                return self._leaf(part, Group(concat("boundary ", Nest(listed), f": {behind}")), binds=True)
            case _:
                return self._item(part)

    def _headed(self, node: s.Node, head: Sequence[Doc], body: s.Block, *, inline: bool = False) -> Entry:
        """A node that ends with a block."""

        def doc() -> Doc:
            return Group(concat(*head, " " if head else "", self._block(body)))

        return Entry(node.span.start, node.span.end, body.span.start, doc, inline)

    def _block(self, block: s.Block) -> Doc:
        entries = [self._item(i) for i in block.items]
        flat = self._may_be_flat(entries, block.span.start, block.span.end)
        return self._braced(entries, block.span.start, block.span.end, flat=flat)

    def _item(self, item: s.Item) -> Entry:
        match item:
            case s.Put(value):
                return self._leaf(item, expression(value), inline=True)
            case s.BlockText():
                return self._leaf(item, block_text(item))
            case s.Block():
                return self._headed(item, [], item, inline=True)
            case s.Let(name, value):
                return self._leaf(item, concat(f"let {name.text} = ", expression(value)), binds=True)
            case s.LetText(name, body):
                return replace(self._headed(item, [f"let {name.text} = text"], body), binds=True)
            case s.If():
                return Entry(
                    item.span.start, item.span.end, item.then.span.start, lambda: self._choice(item), inline=True
                )
            case s.Each():
                return self._headed(item, [_each_head(item)], item.body, inline=True)
            case s.Walk(name, source, arms):
                head = concat(f"each {name.text} in ", Nest(expression(source)))
                return self._with_arms(item, head, arms)
            case s.Match(subject, arms):
                return self._with_arms(item, concat("match ", Nest(expression(subject))), arms)
            case s.Take(how, roles, bound, otherwise):
                words = f"take {how.value} {_names(roles)} as {bound.text}"
                if otherwise is None:
                    return self._leaf(item, words, binds=True)
                return self._headed(item, [words, " else"], otherwise)
            case s.Sampled(body):
                return self._headed(item, ["sampled"], body, inline=True)
            case s.Joined(separator, body):
                return self._headed(item, [f"joined {quote(separator)}"], body, inline=True)
            case s.ImageOf(kind, value, pipeline, body):
                by = "" if pipeline is None else f" by {pipeline.text}"
                return self._headed(item, [f"{kind.value} ", Nest(expression(value)), by], body, inline=True)
            case s.Drop(value):
                return self._leaf(item, concat("drop ", expression(value)))
            case s.CounterFrom(name, value):
                return self._leaf(item, concat(f"counter {name.text} = ", expression(value)), binds=True)
            case s.Advance(name):
                return self._leaf(item, f"advance {name.text}")
            case s.Reject(message):
                return self._leaf(item, f"reject {quote(message)}")
            case _:
                assert_never(item)

    def _choice(self, item: s.If) -> Doc:
        """`if … else if … else`: all its blocks are on one line, or none is."""
        branches: list[tuple[s.Expr | None, s.Block]] = [(item.test, item.then)]
        rest = item.otherwise
        while isinstance(rest, s.If):
            branches.append((rest.test, rest.then))
            rest = rest.otherwise
        if rest is not None:
            branches.append((None, rest))
        lists = [[self._item(i) for i in block.items] for _, block in branches]
        flat = not self._choices.has_comment(item.then.span.start, item.span.end) and all(
            self._may_be_flat(entries, block.span.start, block.span.end)
            for entries, (_, block) in zip(lists, branches, strict=True)
        )
        parts: list[Doc] = []
        for entries, (test, block) in zip(lists, branches, strict=True):
            head: list[Doc] = [] if test is None else ["if ", Nest(expression(test)), " "]
            body = self._braced(entries, block.span.start, block.span.end, flat=flat)
            parts.append(concat(*head, body))
        return Group(joined([" else "], parts))

    def _with_arms(self, node: s.Node, head: Doc, arms: Sequence[s.Arm]) -> Entry:
        entries = [self._headed(a, [_arm_head(a)], a.body) for a in arms]
        end = node.span.end
        return Entry(
            node.span.start,
            end,
            self._head_end(node, entries),
            lambda: concat(head, " ", self._list(entries, end)),
            binds=True,
        )


def _names(names: Sequence[s.Name]) -> str:
    return ", ".join(n.text for n in names)


def _token_row(row: s.ControlRow | s.AddedRow | s.TextRow | s.TokenRange) -> str:
    match row:
        case s.ControlRow(number, name, spelling, flags):
            return " ".join([f"{number} @{name} {quote(spelling)}", *(f.text for f in flags)])
        case s.AddedRow(number, text, flags):
            return " ".join([f"{number} {quote(text)}", *(f.text for f in flags)])
        case s.TextRow(number, text):
            return f"{number} {quote(text)}"
        case s.TokenRange(first, last, pattern, flags):
            return " ".join([f"{first} to {last} {quote(pattern)}", *(f.text for f in flags)])
        case _:
            assert_never(row)


def _each_head(item: s.Each) -> Doc:
    names = item.name.text + (f", {item.value_name.text}" if item.value_name else "")
    parts: list[Doc] = [f"each {names} in ", expression(item.source)]
    if item.condition is not None:
        parts += [Line(), "where ", expression(item.condition)]
    if item.join is not None:
        parts += [Line(), "join ", quote(item.join)]
    return Group(Nest(concat(*parts), 4))


def _arm_head(arm: s.Arm) -> Doc:
    parts: list[Doc] = ["when ", joined([", "], [_pattern(p) for p in arm.patterns])]
    if arm.then is not None:
        parts += [Line(), f"then {arm.then.text}*"]
    if arm.bound is not None:
        parts.append(f" as {arm.bound.text}")
    if arm.condition is not None:
        parts += [Line(), "where ", expression(arm.condition)]
    return Group(Nest(concat(*parts), 4))


def _field_text(field: s.FieldDecl) -> str:
    if isinstance(field.type, s.CarriedImage):
        return type_text(field.type)
    return f"{field.name.text}: {type_text(field.type)}" + "".join(f" also {name.text}" for name in field.also)


def _default(value: s.Expr | None) -> list[Doc]:
    return [] if value is None else [" = ", expression(value)]


def _pattern(pattern: s.ArmPattern) -> str:
    match pattern:
        case s.NamePattern(name):
            return name.text
        case s.RunPattern(name):
            return f"{name.text}+"
        case s.TextPattern(text):
            return quote(text)
        case s.OtherPattern():
            return "other"
        case _:
            assert_never(pattern)
