"""Text → syntax tree. With `build.py`, the only module that imports lark.

A syntax error does not hide the rest of the file: where the file does not parse, each declaration is read by itself,
and in it what can be read (`recovery.py`), so that all errors come in one run.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from functools import cache
from importlib.resources import files
from itertools import pairwise

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken
from lark.lexer import PatternRE, PatternStr, TerminalDef

from katapi.language import mistakes
from katapi.language import syntax as s
from katapi.language.balance import MARKS
from katapi.language.build import LeftOut, TreeBuilder
from katapi.language.diagnostics import Diagnostic
from katapi.language.draft import Draft
from katapi.language.mistakes import Mistake
from katapi.language.nodes import nodes
from katapi.language.recovery import expected, misplaced_word, position, recover, shown
from katapi.language.scanner import nested_deeper_than, unclosed_bracket
from katapi.language.source import Source, Span

# A declaration as error recovery sees it: its first word at the start of a line, and more of a header behind.
_DECLARATION = re.compile(
    r"^(?:(?:vocabulary|tokenizer|serialization|request|template|budget|image|video|audio)\b(?=[^\n]*(?:\bversion\b|\{))"
    r"|(?:model|record)\b(?=[^\n]*\{)|(?:def|formula)\b(?=[^\n]*\()|option\s+\w+\s*:)",
    re.MULTILINE,
)
#: Words that are no names of fields, roles, records, parameters or defs.
_NO_NAMES = frozenset("role record param ignore def text json object bool int from verbatim true false".split())
# All passes over the tree are recursive; these bounds keep them off Python's recursion limit.
_MOST_BRACKETS = 100
_MOST_LEVELS = 200
_WORD_END = r"\b"
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NAMED = re.compile(
    r"\b(?:let|counter|each|param|as|any|all|count|first|last)(?:\s|#.*\n)+([A-Za-z_]\w*)|,\s*([A-Za-z_]\w*)\s+in\b|([A-Za-z_]\w*)\s*:"
)


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
    """What can be read of a file, and the findings about the rest, in source order."""
    declared = _declared(source.text)
    if nested_deeper_than(source.text, _MOST_BRACKETS) is None and not MARKS.search(source.text):
        with suppress(UnexpectedInput):
            file, findings = _build(_tree(source.text), Draft(source.text, 0), {})
            if not findings and not _misspelt(file, source.text, 0, declared):
                return file, []
    readings = [_recovered(source.text[start:end], start, declared) for start, end in _pieces(source.text)]
    return s.File(
        tuple(u for file, _ in readings for u in file.uses),
        tuple(o for file, _ in readings for o in file.options),
        tuple(m for file, _ in readings for m in file.models),
        tuple(d for file, _ in readings for d in file.declarations),
        tuple(d for file, _ in readings for d in file.shared),
        frozenset().union(*(file.unread for file, _ in readings)),
        any(file.nameless for file, _ in readings),
        span=Span(0, len(source.text)),
    ), [finding for _, findings in readings for finding in findings]


def _pieces(text: str) -> list[tuple[int, int]]:
    """The file cut before each declaration, as (start, end).

    Behind a request or a template a record or `def` is a part of it, however it is indented.
    """
    cuts = [0]
    shares = True
    for found in _DECLARATION.finditer(text):
        word = found[0].split()[0]
        shares = shares and word not in ("request", "template")
        if found.start() > 0 and (shares or word not in ("record", "def")):
            cuts.append(found.start())
    return list(pairwise([*cuts, len(text)]))


def _tree(text: str, start: str = "file") -> Tree[Token]:
    return grammar().parse(text, start=start)


Read = tuple[s.File, list[Diagnostic]]


def _recovered(text: str, base: int, declared: frozenset[str]) -> Read:
    """What can be read of a part of a file, in which `declared` are names."""
    nothing = s.File((), (), (), (), (), frozenset(_WORD.findall(text)), span=Span(base, base + len(text)))
    deep = nested_deeper_than(text, _MOST_BRACKETS)
    if deep is not None:
        return nothing, [_too_deep(base + deep)]
    corrections: list[Mistake] = []
    with suppress(UnexpectedInput):
        tree = _tree(text)
        read = _build(tree, Draft(text, base), {})
        corrections = _misspelt(read[0], text, base, declared)
        if not corrections and misplaced_word(tree) is None and not MARKS.search(text):
            return read
    while True:
        reading = recover(text, base, _tree, _word, declared, corrections)
        if reading.tree is None:
            return nothing, reading.findings
        file, findings = _build(reading.tree, reading.draft, reading.left_out)
        more = [m for m in _misspelt(file, text, base, declared) if m not in corrections]
        if not more:
            break
        corrections += more
    template = all(isinstance(d, s.Template) for d in file.declarations)
    parts = [words for _, words in reading.left_out.values() if not template or "def" in words]
    owners = [
        name.text
        for node in nodes(file)
        if isinstance(node, (s.RoleDecl, s.RecordDecl)) and any(_holds(node, place) for place in reading.left_out)
        for name in (node.names if isinstance(node, s.RoleDecl) else (node.name,))
    ]
    images = all(isinstance(d, s.Image | s.Formula) for d in (*file.declarations, *file.shared))
    nameless = not images and any(words <= _NO_NAMES for words in parts)
    return replace(file, unread=frozenset(owners).union(*parts), nameless=nameless), reading.findings + findings


def _holds(node: s.Node, place: int) -> bool:
    return node.span.start <= place < node.span.end


def _build(tree: Tree[Token], draft: Draft, left_out: LeftOut) -> Read:
    deep = _deeper_than(tree, _MOST_LEVELS)
    if deep is not None:
        words = frozenset(_WORD.findall(draft.text))
        return s.File((), (), (), (), (), words, span=Span(draft.place(0), draft.place(len(draft.text)))), [
            _too_deep(draft.place(deep))
        ]
    builder = TreeBuilder(draft.place, left_out, _fragment)
    file = builder.transform(tree)
    assert isinstance(file, s.File)
    return file, builder.findings


def _fragment(text: str, base: int) -> tuple[s.Expr | None, list[Diagnostic]]:
    """The expression or control token in a `${…}` that begins at offset `base` of the file."""
    deep = nested_deeper_than(text, _MOST_BRACKETS)
    if deep is not None:
        return None, [_too_deep(base + deep)]
    try:
        tree = _tree(text, "interpolation")
    except UnexpectedInput as error:
        return None, [_in_fragment(error, text, base)]
    deep = _deeper_than(tree, _MOST_LEVELS)
    if deep is not None:
        return None, [_too_deep(base + deep)]
    builder = TreeBuilder(Draft(text, base).place, {}, _fragment)
    node = builder.transform(tree)
    return (node if isinstance(node, s.Expr) else None), builder.findings


def _deeper_than(tree: Tree[Token], limit: int) -> int | None:
    """The offset of a node that stands below `limit` others, found without recursion."""
    level = [tree]
    for _ in range(limit):
        level = [child for node in level for child in node.children if isinstance(child, Tree)]
    return level[0].meta.start_pos if level else None


def _too_deep(offset: int) -> Diagnostic:
    return Diagnostic("K003", Span(offset, offset + 1), "nested too deeply", help="name parts with `let` or `def`")


def _in_fragment(error: UnexpectedInput, text: str, base: int) -> Diagnostic:
    if isinstance(error, UnexpectedCharacters):
        at = position(error, text)
        quote = text[at] in "\"'`"
        mistake = mistakes.of_characters(text, at)
        message = "this quoted text does not end" if quote else mistake.message
        return Diagnostic("K001", Span(base + at, base + mistake.end), message, help="" if quote else mistake.help)
    assert isinstance(error, UnexpectedToken), "there are no other errors of a text"
    what = expected("}" if t == "$END" else _word(t) for t in error.expected)
    if error.token.type != "$END":
        at = error.token.start_pos or 0
        mistake = mistakes.of_token(text, at, str(error.token), {_word(t) for t in error.expected}) or Mistake(
            at, at + len(error.token), f"unexpected {shown(error.token)}", what
        )
        return Diagnostic("K001", Span(base + at, base + mistake.end), mistake.message, help=mistake.help)
    bracket = unclosed_bracket(text)
    if bracket is not None:
        return Diagnostic("K001", Span(base + bracket, base + bracket + 1), f"this `{text[bracket]}` is never closed")
    end = len(text.rstrip())
    return Diagnostic(
        "K001", Span(base + max(0, end - 1), base + end), "the expression in ${…} ends too early", help=what
    )


def _word(terminal: str) -> str:
    """The word or sign of a terminal, or its name where it has many forms."""
    pattern = grammar().get_terminal(terminal).pattern if terminal != "$END" else None
    if pattern is None or (isinstance(pattern, PatternRE) and not pattern.value.endswith(_WORD_END)):
        return terminal
    word = pattern.value.removesuffix(_WORD_END)
    return word if isinstance(pattern, PatternStr) or word.isalpha() else terminal


# ---- words that can only be misspelt


def _declared(text: str) -> frozenset[str]:
    """The words that a file gives to values as names."""
    found = (name for match in _NAMED.finditer(text) for name in match.groups() if name)
    return frozenset(found) | {"messages", "tools", "documents", "generating"}


def _misspelt(file: s.File, text: str, base: int, declared: frozenset[str]) -> list[Mistake]:
    """Names of no value that stand as items and are nearly a word of the language; keys that were read as values."""
    out: list[Mistake] = []
    for node in nodes(file):
        match node:
            case s.Put(value=s.NameRef(name=name)) if name not in declared and len(name) > 1:
                meant = mistakes.alike(name, mistakes.ITEM_WORDS)
                if meant is not None:
                    out.append(mistakes.misspelt(node.span.start - base, name, meant))
            case s.Part(atoms=(_, *behind)):
                words = [atom for atom in behind if isinstance(atom, s.Name)]
                keys = (mistakes.key_without_colon(text, word.span.start - base, word.text) for word in words)
                out.extend(key for key in keys if key is not None)
            case _:
                pass
    return out
