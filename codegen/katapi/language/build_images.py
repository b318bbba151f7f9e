"""Lark's parse tree → formulas and images of the syntax tree, one method a grammar rule."""

from __future__ import annotations

import math

from lark import Token, v_args
from lark.tree import Meta

from katapi.language import syntax as s
from katapi.language import syntax_formulas as f
from katapi.language import syntax_images as i
from katapi.language.build_base import Children, NodeBuilder, QuotedText, Word, all_of, one_of, one_or_none
from katapi.language.diagnostics import Diagnostic
from katapi.language.syntax_types import MediaKind

# What a term may begin or go on with: as the name of a value it would be read as that.
RESERVED_IN_TERMS = frozenset(
    "all and any bisect by each else false first for from give if in last least let most not or output placeholder"
    " range reject repeat size source then to tokens true until when where".split()
)
#: Names that the language gives itself, so that a term may use them.
_GIVEN = frozenset({"range", "size", "source"})


def _terms(children: Children) -> tuple[f.Term, ...]:
    return tuple(c for c in children if isinstance(c, f.Term))


@v_args(meta=True)
class ImageBuilder(NodeBuilder):
    """Builds the nodes of formulas and images."""

    def _term_name(self, name: s.Name) -> s.Name:
        """A name that is chosen for a value, which no reserved word can be."""
        if name.text in RESERVED_IN_TERMS:
            message = f"`{name.text}` is a word of the language and names no value"
            self.findings.append(Diagnostic("K004", name.span, message, help="choose another name"))
        return name

    # ---- tokens

    def REAL(self, token: Token) -> float:
        value = float(token)
        if math.isinf(value):
            self.findings.append(Diagnostic("K002", self._token_span(token), "this number is too large for a real"))
        return value

    def PICK(self, token: Token) -> Word:
        return Word(token)

    SIGN = FACTOR = PICK

    # ---- formulas

    def formula(self, meta: Meta, c: Children) -> s.Formula:
        name, *_ = all_of(c, s.Name)
        (result,) = (t for t in c if isinstance(t, s.TypeRef))
        items = tuple(x for x in c if isinstance(x, f.FormulaItem))
        parameters = all_of(c, f.FormulaParameter)
        return s.Formula(self._term_name(name), parameters, result, items, span=self._span(meta))

    def formula_parameter(self, meta: Meta, c: Children) -> f.FormulaParameter:
        (of,) = (t for t in c if isinstance(t, s.TypeRef))
        return f.FormulaParameter(self._term_name(one_of(c, s.Name)), of, span=self._span(meta))

    def formula_let(self, meta: Meta, c: Children) -> f.FormulaLet:
        return f.FormulaLet(self._term_name(one_of(c, s.Name)), _terms(c)[0], span=self._span(meta))

    def refuse(self, meta: Meta, c: Children) -> f.Refuse:
        return f.Refuse(str(one_of(c, QuotedText)), _terms(c)[0], span=self._span(meta))

    def give(self, meta: Meta, c: Children) -> f.Give:
        value, *condition = _terms(c)
        return f.Give(value, condition[0] if condition else None, span=self._span(meta))

    # ---- images

    def image(self, meta: Meta, c: Children) -> s.Image:
        return self._of_kind(MediaKind.IMAGE, meta, c)

    def video(self, meta: Meta, c: Children) -> s.Image:
        return self._of_kind(MediaKind.VIDEO, meta, c)

    def audio(self, meta: Meta, c: Children) -> s.Image:
        return self._of_kind(MediaKind.AUDIO, meta, c)

    def _of_kind(self, kind: MediaKind, meta: Meta, c: Children) -> s.Image:
        items = tuple(x for x in c if isinstance(x, i.ImageItem))
        return s.Image(kind, one_of(c, s.Header), one_or_none(c, s.Name), items, span=self._span(meta))

    def arrival(self, meta: Meta, c: Children) -> i.Arrival:
        return i.Arrival(one_of(c, s.Name), all_of(c, s.Setting), span=self._span(meta))

    def image_param(self, meta: Meta, c: Children) -> i.ImageParam:
        types = [t for t in c if isinstance(t, s.TypeRef)]
        name = self._term_name(one_of(c, s.Name))
        return i.ImageParam(name, types[0] if types else None, _terms(c)[0], span=self._span(meta))

    def numbers(self, meta: Meta, c: Children) -> i.Numbers:
        return i.Numbers(_terms(c)[0], span=self._span(meta))

    def output(self, meta: Meta, c: Children) -> i.Output:
        return i.Output(one_of(c, s.Name), all_of(c, s.Part), _terms(c)[0], span=self._span(meta))

    def token_count(self, meta: Meta, c: Children) -> i.TokenCount:
        return i.TokenCount(one_or_none(c, s.Name), _terms(c)[0], span=self._span(meta))

    def image_control(self, meta: Meta, c: Children) -> i.ImageControl:
        name, *parameters = all_of(c, s.Name)
        for parameter in parameters:
            self._term_name(parameter)
        return i.ImageControl(name, tuple(parameters), str(one_of(c, QuotedText)), span=self._span(meta))

    def image_controls(self, meta: Meta, c: Children) -> i.ImageControls:
        return i.ImageControls(all_of(c, i.ImageControl), span=self._span(meta))

    def placeholder(self, meta: Meta, c: Children) -> i.Placeholder:
        return i.Placeholder(one_of(c, i.MarkBlock), span=self._span(meta))

    def mark_block(self, meta: Meta, c: Children) -> i.MarkBlock:
        return i.MarkBlock(tuple(x for x in c if isinstance(x, i.Mark)), span=self._span(meta))

    def mark_control(self, meta: Meta, c: Children) -> i.MarkControl:
        return i.MarkControl(one_of(c, s.Name), _terms(c), span=self._span(meta))

    def mark_text(self, meta: Meta, c: Children) -> i.MarkText:
        return i.MarkText(str(one_of(c, QuotedText)), span=self._span(meta))

    def mark_number(self, meta: Meta, c: Children) -> i.MarkNumber:
        return i.MarkNumber(_terms(c)[0], one_of(c, int), span=self._span(meta))

    def mark_each(self, meta: Meta, c: Children) -> i.MarkEach:
        name, body = self._term_name(one_of(c, s.Name)), one_of(c, i.MarkBlock)
        return i.MarkEach(name, _terms(c)[0], body, span=self._span(meta))

    def mark_repeat(self, meta: Meta, c: Children) -> i.MarkRepeat:
        return i.MarkRepeat(_terms(c)[0], one_of(c, i.MarkBlock), span=self._span(meta))

    def mark_if(self, meta: Meta, c: Children) -> i.MarkIf:
        then, *otherwise = [x for x in c if isinstance(x, i.MarkBlock | i.MarkIf)]
        assert isinstance(then, i.MarkBlock)
        return i.MarkIf(_terms(c)[0], then, otherwise[0] if otherwise else None, span=self._span(meta))

    # ---- terms

    def number_term(self, meta: Meta, c: Children) -> f.Number:
        (value,) = c
        assert isinstance(value, int | float)
        return f.Number(value, span=self._span(meta))

    def truth_term(self, meta: Meta, c: Children) -> f.Truth:
        return f.Truth(c[0] == "true", span=self._span(meta))

    def ref_term(self, meta: Meta, c: Children) -> f.Ref:
        name = one_of(c, s.Name)
        return f.Ref(name if name.text in _GIVEN else self._term_name(name), span=self._span(meta))

    def member_term(self, meta: Meta, c: Children) -> f.Member:
        return f.Member(_terms(c)[0], one_of(c, s.Name), span=self._span(meta))

    def item_term(self, meta: Meta, c: Children) -> f.Item:
        base, index = _terms(c)
        return f.Item(base, index, span=self._span(meta))

    def apply_term(self, meta: Meta, c: Children) -> f.Apply:
        return f.Apply(one_of(c, s.Name), _terms(c), span=self._span(meta))

    def listed_term(self, meta: Meta, c: Children) -> f.Listed:
        return f.Listed(_terms(c), span=self._span(meta))

    def loop(self, meta: Meta, c: Children) -> f.Loop:
        return f.Loop(self._term_name(one_of(c, s.Name)), _terms(c)[0], span=self._span(meta))

    def collected_term(self, meta: Meta, c: Children) -> f.Collected:
        item, *condition = _terms(c)
        loops = all_of(c, f.Loop)
        return f.Collected(item, loops, condition[0] if condition else None, span=self._span(meta))

    def pick_term(self, meta: Meta, c: Children) -> f.Pick:
        word, name, source, condition, key = c
        assert isinstance(word, Word)
        assert isinstance(name, s.Name)
        assert isinstance(source, f.Term)
        assert condition is None or isinstance(condition, f.Term)
        assert key is None or isinstance(key, f.Term)
        return f.Pick(f.Choice(str(word)), self._term_name(name), source, condition, key, span=self._span(meta))

    def bisect_term(self, meta: Meta, c: Children) -> f.Bisect:
        low, high, width, condition = _terms(c)
        name = self._term_name(one_of(c, s.Name))
        return f.Bisect(name, low, high, width, condition, span=self._span(meta))

    def when_term(self, meta: Meta, c: Children) -> f.When:
        test, then, otherwise = _terms(c)
        return f.When(test, then, otherwise, span=self._span(meta))

    def any_term(self, meta: Meta, c: Children) -> f.AnyOf:
        return f.AnyOf(_terms(c), span=self._span(meta))

    def all_term(self, meta: Meta, c: Children) -> f.AllOf:
        return f.AllOf(_terms(c), span=self._span(meta))

    def not_term(self, meta: Meta, c: Children) -> f.NotOf:
        return f.NotOf(_terms(c)[0], span=self._span(meta))

    def comparison_term(self, meta: Meta, c: Children) -> f.Comparison:
        left, right = _terms(c)
        return f.Comparison(s.Operator(str(one_of(c, Word))), left, right, span=self._span(meta))

    def binary_term(self, meta: Meta, c: Children) -> f.Binary:
        left, right = _terms(c)
        return f.Binary(f.Sign(str(one_of(c, Word))), left, right, span=self._span(meta))

    def negative_term(self, meta: Meta, c: Children) -> f.Negative:
        return f.Negative(_terms(c)[0], span=self._span(meta))

    def term_group(self, meta: Meta, c: Children) -> f.Term:
        return _terms(c)[0]
