"""What all parts of the tree builder share: places, tokens, and the children of a rule by their kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from lark import Token, Transformer
from lark.tree import Meta

from katapi.language import syntax as s
from katapi.language.diagnostics import Diagnostic
from katapi.language.literals import LiteralError, unquote
from katapi.language.source import Span

T = TypeVar("T")
Children = Sequence[object]
ParseFragment = Callable[[str, int], "tuple[s.Expr | None, list[Diagnostic]]"]
LeftOut = Mapping[int, tuple[int, frozenset[str]]]

# What an expression or an item may begin or go on with: as the name of a value it would be read as that.
RESERVED = frozenset(
    "advance after all and any as before boundary count counter def drop each else exists false first generate given"
    " has if is in join joined last let match next not object or other parse prev reject sampled take then true when"
    " where".split()
)
_MOST_DIGITS = 18


def all_of(children: Children, kind: type[T]) -> tuple[T, ...]:
    """The children of a kind."""
    return tuple(c for c in children if isinstance(c, kind))


def one_of(children: Children, kind: type[T]) -> T:
    """The first child of a kind, which there is."""
    return all_of(children, kind)[0]


def one_or_none(children: Children, kind: type[T]) -> T | None:
    """The first child of a kind, if there is one."""
    found = all_of(children, kind)
    return found[0] if found else None


class Word(str):
    """The text of a keyword terminal (`leading`, `verbatim`, `==`, …)."""


class QuotedText(str):
    """The text that a quoted token stands for."""


class NodeBuilder(Transformer[Token, object]):
    """Tokens, and the places of nodes; `place` gives the offset in the file of a character of the parsed text.

    `left_out` holds the places of the parts that error recovery took out, each with its end and its words.

    What the grammar lets pass and the language does not (an escape that means nothing, a reserved name) goes to
    `findings`, with something harmless in its place in the tree.
    """

    def __init__(self, place: Callable[[int], int], left_out: LeftOut, parse_fragment: ParseFragment) -> None:
        super().__init__(visit_tokens=True)
        self.findings: list[Diagnostic] = []
        self._place = place
        self._left_out = left_out
        self._parse_fragment = parse_fragment

    def _span(self, meta: Meta) -> Span:
        if meta.empty:
            return Span(self._place(0), self._place(0))
        return self._range(meta.start_pos, meta.end_pos)

    def _token_span(self, token: Token) -> Span:
        start = token.start_pos or 0
        return self._range(start, start + len(token))

    def _range(self, start: int, end: int) -> Span:
        first = self._place(start)
        return Span(first, max(first, self._place(end - 1) + 1))

    def _literal_error(self, token: Token, error: LiteralError) -> None:
        start = self._token_span(token).start
        self.findings.append(Diagnostic("K002", Span(start + error.start, start + error.end), error.message))

    def _value_name(self, name: s.Name) -> s.Name:
        """The name of a value, which no reserved word can be."""
        if name.text in RESERVED:
            message = f"`{name.text}` is a word of the language and names no value"
            self.findings.append(Diagnostic("K004", name.span, message, help="choose another name"))
        return name

    # ---- tokens

    def NAME(self, token: Token) -> s.Name:
        return s.Name(str(token), span=self._token_span(token))

    FIELD = KEY = TOOLS = DOCUMENTS = NAME

    def INT(self, token: Token) -> int:
        if len(token) > _MOST_DIGITS:
            message = f"a number has at most {_MOST_DIGITS} digits"
            self.findings.append(Diagnostic("K002", self._token_span(token), message))
            return int(token[:_MOST_DIGITS])
        return int(token)

    def STRING(self, token: Token) -> QuotedText:
        try:
            return QuotedText(unquote(token))
        except LiteralError as error:
            self._literal_error(token, error)
            return QuotedText(token[1:-1])

    def CONTROL(self, token: Token) -> s.Name:
        return s.Name(token[1:], span=self._token_span(token))

    def COMPARE(self, token: Token) -> Word:
        return Word(token)

    HOW = IMAGE_OF = END = SIDE = QUANTIFIER = NEIGHBOUR = VERBATIM = ANY = PARTS = COMPARE
