"""Text → syntax tree. With `build.py`, the only module that imports lark.

A syntax error does not hide the rest of the file: where the file does not parse, each declaration is read by itself, so
that all errors come in one run and the declarations without one are there.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from itertools import pairwise

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken
from lark.lexer import PatternRE, PatternStr, TerminalDef

from katapi.language import syntax as s
from katapi.language.build import TreeBuilder
from katapi.language.diagnostics import Diagnostic
from katapi.language.scanner import nested_deeper_than, unclosed_bracket
from katapi.language.source import Source, Span

# A declaration as error recovery sees it: its first word at the start of a line, and more of a header behind.
_DECLARATION = re.compile(
    r"^(?:vocabulary|tokenizer|serialization|request|template|budget)\b(?=[^\n]*(?:\bversion\b|\{))", re.MULTILINE
)
# All passes over the tree are recursive; these bounds keep them off Python's recursion limit.
_MOST_BRACKETS = 100
_MOST_LEVELS = 200
_WORD_END = r"\b"
_READABLE = {
    "NAME": "a name",
    "FIELD": "a field name",
    "KEY": "a key and `:`",
    "STRING": "a quoted text",
    "INT": "a number",
    "BOOL": "`true` or `false`",
    "BLOCKTEXT": 'a """ text',
    "RAW": "a pattern in backquotes",
    "CONTROL": "a control token such as `@bos`",
    "COMPARE": "a comparison",
    "HOW": "`leading` or `all`",
    "END": "`first` or `last`",
    "SIDE": "`after` or `before`",
    "QUANTIFIER": "a query (`any`, `all`, `count`, `first`, `last`)",
    "NEIGHBOUR": "`prev` or `next`",
    "VERBATIM": "`verbatim`",
    "TOOLS": "`tools:`",
    "$END": "the end of the file",
}


def _whole_word(terminal: TerminalDef) -> None:
    """A keyword ends where the word ends, and stands before a name in a state that admits both."""
    if isinstance(terminal.pattern, PatternStr) and terminal.pattern.value.isalpha():
        terminal.pattern = PatternRE(terminal.pattern.value + _WORD_END)
        terminal.priority = 1


@cache
def grammar(*, strict: bool = False) -> Lark:
    """The parser of `grammar.lark`.

    `strict` also looks for LALR(1) conflicts and for terminals that collide, raises lark's GrammarError or LexError
    where there are any, and needs the package `interegular`.
    """
    text = files("katapi.language").joinpath("grammar.lark").read_text(encoding="utf-8")
    return Lark(
        text,
        parser="lalr",
        lexer="contextual",
        propagate_positions=True,
        maybe_placeholders=True,
        start=["file", "interpolation"],
        edit_terminals=_whole_word,
        strict=strict,
    )


def parse(source: Source) -> tuple[s.File, list[Diagnostic]]:
    """The declarations of a file that can be read, and the findings about the others, in source order."""
    node, findings = _read(source.text, 0, "file")
    if not findings:
        assert isinstance(node, s.File)
        return node, []
    pieces = _pieces(source.text)
    results = [(node, findings)]
    if len(pieces) > 1:
        results = [_read(source.text[start:end], start, "file") for start, end in pieces]
    declarations = [d for node, errors in results if isinstance(node, s.File) for d in _sound(node, errors)]
    whole = s.File(tuple(declarations), span=Span(0, len(source.text)))
    return whole, [error for _, errors in results for error in errors]


def _sound(node: s.File, errors: list[Diagnostic]) -> list[s.Declaration]:
    """The declarations in which no finding stands."""
    spoilt = [e.span.start for e in errors]
    return [d for d in node.declarations if not any(d.span.start <= at < d.span.end for at in spoilt)]


def _pieces(text: str) -> list[tuple[int, int]]:
    """The file cut before each declaration, as (start, end)."""
    cuts = [0, *(m.start() for m in _DECLARATION.finditer(text) if m.start() > 0), len(text)]
    return list(pairwise(cuts))


def _fragment(text: str, base: int) -> tuple[s.Expr | None, list[Diagnostic]]:
    """The expression or control token in a `${…}` that begins at offset `base` of the file."""
    node, findings = _read(text, base, "interpolation")
    return (node if isinstance(node, s.Expr) else None), findings


def _read(text: str, base: int, start: str) -> tuple[object, list[Diagnostic]]:
    """The node that a rule of the grammar makes of a text which stands at offset `base` of the file."""
    deep = nested_deeper_than(text, _MOST_BRACKETS)
    if deep is not None:
        return None, [_too_deep(base + deep)]
    try:
        tree = grammar().parse(text, start=start)
    except UnexpectedInput as error:
        return None, [_syntax_error(error, text, base, start)]
    deep = _deeper_than(tree, _MOST_LEVELS)
    if deep is not None:
        return None, [_too_deep(base + deep)]
    builder = TreeBuilder(base, _fragment)
    return builder.transform(tree), builder.findings


def _deeper_than(tree: Tree[Token], limit: int) -> int | None:
    """The offset of a node that stands below `limit` others, found without recursion."""
    level = [tree]
    for _ in range(limit):
        level = [child for node in level for child in node.children if isinstance(child, Tree)]
    return level[0].meta.start_pos if level else None


def _too_deep(offset: int) -> Diagnostic:
    return Diagnostic("K003", Span(offset, offset + 1), "nested too deeply", help="name parts with `let` or `def`")


def _syntax_error(error: UnexpectedInput, text: str, base: int, start: str) -> Diagnostic:
    if isinstance(error, UnexpectedCharacters):
        rest = text.split("\n", error.line - 1)[-1]
        at = len(text) - len(rest) + error.column - 1
        length, message = _unreadable(text, at)
        return Diagnostic("K001", Span(base + at, base + at + length), message)
    if isinstance(error, UnexpectedToken) and error.token.type != "$END":
        at = error.token.start_pos or 0
        span = Span(base + at, base + at + len(error.token))
        return Diagnostic("K001", span, f"unexpected {_shown(error.token)}", help=_expected(error.expected))
    bracket = unclosed_bracket(text)
    if bracket is not None:
        span = Span(base + bracket, base + bracket + 1)
        return Diagnostic("K001", span, f"this `{text[bracket]}` is never closed")
    end = len(text.rstrip())
    what = "the expression in ${…}" if start == "interpolation" else "the declaration"
    expected = error.expected if isinstance(error, UnexpectedToken) else set()
    return Diagnostic(
        "K001", Span(base + max(0, end - 1), base + end), f"{what} ends too early", help=_expected(expected)
    )


def _unreadable(text: str, at: int) -> tuple[int, str]:
    """Length and message for characters that begin no token."""
    if text.startswith('"""', at):
        return 3, 'this """ text does not end'
    if text[at] in "\"'":
        return 1, "this quoted text does not end on its line"
    if text[at] == "`":
        return 1, "this pattern does not end on its line"
    return 1, f"unexpected character `{text[at]}`"


def _shown(token: Token) -> str:
    if token.type == "BLOCKTEXT":
        return '""" text'
    return f"`{token}`" if len(token) <= 40 else f"`{token[:40]}…`"


def _expected(terminals: set[str]) -> str:
    names = sorted({_readable(t) for t in terminals})
    if not names or len(names) > 8:
        return ""
    return "expected " + (names[0] if len(names) == 1 else ", ".join(names[:-1]) + " or " + names[-1])


def _readable(terminal: str) -> str:
    if terminal in _READABLE:
        return _READABLE[terminal]
    return f"`{grammar().get_terminal(terminal).pattern.value.removesuffix(_WORD_END)}`"
