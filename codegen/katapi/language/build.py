"""Lark's parse tree → the syntax tree of `syntax.py`, one method a grammar rule."""

from __future__ import annotations

import re

from lark import Token, v_args
from lark.tree import Meta

from katapi.language import syntax as s
from katapi.language.build_base import RESERVED as RESERVED
from katapi.language.build_base import Children, LeftOut
from katapi.language.build_base import QuotedText as _Quoted
from katapi.language.build_base import Word as _Word
from katapi.language.build_base import all_of as _all
from katapi.language.build_base import one_of as _one
from katapi.language.build_base import one_or_none as _maybe
from katapi.language.build_images import ImageBuilder
from katapi.language.literals import LiteralError, split_block
from katapi.language.source import Span

__all__ = ["RESERVED", "LeftOut", "TreeBuilder"]

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def _exprs(children: Children) -> tuple[s.Expr, ...]:
    return tuple(c for c in children if isinstance(c, s.Expr))


def _items(children: Children) -> tuple[s.Item, ...]:
    return tuple(c for c in children if isinstance(c, s.Item))


def _types(children: Children) -> tuple[s.TypeRef, ...]:
    return tuple(c for c in children if isinstance(c, s.TypeRef))


def _patterns(children: Children) -> tuple[s.ArmPattern, ...]:
    return tuple(c for c in children if isinstance(c, s.ArmPattern))


class _Bare:
    """The word `bare` behind an artifact."""


@v_args(meta=True)
class TreeBuilder(ImageBuilder):
    """Builds nodes bottom-up."""

    # ---- declarations

    def file(self, meta: Meta, c: Children) -> s.File:
        declarations = tuple(d for d in c if isinstance(d, s.Declaration))
        shared = tuple(d for d in c if isinstance(d, s.Shared))
        return s.File(_all(c, s.Use), _all(c, s.Option), _all(c, s.Model), declarations, shared, span=self._span(meta))

    def use(self, meta: Meta, c: Children) -> s.Use:
        return s.Use(str(_one(c, _Quoted)), span=self._span(meta))

    def option(self, meta: Meta, c: Children) -> s.Option:
        default = _exprs(c)
        name = self._value_name(_one(c, s.Name))
        return s.Option(name, _types(c)[0], default[0] if default else None, span=self._span(meta))

    def option_value(self, meta: Meta, c: Children) -> s.OptionValue:
        return s.OptionValue(_one(c, s.Name), _exprs(c)[0], span=self._span(meta))

    def model(self, meta: Meta, c: Children) -> s.Model:
        return s.Model(str(_one(c, _Quoted)), _all(c, s.Use), _all(c, s.OptionValue), span=self._span(meta))

    def header(self, meta: Meta, c: Children) -> s.Header:
        return s.Header(_one(c, s.Name), str(_one(c, _Quoted)), span=self._span(meta))

    def artifact(self, meta: Meta, c: Children) -> s.ArtifactRef:
        name, *digest = map(str, _all(c, _Quoted))
        return s.ArtifactRef(
            name, digest[0] if digest else None, any(isinstance(x, _Bare) for x in c), span=self._span(meta)
        )

    def bare(self, meta: Meta, c: Children) -> _Bare:
        return _Bare()

    def size(self, meta: Meta, c: Children) -> s.SizeRow:
        return s.SizeRow(_one(c, int), span=self._span(meta))

    def control_row(self, meta: Meta, c: Children) -> s.ControlRow:
        name, *flags = _all(c, s.Name)
        return s.ControlRow(_one(c, int), name.text, str(_one(c, _Quoted)), tuple(flags), span=self._span(meta))

    def added_row(self, meta: Meta, c: Children) -> s.AddedRow:
        return s.AddedRow(_one(c, int), str(_one(c, _Quoted)), _all(c, s.Name), span=self._span(meta))

    def token_range(self, meta: Meta, c: Children) -> s.TokenRange:
        first, last = _all(c, int)
        return s.TokenRange(first, last, str(_one(c, _Quoted)), _all(c, s.Name), span=self._span(meta))

    def text_row(self, meta: Meta, c: Children) -> s.TextRow:
        return s.TextRow(_one(c, int), str(_one(c, _Quoted)), span=self._span(meta))

    def controls(self, meta: Meta, c: Children) -> s.ControlTable:
        rows = tuple(r for r in c if isinstance(r, (s.ControlRow, s.TokenRange)))
        return s.ControlTable(rows, span=self._span(meta))

    def added(self, meta: Meta, c: Children) -> s.AddedTable:
        rows = tuple(r for r in c if isinstance(r, (s.AddedRow, s.TokenRange)))
        return s.AddedTable(rows, span=self._span(meta))

    def texts(self, meta: Meta, c: Children) -> s.TextTable:
        return s.TextTable(_all(c, s.TextRow), span=self._span(meta))

    def unknown(self, meta: Meta, c: Children) -> s.UnknownRow | s.UnknownControl:
        name = _maybe(c, s.Name)
        if name is not None:
            return s.UnknownControl(name, span=self._span(meta))
        return s.UnknownRow(_one(c, int), str(_one(c, _Quoted)), span=self._span(meta))

    def unused(self, meta: Meta, c: Children) -> s.UnusedIds:
        first, *last = _all(c, int)
        return s.UnusedIds(first, last[0] if last else first, span=self._span(meta))

    def vocabulary(self, meta: Meta, c: Children) -> s.Vocabulary:
        items = tuple(i for i in c if isinstance(i, s.VocabularyItem))
        return s.Vocabulary(_one(c, s.Header), items, span=self._span(meta))

    def quoted(self, meta: Meta, c: Children) -> s.Quoted:
        return s.Quoted(str(_one(c, _Quoted)), span=self._span(meta))

    def number(self, meta: Meta, c: Children) -> s.Number:
        return s.Number(_one(c, int), span=self._span(meta))

    def regex(self, meta: Meta, c: Children) -> s.Regex:
        return s.Regex(_one(c, Token)[1:-1].replace("``", "`"), span=self._span(meta))

    def control_name(self, meta: Meta, c: Children) -> s.ControlName:
        return s.ControlName(_one(c, s.Name).text, span=self._span(meta))

    def part(self, meta: Meta, c: Children) -> s.Part:
        return s.Part(tuple(a for a in c if isinstance(a, s.Atom)), span=self._span(meta))

    def setting(self, meta: Meta, c: Children) -> s.Setting:
        return s.Setting(_one(c, s.Name), _all(c, s.Part), span=self._span(meta))

    def tokenizer(self, meta: Meta, c: Children) -> s.Tokenizer:
        return s.Tokenizer(_one(c, s.Header), _one(c, s.Name), _all(c, s.Setting), span=self._span(meta))

    def like(self, meta: Meta, c: Children) -> s.Name:
        return _one(c, s.Name)

    def serialization(self, meta: Meta, c: Children) -> s.Serialization:
        return s.Serialization(_one(c, s.Header), _maybe(c, s.Name), _all(c, s.Setting), span=self._span(meta))

    def budget(self, meta: Meta, c: Children) -> s.Budget:
        return s.Budget(_one(c, s.Header), _maybe(c, s.Name), _all(c, s.Setting), span=self._span(meta))

    # ---- request

    def named(self, meta: Meta, c: Children) -> s.NamedType:
        return s.NamedType(_one(c, s.Name), span=self._span(meta))

    def list_of(self, meta: Meta, c: Children) -> s.ListOf:
        return s.ListOf(_types(c)[0], span=self._span(meta))

    def optional(self, meta: Meta, c: Children) -> s.OptionalOf:
        return s.OptionalOf(_types(c)[0], span=self._span(meta))

    def choice(self, meta: Meta, c: Children) -> s.Choice:
        return s.Choice(tuple(str(v) for v in _all(c, _Quoted)), span=self._span(meta))

    def from_text(self, meta: Meta, c: Children) -> s.FromText:
        return s.FromText(_one(c, s.Name), _maybe(c, _Word) is not None, span=self._span(meta))

    def from_parts(self, meta: Meta, c: Children) -> s.FromParts:
        return s.FromParts(_one(c, s.Name), str(_one(c, _Quoted)), span=self._span(meta))

    def union(self, meta: Meta, c: Children) -> s.UnionOf:
        return s.UnionOf(_types(c), span=self._span(meta))

    def field(self, meta: Meta, c: Children) -> s.FieldDecl:
        name, *also = _all(c, s.Name)
        return s.FieldDecl(name, _types(c)[0], tuple(also), False, span=self._span(meta))

    def ignored(self, meta: Meta, c: Children) -> tuple[s.FieldDecl, ...]:
        return tuple(s.FieldDecl(f.name, f.type, f.also, True, span=f.span) for f in _all(c, s.FieldDecl))

    def carried_image(self, meta: Meta, _: Children) -> s.FieldDecl:
        return self._carried(s.MediaKind.IMAGE, meta)

    def carried_video(self, meta: Meta, _: Children) -> s.FieldDecl:
        return self._carried(s.MediaKind.VIDEO, meta)

    def _carried(self, kind: s.MediaKind, meta: Meta) -> s.FieldDecl:
        span = self._span(meta)
        return s.FieldDecl(s.Name(kind.value, span=span), s.CarriedImage(kind, span=span), (), False, span=span)

    @staticmethod
    def _fields(c: Children) -> tuple[s.FieldDecl, ...]:
        fields: list[s.FieldDecl] = []
        for child in c:
            if isinstance(child, s.FieldDecl):
                fields.append(child)
            elif isinstance(child, tuple):
                fields.extend(_all(child, s.FieldDecl))
        return tuple(fields)

    def role(self, meta: Meta, c: Children) -> s.RoleDecl:
        is_open = _maybe(c, _Word) is not None
        return s.RoleDecl(_all(c, s.Name), is_open, self._fields(c), _all(c, s.EntryIf), span=self._span(meta))

    def open_set(self, meta: Meta, c: Children) -> _Word:
        return _one(c, _Word)

    def record(self, meta: Meta, c: Children) -> s.RecordDecl:
        return s.RecordDecl(_one(c, s.Name), self._fields(c), _all(c, s.EntryIf), span=self._span(meta))

    def fields(self, meta: Meta, c: Children) -> s.Entries:
        entries: list[s.RequestEntry] = [*self._fields(c), *_all(c, s.EntryIf)]
        return s.Entries(tuple(sorted(entries, key=lambda e: e.span.start)), span=self._span(meta))

    def request_entries(self, meta: Meta, c: Children) -> s.Entries:
        return s.Entries(tuple(e for e in c if isinstance(e, s.RequestEntry)), span=self._span(meta))

    def request_if(self, meta: Meta, c: Children) -> s.EntryIf:
        then, *otherwise = [e for e in c if isinstance(e, (s.Entries, s.EntryIf))]
        assert isinstance(then, s.Entries)
        return s.EntryIf(_exprs(c)[0], then, otherwise[0] if otherwise else None, span=self._span(meta))

    field_if = request_if

    def tools(self, meta: Meta, c: Children) -> s.ToolsDecl:
        return s.ToolsDecl(_types(c)[0], span=self._span(meta))

    def documents(self, meta: Meta, c: Children) -> s.DocumentsDecl:
        return s.DocumentsDecl(_types(c)[0], span=self._span(meta))

    def param(self, meta: Meta, c: Children) -> s.ParamDecl:
        default = _exprs(c)
        name, *also = _all(c, s.Name)
        self._value_name(name)
        return s.ParamDecl(name, _types(c)[0], tuple(also), default[0] if default else None, span=self._span(meta))

    def request(self, meta: Meta, c: Children) -> s.Request:
        return s.Request(
            _one(c, s.Header),
            _all(c, s.Setting),
            _all(c, s.RoleDecl),
            _all(c, s.RecordDecl),
            _all(c, s.ToolsDecl),
            _all(c, s.DocumentsDecl),
            _all(c, s.ParamDecl),
            _all(c, s.EntryIf),
            span=self._span(meta),
        )

    # ---- template

    def template(self, meta: Meta, c: Children) -> s.Template:
        kinds = (s.Def, s.Generate, s.NoPrefix, s.Parse, s.Counter, s.Boundary, s.Item)
        parts = tuple(p for p in c if isinstance(p, kinds))
        return s.Template(_one(c, s.Header), _one(c, s.Name), parts, span=self._span(meta))

    def parameter(self, meta: Meta, c: Children) -> s.Parameter:
        return s.Parameter(self._value_name(_one(c, s.Name)), _types(c)[0], span=self._span(meta))

    def definition(self, meta: Meta, c: Children) -> s.Def:
        return s.Def(self._value_name(_one(c, s.Name)), _all(c, s.Parameter), _one(c, s.Block), span=self._span(meta))

    def generate(self, meta: Meta, c: Children) -> s.Generate:
        condition = _exprs(c)
        return s.Generate(condition[0] if condition else None, _one(c, s.Block), span=self._span(meta))

    def parse(self, meta: Meta, c: Children) -> s.Parse:
        condition = _exprs(c)
        name, body = self._value_name(_one(c, s.Name)), _one(c, s.Block)
        return s.Parse(name, condition[0] if condition else None, body, span=self._span(meta))

    def no_prefix(self, meta: Meta, c: Children) -> s.NoPrefix:
        return s.NoPrefix(span=self._span(meta))

    def counter(self, meta: Meta, c: Children) -> s.Counter:
        return s.Counter(self._value_name(_one(c, s.Name)), span=self._span(meta))

    def boundary(self, meta: Meta, c: Children) -> s.Boundary:
        return s.Boundary(_all(c, s.TextLiteral), _one(c, s.Answer), span=self._span(meta))

    def accepted(self, meta: Meta, c: Children) -> s.Answer:
        return s.Answer(s.AnswerKind.ACCEPT, None, span=self._span(meta))

    def rejected(self, meta: Meta, c: Children) -> s.Answer:
        return s.Answer(s.AnswerKind.REJECT, None, span=self._span(meta))

    def escaped(self, meta: Meta, c: Children) -> s.Answer:
        return s.Answer(s.AnswerKind.ESCAPE, str(_one(c, _Quoted)), span=self._span(meta))

    def block(self, meta: Meta, c: Children) -> s.Block:
        return s.Block(_items(c), span=self._span(meta))

    def BROKEN(self, token: Token) -> s.Broken:
        start = self._token_span(token).start
        end, words = self._left_out.get(start, (start + 1, frozenset()))
        return s.Broken((), words, span=Span(start, end))

    HEADLESS = BROKEN_ARM = HEADLESS_ARM = BROKEN

    def broken(self, meta: Meta, c: Children) -> s.Broken:
        head, *blocks = _items(c)
        assert isinstance(head, s.Broken)
        arms = tuple(arm.body for arm in _all(c, s.Arm))
        return s.Broken((*blocks, *arms), head.words, span=self._span(meta))

    def broken_arm(self, meta: Meta, c: Children) -> s.Arm:
        body = self.broken(meta, c)
        return s.Arm((), None, None, None, body, span=self._span(meta))

    def put(self, meta: Meta, c: Children) -> s.Put:
        return s.Put(_exprs(c)[0], span=self._span(meta))

    def block_text(self, meta: Meta, c: Children) -> s.BlockText | s.Broken:
        token = next(t for t in c if isinstance(t, Token))
        start = self._token_span(token).start
        parts: list[s.Expr] = []
        try:
            pieces = split_block(token)
        except LiteralError as error:
            self._literal_error(token, error)
            return s.Broken((), frozenset(_WORD.findall(token)), span=self._span(meta))
        for piece in pieces:
            place = start + piece.offset
            if not piece.interpolated:
                parts.append(s.TextLiteral(piece.text, span=Span(place, place + 1)))
                continue
            value, findings = self._parse_fragment(piece.text, place)
            self.findings.extend(findings)
            if value is not None:
                parts.append(value)
        if len(parts) < len(pieces):
            return s.Broken((), frozenset(_WORD.findall(token)), span=self._span(meta))
        return s.BlockText(tuple(parts), span=self._span(meta))

    def let(self, meta: Meta, c: Children) -> s.Let:
        return s.Let(self._value_name(_one(c, s.Name)), _exprs(c)[0], span=self._span(meta))

    def let_text(self, meta: Meta, c: Children) -> s.LetText:
        return s.LetText(self._value_name(_one(c, s.Name)), _one(c, s.Block), span=self._span(meta))

    def choose(self, meta: Meta, c: Children) -> s.If:
        blocks = tuple(b for b in c if isinstance(b, (s.Block, s.If)))
        then = blocks[0]
        assert isinstance(then, s.Block)
        return s.If(_exprs(c)[0], then, blocks[1] if len(blocks) > 1 else None, span=self._span(meta))

    def each(self, meta: Meta, c: Children) -> s.Each:
        name, value_name, source, condition, join, body = c
        assert isinstance(name, s.Name)
        assert value_name is None or isinstance(value_name, s.Name)
        assert isinstance(source, s.Expr)
        assert condition is None or isinstance(condition, s.Expr)
        assert isinstance(body, s.Block)
        self._value_name(name)
        if value_name is not None:
            self._value_name(value_name)
        text = str(join) if isinstance(join, _Quoted) else None
        return s.Each(name, value_name, source, condition, text, body, span=self._span(meta))

    def walk(self, meta: Meta, c: Children) -> s.Walk:
        return s.Walk(self._value_name(_one(c, s.Name)), _exprs(c)[0], _all(c, s.Arm), span=self._span(meta))

    def match_(self, meta: Meta, c: Children) -> s.Match:
        return s.Match(_exprs(c)[0], _all(c, s.Arm), span=self._span(meta))

    def arm(self, meta: Meta, c: Children) -> s.Arm:
        then, bound, condition, body = c[-4:]
        assert then is None or isinstance(then, s.Name)
        assert bound is None or isinstance(bound, s.Name)
        assert condition is None or isinstance(condition, s.Expr)
        assert isinstance(body, s.Block)
        if bound is not None:
            self._value_name(bound)
        return s.Arm(_patterns(c), then, bound, condition, body, span=self._span(meta))

    def name_pattern(self, meta: Meta, c: Children) -> s.NamePattern:
        return s.NamePattern(_one(c, s.Name), span=self._span(meta))

    def run_pattern(self, meta: Meta, c: Children) -> s.RunPattern:
        return s.RunPattern(_one(c, s.Name), span=self._span(meta))

    def other_name(self, meta: Meta, c: Children) -> s.Name:
        return s.Name("other", span=self._span(meta))

    def text_pattern(self, meta: Meta, c: Children) -> s.TextPattern:
        return s.TextPattern(str(_one(c, _Quoted)), span=self._span(meta))

    def other_pattern(self, meta: Meta, c: Children) -> s.OtherPattern:
        return s.OtherPattern(span=self._span(meta))

    def take(self, meta: Meta, c: Children) -> s.Take:
        *roles, bound = _all(c, s.Name)
        how = s.TakeHow(str(_one(c, _Word)))
        return s.Take(how, tuple(roles), self._value_name(bound), _maybe(c, s.Block), span=self._span(meta))

    def sampled(self, meta: Meta, c: Children) -> s.Sampled:
        return s.Sampled(_one(c, s.Block), span=self._span(meta))

    def joined(self, meta: Meta, c: Children) -> s.Joined:
        return s.Joined(str(_one(c, _Quoted)), _one(c, s.Block), span=self._span(meta))

    def image_of(self, meta: Meta, c: Children) -> s.ImageOf:
        kind = s.MediaKind(str(_one(c, _Word)))
        return s.ImageOf(kind, _exprs(c)[0], _maybe(c, s.Name), _one(c, s.Block), span=self._span(meta))

    def drop(self, meta: Meta, c: Children) -> s.Drop:
        return s.Drop(_exprs(c)[0], span=self._span(meta))

    def counter_from(self, meta: Meta, c: Children) -> s.CounterFrom:
        return s.CounterFrom(self._value_name(_one(c, s.Name)), _exprs(c)[0], span=self._span(meta))

    def advance(self, meta: Meta, c: Children) -> s.Advance:
        return s.Advance(_one(c, s.Name), span=self._span(meta))

    def reject(self, meta: Meta, c: Children) -> s.Reject:
        return s.Reject(str(_one(c, _Quoted)), span=self._span(meta))

    # ---- expressions

    def interpolation(self, meta: Meta, c: Children) -> s.Expr:
        return _exprs(c)[0]

    def group(self, meta: Meta, c: Children) -> s.Expr:
        return _exprs(c)[0]

    def control(self, meta: Meta, c: Children) -> s.ControlRef:
        return s.ControlRef(_one(c, s.Name).text, span=self._span(meta))

    def text_literal(self, meta: Meta, c: Children) -> s.TextLiteral:
        return s.TextLiteral(str(_one(c, _Quoted)), span=self._span(meta))

    def int_literal(self, meta: Meta, c: Children) -> s.IntLiteral:
        (value,) = c
        assert isinstance(value, int)
        return s.IntLiteral(value, span=self._span(meta))

    def bool_literal(self, meta: Meta, c: Children) -> s.BoolLiteral:
        return s.BoolLiteral(c[0] == "true", span=self._span(meta))

    def list_literal(self, meta: Meta, c: Children) -> s.ListLiteral:
        return s.ListLiteral(_exprs(c), span=self._span(meta))

    def pair(self, meta: Meta, c: Children) -> tuple[str, s.Expr]:
        return _one(c, s.Name).text, _exprs(c)[0]

    def object_literal(self, meta: Meta, c: Children) -> s.ObjectLiteral:
        pairs = tuple((str(p[0]), e) for p in _all(c, tuple) for e in _exprs(p))
        return s.ObjectLiteral(pairs, span=self._span(meta))

    def name_ref(self, meta: Meta, c: Children) -> s.NameRef:
        return s.NameRef(self._value_name(_one(c, s.Name)).text, span=self._span(meta))

    def field_ref(self, meta: Meta, c: Children) -> s.FieldRef:
        return s.FieldRef(_exprs(c)[0], _one(c, s.Name), span=self._span(meta))

    def method(self, meta: Meta, c: Children) -> s.MethodCall:
        base, *arguments = _exprs(c)
        return s.MethodCall(base, _one(c, s.Name), tuple(arguments), span=self._span(meta))

    def call(self, meta: Meta, c: Children) -> s.Call:
        return s.Call(_one(c, s.Name), _exprs(c), span=self._span(meta))

    def coalesce(self, meta: Meta, c: Children) -> s.Coalesce:
        return s.Coalesce(_exprs(c), span=self._span(meta))

    def as_(self, meta: Meta, c: Children) -> s.As:
        return s.As(_exprs(c)[0], _one(c, s.Name), span=self._span(meta))

    def conditional(self, meta: Meta, c: Children) -> s.Conditional:
        test, then, otherwise = _exprs(c)
        return s.Conditional(test, then, otherwise, span=self._span(meta))

    def or_(self, meta: Meta, c: Children) -> s.Or:
        return s.Or(_exprs(c), span=self._span(meta))

    def and_(self, meta: Meta, c: Children) -> s.And:
        return s.And(_exprs(c), span=self._span(meta))

    def not_(self, meta: Meta, c: Children) -> s.Not:
        return s.Not(_exprs(c)[0], span=self._span(meta))

    def compare(self, meta: Meta, c: Children) -> s.Compare:
        left, right = _exprs(c)
        return s.Compare(s.Operator(str(_one(c, _Word))), left, right, span=self._span(meta))

    def within(self, meta: Meta, c: Children) -> s.Within:
        value, container = _exprs(c)
        return s.Within(value, container, span=self._span(meta))

    def has(self, meta: Meta, c: Children) -> s.Has:
        container, value = _exprs(c)
        return s.Has(container, value, span=self._span(meta))

    @staticmethod
    def _negated(c: Children) -> bool:
        return any(isinstance(t, Token) and t.type == "NOT" for t in c)

    def is_kind(self, meta: Meta, c: Children) -> s.IsKind:
        return s.IsKind(_exprs(c)[0], _all(c, s.Name), self._negated(c), span=self._span(meta))

    def is_end(self, meta: Meta, c: Children) -> s.IsEnd:
        return s.IsEnd(_exprs(c)[0], s.End(str(_one(c, _Word))), self._negated(c), span=self._span(meta))

    def is_beside(self, meta: Meta, c: Children) -> s.IsBeside:
        value, other = _exprs(c)
        side = s.Side(str(_one(c, _Word)))
        return s.IsBeside(value, side, other, self._negated(c), span=self._span(meta))

    def given(self, meta: Meta, c: Children) -> s.Given:
        return s.Given(_exprs(c)[0], span=self._span(meta))

    def exists(self, meta: Meta, c: Children) -> s.Exists:
        return s.Exists(_exprs(c)[0], span=self._span(meta))

    def query(self, meta: Meta, c: Children) -> s.Query:
        source, condition = _exprs(c)
        quantifier, name = s.Quantifier(str(_one(c, _Word))), self._value_name(_one(c, s.Name))
        return s.Query(quantifier, name, source, _maybe(c, s.View), condition, span=self._span(meta))

    def view(self, meta: Meta, c: Children) -> s.View:
        return s.View(s.Side(str(_one(c, _Word))), _one(c, s.Name), span=self._span(meta))

    def beside(self, meta: Meta, c: Children) -> s.Beside:
        return s.Beside(s.Neighbour(str(_one(c, _Word))), _one(c, s.Name), span=self._span(meta))
