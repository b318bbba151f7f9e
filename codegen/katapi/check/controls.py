"""No literal spells a control token: what looks like one in a template is text, and the model would not see the token.

K601: one literal spells a control token. K602: literals that are printed one after the other spell one together.
Only what is printed counts; a text that is searched for may spell one. Content, a control token or a number in between
parts two literals. Branches, loops and calls are followed; the items of a list are taken in any order.
"""

from __future__ import annotations

from collections.abc import Iterable

from katapi.check.traverse import all_statements, let_values, value_parts
from katapi.language.diagnostics import Diagnostic
from katapi.language.source import Span
from katapi.model import template as t
from katapi.model.declarations import ControlToken
from katapi.model.program import Program
from katapi.model.types import TextType, Trust

#: What literals have printed so far that may be the beginning of a control token; empty after anything else.
Tails = frozenset[str]
_NOTHING: Tails = frozenset({""})


def check(program: Program) -> list[Diagnostic]:
    """The findings about literals."""
    seams = _Seams(program)
    seams.template()
    return [*_whole(program), *seams.found.values()]


def _spelled(text: str, program: Program) -> list[ControlToken]:
    return [c for c in program.vocabulary.controls if c.spelling and c.spelling in text]


def _finding(code: str, span: Span, message: str, token: ControlToken) -> Diagnostic:
    return Diagnostic(
        code,
        span,
        f"{message} the control token `{token.spelling}`, and would be printed as text",
        "text, not a token",
        f"write `@{token.name}`",
    )


def _whole(program: Program) -> list[Diagnostic]:
    found: dict[Span, Diagnostic] = {}
    for statement in all_statements(program.template):
        separator, word = _separator(statement)
        for token in _spelled(separator, program):
            found.setdefault(statement.span, _finding("K601", statement.span, f"the text after `{word}` spells", token))
        for constant in _printed(statement):
            for token in _spelled(constant.text, program):
                found.setdefault(constant.span, _finding("K601", constant.span, "this literal spells", token))
    return list(found.values())


def _separator(statement: t.Statement) -> tuple[str, str]:
    """The text that a statement prints between others, and the word it stands behind."""
    match statement:
        case t.Each(join=str() as join):
            return join, "join"
        case t.Joined(separator=separator):
            return separator, "joined"
        case _:
            return "", ""


def _printed(statement: t.Statement) -> Iterable[t.TextConst]:
    """The literals in the values that a statement prints, passes on or keeps."""
    match statement:
        case t.Print(value=value) | t.Let(value=value):
            values: tuple[t.Expr, ...] = (value,)
        case t.CallDef(arguments=arguments):
            values = arguments
        case _:
            return
    open_values = list(values)
    while open_values:
        value = open_values.pop()
        if isinstance(value, t.TextConst):
            yield value
        open_values.extend(value_parts(value))


class _Seams:
    def __init__(self, program: Program) -> None:
        self._program = program
        self._lets = let_values(program.template)
        self._lists = {
            loop.item.number: loop.source for loop in all_statements(program.template) if isinstance(loop, t.Each)
        }
        self._captures = {
            kept.variable.number: kept.body for kept in all_statements(program.template) if isinstance(kept, t.Capture)
        }
        self._definitions = {d.name: d for d in program.template.definitions}
        self._tokens = [c for c in program.vocabulary.controls if len(c.spelling) > 1]
        self._prefixes = {c.spelling[:n] for c in self._tokens for n in range(1, len(c.spelling))}
        self._longest = max((len(c.spelling) for c in self._tokens), default=0)
        self._calls: dict[tuple[str, Tails], Tails] = {}
        self._blocks: dict[tuple[int, Tails], Tails] = {}
        self.found: dict[tuple[Span, str], Diagnostic] = {}

    def template(self) -> None:
        """The body, and after it the generation prefix."""
        after = self._block(self._program.template.body, _NOTHING)
        for generate in self._program.template.generates:
            self._block(generate.body, after)
        for parse in self._program.template.parses:
            self._block(parse.body, _NOTHING)

    def _block(self, block: t.Block, tails: Tails) -> Tails:
        """The tails after a block; remembered, since a loop goes through its body until nothing changes."""
        key = (id(block), tails)
        if key not in self._blocks:
            after = tails
            for statement in block.statements:
                after = self._statement(statement, after)
            self._blocks[key] = after
        return self._blocks[key]

    def _statement(self, statement: t.Statement, tails: Tails) -> Tails:
        match statement:
            case t.Print(value=value):
                return self._print(value, tails)
            case t.Unsure():
                return _NOTHING
            case t.Block() as block:
                return self._block(block, tails)
            case t.Sampled(body=body):
                return self._block(body, tails)
            case t.If(then=then, otherwise=otherwise):
                return self._block(then, tails) | (tails if otherwise is None else self._block(otherwise, tails))
            case t.Match(arms=arms):
                return frozenset().union(*(self._block(arm.body, tails) for arm in arms))
            case t.Each():
                return self._rounds([statement.body], tails, statement.join or "", statement.span)
            case t.Walk(arms=walk_arms):
                return self._rounds([arm.body for arm in walk_arms], tails, "", statement.span)
            case t.ImageOf(body=body):
                return self._block(body, tails) | _NOTHING
            case t.Joined(separator=separator, body=body):
                return self._joined(separator, body, tails, statement.span)
            case t.Take(otherwise=otherwise):
                return tails if otherwise is None else tails | self._block(otherwise, tails)
            case t.CallDef(name=name):
                return self._call(name, tails)
            case t.Reject():
                return frozenset()
            case t.Capture(body=body):
                self._block(body, _NOTHING)
                return tails
            case t.Let() | t.Drop() | t.Begin() | t.Advance():
                return tails

    def _rounds(self, bodies: list[t.Block], tails: Tails, join: str, span: Span) -> Tails:
        """The tails after any number of rounds of a loop."""
        begin = tails
        after: Tails = frozenset()
        while True:
            ends = frozenset().union(*(self._block(body, begin) for body in bodies))
            if ends <= after:
                return tails | after
            after |= ends
            begin = begin | self._append({join}, after, span)

    def _joined(self, separator: str, body: t.Block, tails: Tails, span: Span) -> Tails:
        """The tails after statements of which any may print nothing."""
        after: Tails = frozenset()
        for statement in body.statements:
            after |= self._statement(statement, tails | self._append({separator}, after, span))
        return after if body.statements else tails

    def _call(self, name: str, tails: Tails) -> Tails:
        """The tails after a def; one that calls itself is followed until nothing new comes out."""
        key = (name, tails)
        if key in self._calls:
            return self._calls[key]
        self._calls[key] = frozenset()
        while True:
            after = self._block(self._definitions[name].body, tails)
            if after <= self._calls[key]:
                return self._calls[key]
            self._calls[key] |= after

    def _print(self, value: t.Expr, tails: Tails) -> Tails:
        kept = value
        while isinstance(kept, t.Var) and kept.variable.number in self._lets:
            kept = self._lets[kept.variable.number]
        if isinstance(kept, t.Var) and kept.variable.number in self._captures:
            return self._block(self._captures[kept.variable.number], tails)
        texts = self._texts(value)
        literals = {text for text in texts if text is not None}
        after = self._append(literals, tails, value.span) if literals else frozenset()
        return after | _NOTHING if None in texts else after

    def _texts(self, value: t.Expr) -> set[str | None]:
        """The literals that a value may be; None stands for everything else."""
        match value:
            case t.TextConst(text=text):
                return {text}
            case t.RoleOf(type=TextType(trust=Trust.LITERAL, choices=choices)) if choices is not None:
                return set(choices)
            case t.Var(variable=variable) if variable.number in self._lets:
                return self._texts(self._lets[variable.number])
            case t.Var(variable=variable) if variable.number in self._lists:
                return self._items(self._lists[variable.number])
            case t.Conditional() | t.Coalesce():
                return set().union(*(self._texts(part) for part in value_parts(value)))
            case _:
                return {None}

    def _items(self, source: t.Expr) -> set[str | None]:
        """The literals that may be in a list."""
        match source:
            case t.Var(variable=variable) if variable.number in self._lets:
                return self._items(self._lets[variable.number])
            case t.ListConst(items=items):
                return set().union(*(self._texts(item) for item in items))
            case t.Conditional() | t.Coalesce():
                return set().union(*(self._items(part) for part in value_parts(source)))
            case _:
                return {None}

    def _append(self, texts: Iterable[str], tails: Tails, span: Span) -> Tails:
        out: set[str] = set()
        for text in texts:
            for tail in tails:
                both = tail + text
                for token in self._tokens:
                    at = both.find(token.spelling, 0, len(tail) + len(token.spelling) - 1)
                    if 0 <= at < len(tail) < at + len(token.spelling):
                        self._report(span, token)
                out.add(self._tail(both))
        return frozenset(out)

    def _tail(self, text: str) -> str:
        """The longest end of a text with which a control token begins."""
        for length in range(min(len(text), self._longest - 1), 0, -1):
            if text[-length:] in self._prefixes:
                return text[-length:]
        return ""

    def _report(self, span: Span, token: ControlToken) -> None:
        finding = _finding("K602", span, "with the literal before it this spells", token)
        self.found.setdefault((span, token.name), finding)
