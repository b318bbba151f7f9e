"""The functions of the language, on texts and dates: a closed set."""

from __future__ import annotations

from katapi.language import syntax as s
from katapi.model import template as t
from katapi.model.resolve.findings import Findings, nearest
from katapi.model.types import CONTENT, LITERAL, BoolType, DateType, TextType, describe
from katapi.runtime.dates import DIRECTIVE, DIRECTIVES

_CUTS = {k.value: k for k in t.CutKind}
_TRIMS = (t.CutKind.TRIM, t.CutKind.TRIM_START, t.CutKind.TRIM_END)
_REWRITES = {k.value: k for k in t.RewriteKind}
_TESTS = {k.value: k for k in (t.TextTestKind.STARTS_WITH, t.TextTestKind.ENDS_WITH)}
_NAMES = (*_CUTS, *_REWRITES, *_TESTS, "format")


class Functions:
    """Resolves calls of functions on values."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings

    def known(self, node: s.MethodCall) -> str:
        """The name of the function, which there is."""
        name = node.name.text
        if name == "sorted":
            raise self._findings.fail(
                "K211",
                node.span,
                "`sorted()` is the order of a loop, and no value",
                help="write it behind the `in` of a loop: `each x in xs.sorted() { … }`",
            )
        if name not in _NAMES:
            help = nearest(name, [*_NAMES, "sorted"])
            raise self._findings.fail("K113", node.name.span, f"there is no function `{name}`", help=help)
        return name

    def call(self, node: s.MethodCall, base: t.Expr) -> t.Expr:
        """A call on a value that is there: a text, or for `format` whatever stands there."""
        name = node.name.text
        if name == "format":
            return self._format(node, base)
        assert isinstance(base.type, TextType), "the caller insists on a text"
        of = TextType(base.type.trust)
        if name in _REWRITES:
            return self._rewrite(node, _REWRITES[name], base, of)
        optional_argument = name in {k.value for k in _TRIMS}
        if len(node.arguments) > 1 or (not node.arguments and not optional_argument):
            count = "at most one" if optional_argument else "one"
            raise self._findings.fail("K114", node.span, f"`{name}` takes {count} text")
        argument = self._written(node, node.arguments[0]) if node.arguments else None
        if argument is not None:
            self._not_empty(node, argument)
        sought = None if argument is None else argument.text
        if name in _TESTS:
            return t.TextTest(_TESTS[name], base, sought or "", type=BoolType(), span=node.span)
        return t.Cut(_CUTS[name], base, sought, type=of, span=node.span)

    def _written(self, node: s.MethodCall, argument: s.Expr) -> t.TextConst:
        if not isinstance(argument, s.TextLiteral):
            raise self._findings.fail(
                "K201", argument.span, f"`{node.name.text}` takes a text that is written in the template"
            )
        return t.TextConst(argument.text, type=LITERAL, span=argument.span)

    def _not_empty(self, node: s.MethodCall, argument: t.TextConst) -> None:
        if not argument.text:
            raise self._findings.fail("K201", argument.span, f"`{node.name.text}` cannot look for an empty text")

    def _rewrite(self, node: s.MethodCall, kind: t.RewriteKind, base: t.Expr, of: TextType) -> t.Expr:
        wanted = 2 if kind in (t.RewriteKind.REPLACE, t.RewriteKind.WITHOUT) else 0
        if len(node.arguments) != wanted:
            count = "two texts" if wanted else "no value"
            raise self._findings.fail("K114", node.span, f"`{kind.value}` takes {count}")
        texts = tuple(self._written(node, argument) for argument in node.arguments)
        for sought in texts[:1] if kind is t.RewriteKind.REPLACE else texts:
            self._not_empty(node, sought)
        return t.Rewrite(kind, base, texts, type=of, span=node.span)

    def _format(self, node: s.MethodCall, base: t.Expr) -> t.Expr:
        if not isinstance(base.type, DateType):
            raise self._findings.fail(
                "K201", node.base.span, f"`format` works on a date, and this is {describe(base.type)}"
            )
        if len(node.arguments) != 1:
            raise self._findings.fail("K114", node.span, "`format` takes one text")
        pattern = self._written(node, node.arguments[0])
        for directive in DIRECTIVE.findall(pattern.text):
            if directive not in DIRECTIVES:
                message = f"`{directive}` is no directive of a date" + ("; a percent sign is `%%`" * (directive == "%"))
                help = f"there are {' '.join(DIRECTIVES)}"
                raise self._findings.fail("K212", pattern.span, message, help=help)
        return t.FormatDate(base, pattern, type=CONTENT, span=node.span)
