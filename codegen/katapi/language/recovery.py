"""Reads on behind a syntax error, so that all errors of a declaration come in one run, and only these.

Where it is known what is meant (`whn`, `=` for `==`, a bracket that the layout tells), that is put into the text.
Otherwise the smallest item, arm or field that holds the error is left out, up to its block, which is kept. A mark takes
its place, by which the tree tells what is missing. The rest is read again, until nothing is left to find. A line is
reported once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from lark import Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken
from lark.parsers.lalr_analysis import Shift
from lark.parsers.lalr_interactive_parser import InteractiveParser
from lark.parsers.lalr_parser_state import ParserState

from katapi.language import mistakes
from katapi.language.balance import MARKS, balance, close_quotes
from katapi.language.build import RESERVED
from katapi.language.diagnostics import Diagnostic
from katapi.language.draft import Draft
from katapi.language.mistakes import Mistake
from katapi.language.source import Span

#: The terminals of the grammar that stand for a part that was left out, and the character of each.
MARK_NAMES = {"BROKEN": "\x01", "HEADLESS": "\x02", "BROKEN_ARM": "\x03", "HEADLESS_ARM": "\x04"}
_MOST_ERRORS = 100  # of one declaration; each is a reading of it
_NEXT = re.compile(
    r'''"""[\s\S]*?"""|"[^"\\\n]*(?:\\.[^"\\\n]*)*"|'[^'\\\n]*(?:\\.[^'\\\n]*)*'|`(?:``|[^`\n])*`'''
    r"""|[{}()\[\]\n]|object\s*\{"""
)
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CONTROL = re.compile(r"@/?[a-z_][a-z0-9_]*")
_KEY_BEFORE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\s*$")
_QUOTED = re.compile(r"""\"[^"\n]*\"|'[^'\n]*'""")
_ROLES = re.compile(r"[A-Za-z_]\w*(?:\s*,\s*[A-Za-z_]\w*)*\s*(?=\{)")
#: What stands for a name or a quoted text that is missing in the header of a declaration.
_STAND_INS = {"NAME": "unnamed", "STRING": '"0"'}
#: What stands behind the version in the header of a declaration, before another name.
_BEHIND = {"template": "for", "budget": "for", "tokenizer": "over", "serialization": "like"}
_NO_WORD = "\x00"
_LAST_WORD = re.compile(r"[\w@/]+$|\S$")


@dataclass(slots=True)
class Reading:
    """What could be read of a text with errors: its tree, where what stands, and the words of what was left out."""

    draft: Draft
    findings: list[Diagnostic] = field(default_factory=list)
    tree: Tree[Token] | None = None
    left_out: dict[int, tuple[int, frozenset[str]]] = field(default_factory=dict)
    #: Whether something stands behind a whole declaration: the rest of it, where brackets are judged wrongly.
    ends_early: bool = False

    @property
    def cost(self) -> int:
        """How much there is against this way of reading."""
        return len(self.findings) + self.ends_early


def recover(
    text: str,
    base: int,
    parse: Callable[[str], Tree[Token]],
    words: Callable[[str], str],
    declared: frozenset[str],
    corrections: Iterable[Mistake] = (),
) -> Reading:
    """Reads a text that has errors, with and without trust in its layout, and takes what has fewer.

    `words` gives the word or sign of a terminal, or its name; `declared` are names; `corrections` are known already.
    """
    known = list(corrections)
    plain, by_layout = (
        _Recovery(text, base, parse, words, declared).read(known, by_layout=by_layout) for by_layout in (False, True)
    )
    return by_layout if by_layout.cost < plain.cost else plain


class _Recovery:
    def __init__(
        self,
        text: str,
        base: int,
        parse: Callable[[str], Tree[Token]],
        words: Callable[[str], str],
        declared: frozenset[str],
    ) -> None:
        self._original = text
        self._base = base
        self._parse = parse
        self._words = words
        self._declared = declared
        self._draft = Draft(text, base)
        self._reading = Reading(self._draft)
        self._lines: set[int] = set()
        self._corrected: set[int] = set()

    def read(self, corrections: Iterable[Mistake], *, by_layout: bool) -> Reading:
        """The whole way: quotes, brackets, then one error after the other."""
        draft = self._draft
        for mistake in sorted(corrections, key=lambda m: m.start, reverse=True):
            self._correct(mistake)
        draft.without_comments()
        is_template = re.match(r"\s*template\b", draft.text) is not None
        self._note(close_quotes(draft, self._leave_out_text if is_template else self._leave_out_line))
        self._note(balance(draft, by_layout=by_layout))
        for _ in range(_MOST_ERRORS):
            try:
                tree = self._parse(draft.text)
                misplaced = misplaced_word(tree)
                if misplaced is None:
                    self._reading.tree = tree
                    break
                self._parse(draft.text[:misplaced] + _NO_WORD)
            except UnexpectedInput as error:
                if not self._step(error):
                    break
        self._reading.findings.sort(key=lambda finding: finding.span)
        return self._reading

    def _note(self, findings: Iterable[Diagnostic], *, read_on: bool = False) -> None:
        """Keeps findings; behind one that cannot be mended, what else is found on its line may follow from it."""
        for finding in findings:
            line = self._original.count("\n", 0, finding.span.start - self._base)
            if line not in self._lines:
                self._reading.findings.append(finding)
            if not read_on:
                self._lines.add(line)

    def _report(self, mistake: Mistake) -> None:
        start = self._draft.place(mistake.start)
        end = max(start + 1, self._draft.place(mistake.end - 1) + 1)
        if start in self._corrected:
            return
        finding = Diagnostic("K001", Span(start, end), mistake.message, help=mistake.help)
        self._note([finding], read_on=mistake.correction is not None)

    def _correct(self, mistake: Mistake) -> None:
        self._report(mistake)
        assert mistake.correction is not None, "only such mistakes are corrected"
        self._corrected.add(self._draft.place(mistake.start))
        self._draft.replace(mistake.start, mistake.end, mistake.correction)

    # ---- one error

    def _step(self, error: UnexpectedInput) -> bool:
        """Reports an error and changes the text so that it goes; false where nothing can be done."""
        text = self._draft.text
        at = len(text.rstrip())
        if isinstance(error, UnexpectedCharacters):
            at = position(error, text)
        elif isinstance(error, UnexpectedToken) and error.token.type != "$END":
            at = error.token.start_pos or 0
        parser = error.interactive_parser
        assert isinstance(parser, InteractiveParser), "the parser of lark gives its state"
        read = [misplaced_word(value) for value in parser.parser_state.value_stack if isinstance(value, Tree)]
        if (earlier := min((place for place in read if place is not None), default=None)) is not None:
            try:
                self._parse(text[:earlier] + _NO_WORD)
            except UnexpectedInput as error_there:
                return self._step(error_there)
        start, marks = _element(parser, at)
        if _takes(parser.parser_state, "$END"):
            self._reading.ends_early = True
            start, marks = at, []
        if isinstance(error, UnexpectedToken) and not marks:
            at, start = self._open_entry(parser, error.token, at)
        if marks and self._arms_without_head(at):
            return True
        mistake = self._mistake(error, at, start if marks else None)
        if mistake.correction is not None and self._draft.place(mistake.start) not in self._corrected:
            self._correct(mistake)
            return True
        end = self._cut_off(start, at)
        if end is not None:
            word = _LAST_WORD.search(text, start, end)
            first = end - 1 if word is None else word.start()
            help_ = mistake.help if mistake.help.startswith("expected") else ""
            mistake = Mistake(first, end, "something is missing behind this", help_)
        if not MARKS.match(text, at) or end is not None:
            self._report(mistake)
        if at >= len(text.rstrip()) and end is None:
            return False
        return self._leave_out(start, at, end, marks) if marks else self._leave_out_lines(at, end)

    def _open_entry(self, parser: InteractiveParser, token: Token, at: int) -> tuple[int, int]:
        """The place of an error in a declaration of lines, and where the line begins that is not complete there."""
        draft = self._draft
        key = _KEY_BEFORE.search(draft.text, 0, at) if token == ":" else None
        if key is not None and draft.begins_line(key.start()):
            at = key.start()
        elif not draft.begins_line(at) or _takes(parser.parser_state, "RBRACE") or _takes(parser.parser_state, "$END"):
            return at, at
        end = draft.end_before(at)
        return at, self._entry_of_line(end - 1) if end else at

    def _arms_without_head(self, at: int) -> bool:
        """Arms in a block before which neither a walk nor a `match` stands: what stands there is left out."""
        draft = self._draft
        brace = draft.end_before(at) - 1
        if not draft.text.startswith("when", at) or brace < 0 or draft.text[brace] != "{":
            return False
        message = "arms stand only in a walk or a `match`"
        self._report(Mistake(brace, brace + 1, message, "write `each m in messages {` or `match x {`"))
        start = self._entry_of_line(brace)
        self._remember(start, brace)
        draft.replace(start, brace, MARK_NAMES["HEADLESS"] + " ")
        return True

    def _mistake(self, error: UnexpectedInput, at: int, start: int | None) -> Mistake:
        """What is wrong; `start` is where the entry begins, in a list of entries that may be left out."""
        text = self._draft.text
        earlier = None if start is None else self._before(start, at)
        name = _KEY_BEFORE.search(text, 0, at)
        if start == at and name is not None and self._entry_of_line(name.start()) == name.start():
            start = name.start()
        if isinstance(error, UnexpectedCharacters):
            word = _WORD.match(text, at)
            if word is not None:
                misplaced = Mistake(at, word.end(), f"unexpected `{word[0]}`")
                return earlier or self._first_arm(word[0], at) or misplaced
            return earlier or mistakes.of_characters(text, at)
        assert isinstance(error, UnexpectedToken), "there are no other errors of a text"
        if error.token.type == "$END":
            help_ = expected(self._words(t) for t in error.expected)
            return Mistake(max(0, at - 1), at, "the declaration ends too early", help_)
        token = str(error.token)
        return (
            mistakes.of_token(text, at, token, {self._words(t) for t in error.expected}, start)
            or earlier
            or self._first_arm(token, at)
            or Mistake(
                at,
                at + len(token),
                f"unexpected {shown(error.token)}",
                expected(self._words(t) for t in error.expected if t not in MARK_NAMES),
                self._completed(token, error.expected, at),
            )
        )

    def _completed(self, word: str, terminals: Iterable[str], at: int) -> str | None:
        """An unexpected word of a declaration's header with the only one that may stand before it."""
        own = _BEHIND.get(self._draft.text.split(maxsplit=1)[0])
        missing = [self._words(t) for t in terminals if self._words(t) != "{"]
        missing = [own] if own is not None and own in missing else missing
        if len(missing) != 1 or "{" in self._draft.text[:at]:
            return None
        name = f" {_STAND_INS['NAME']}" if word == "{" and missing[0] in ("for", "over") else ""
        return f"{_STAND_INS.get(missing[0], missing[0])}{name} {word}"

    def _before(self, start: int, at: int) -> Mistake | None:
        line = self._draft.line_start(at)
        if self._draft.begins_line(at):
            line = self._draft.line_start(self._draft.end_before(at))
        first = max(line, self._draft.text.rfind("{", line, start) + 1)
        return mistakes.before(self._draft.text, first, at, start, self._declared)

    def _first_arm(self, token: str, at: int) -> Mistake | None:
        """A misspelt `when` that made arms look like items, so that only the next `when` is unexpected."""
        if token != "when":
            return None
        depth = 0
        for match in reversed(list(_NEXT.finditer(self._draft.text, 0, at))):
            depth += match[0] == "}"
            depth -= match[0].endswith("{")
            if depth < 0:
                return self._no_arm(self._draft_next(match.end()))
        return None

    def _no_arm(self, at: int) -> Mistake | None:
        """What is wrong with the first entry of a block of arms."""
        text = self._draft.text
        word = _WORD.match(text, at)
        meant = None if word is None else mistakes.alike(word[0], ["when"])
        if word is not None and meant is not None:
            return mistakes.misspelt(at, word[0], meant)
        roles = _ROLES.match(text, at)
        if roles is None:
            return None
        names = roles[0].strip()
        return Mistake(at, at + len(names), "an arm begins with `when`", f"write `when {names}`", f"when {names}")

    def _draft_next(self, offset: int) -> int:
        rest = self._draft.text[offset:]
        return offset + len(rest) - len(rest.lstrip())

    def _cut_off(self, start: int, at: int) -> int | None:
        """The end of what comes before, where that breaks off and something else begins on a line of its own."""
        draft = self._draft
        if start >= at or not draft.begins_line(at) or draft.indentation(at) > draft.indentation(start):
            return None
        return draft.end_before(at)

    # ---- what is left out

    def _leave_out_text(self, start: int, end: int) -> None:
        self._remember(start, end)
        self._draft.replace(start, end, MARK_NAMES["BROKEN"])

    def _leave_out_line(self, start: int, end: int) -> None:
        start = self._entry_of_line(start)
        self._remember(start, end)
        self._draft.blank(start, end)

    def _entry_of_line(self, at: int) -> int:
        line = self._draft.line_start(at)
        brace = max(self._draft.text.rfind(bracket, line, at) for bracket in "{}")
        return min(at, self._draft_next(max(line, brace + 1)))

    def _leave_out(self, start: int, at: int, end: int | None, marks: list[_List]) -> bool:
        head = False
        if end is None:
            end, head = self._resume(at, start)
        outer = marks
        while end <= start and not head:
            outer = outer[1:]
            if not outer or outer[0].start is None:
                return False
            start = outer[0].start
            end, head = self._resume(at + 1, start)
        arm = "BROKEN_ARM" in outer[0].marks and ("BROKEN" not in outer[0].marks or self._is_arm(start, end, head))
        name = ("HEADLESS" if head else "BROKEN") + ("_ARM" if arm else "")
        if head and name not in outer[0].marks:  # a field with a brace
            name = "BROKEN"
            end = self._block_end(end)
        self._remember(start, end)
        self._draft.replace(start, end, f"{MARK_NAMES[name]} ")
        return True

    def _leave_out_lines(self, at: int, end: int | None) -> bool:
        """Leaves out the lines of an entry of a declaration whose entries stand on lines of their own."""
        draft = self._draft
        start = self._entry_of_line(at if end is None else end - 1)
        if end is None:
            end, head = self._resume(max(at, start), start)
            end = self._block_end(end) if head else end
        if end <= start:
            start, end = at, at + 1
        self._remember(start, end)
        draft.blank(start, end)
        return True

    def _remember(self, start: int, end: int) -> None:
        first, last = self._draft.place(start), self._draft.place(end)
        text = _QUOTED.sub(" ", self._original[first - self._base : last - self._base])
        words = frozenset(_WORD.findall(text)) | {c[1:] for c in _CONTROL.findall(text)}
        self._reading.left_out[first] = (max(last, first + 1), words)

    def _resume(self, at: int, start: int) -> tuple[int, bool]:
        """Where reading can go on behind an error, and whether that is at the block of what is left out."""
        draft = self._draft
        depth = 0
        begins, margin = draft.begins_line(start), draft.indentation(start)
        for match in _NEXT.finditer(draft.text, start):
            what = match[0]
            inside = match.start() < at
            if what == "\n":
                following = self._draft_next(match.end())
                if depth == 0 and not inside and (not begins or draft.indentation(following) <= margin):
                    return match.start(), False
            elif what == "{" and depth == 0 and not inside:
                return match.start(), True
            elif what[-1] in "{([":
                depth += 1
            elif what in "})]":
                if depth == 0 and what == "}" and not inside:
                    return match.start(), False
                depth = max(0, depth - 1)
        return len(draft.text), False

    def _block_end(self, brace: int) -> int:
        """The end of the block that begins with a brace."""
        depth = 0
        for match in _NEXT.finditer(self._draft.text, brace):
            if match[0].endswith("{"):
                depth += 1
            elif match[0] == "}":
                depth -= 1
                if depth == 0:
                    return match.end()
        return len(self._draft.text)

    def _is_arm(self, start: int, end: int, head: bool) -> bool:
        """Whether what is left out at the beginning of a block was an arm."""
        word = _WORD.match(self._draft.text, start)
        if word is not None and (word[0] == "when" or mistakes.alike(word[0], ["when"])):
            return True
        following = self._draft_next(self._block_end(end) if head else end)
        return self._draft.text.startswith("when", following)


@dataclass(frozen=True, slots=True)
class _List:
    """A list of entries that the parser is reading: the marks that may stand in it, where its last entry begins."""

    marks: frozenset[str]
    start: int | None


def _element(parser: InteractiveParser, at: int) -> tuple[int, list[_List]]:
    """Where the entry begins in which the parser stopped, and the lists around it, innermost first."""
    state = parser.parser_state
    table, values = state.parse_conf.states, state.value_stack
    lists: list[_List] = []
    seen: set[int] = set()
    for index in range(len(values), 0, -1):
        actions = table[state.state_stack[index]]
        marks = frozenset(n for n in MARK_NAMES if n in actions and actions[n][0] is Shift)
        brace = index - 1 if _is(values[index - 1], "LBRACE") else index - 2
        if not marks or brace in seen:
            continue
        seen.add(brace)
        if not any(_is(value, "RBRACE") for value in values[brace + 1 : brace + 3]):
            lists.append(_List(marks, _start(values[index]) if index < len(values) else at))
    here = frozenset(name for name in MARK_NAMES if _takes(state, name))
    if here and lists:
        lists[0] = _List(here, at)
    first = lists[0].start if lists else None
    return (at if first is None else first), lists


def misplaced_word(tree: Tree[Token]) -> int | None:
    """The offset of a word of the language that was taken for the name of a printed value."""
    places = [
        name.start_pos
        for put in tree.find_data("put")
        for ref in put.children
        if isinstance(ref, Tree) and ref.data == "name_ref"
        for name in ref.children
        if isinstance(name, Token) and name in RESERVED and name.start_pos is not None
    ]
    return min(places, default=None)


def _is(value: object, terminal: str) -> bool:
    return isinstance(value, Token) and value.type == terminal


def _takes(state: ParserState[int], terminal: str) -> bool:
    """Whether the parser would go on with a terminal, or come to its end with `$END`."""
    table = state.parse_conf.states
    stack = list(state.state_stack)
    while terminal in table[stack[-1]]:
        action, rule = table[stack[-1]][terminal]
        if action is Shift:
            return True
        del stack[len(stack) - len(rule.expansion) :]
        stack.append(table[stack[-1]][rule.origin.name][1])
    return terminal == "$END" and stack[-1] == state.parse_conf.end_state


def _start(value: object) -> int | None:
    if isinstance(value, Token):
        return value.start_pos
    return value.meta.start_pos if isinstance(value, Tree) and not value.meta.empty else None


def position(error: UnexpectedCharacters, text: str) -> int:
    """The offset of characters that begin no word."""
    rest = text.split("\n", error.line - 1)[-1]
    return len(text) - len(rest) + error.column - 1


def shown(token: Token) -> str:
    """A token in a message."""
    if token.type == "BLOCKTEXT":
        return '""" text'
    return f"`{token}`" if len(token) <= 40 else f"`{token[:40]}…`"


def expected(words: Iterable[str]) -> str:
    """What may stand at a place, where that is said briefly."""
    names = sorted({_readable(word) for word in words})
    if not names or len(names) > 8:
        return ""
    return "expected " + (names[0] if len(names) == 1 else ", ".join(names[:-1]) + " or " + names[-1])


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
    "TEXT_OF": "`text {`",
    "IMAGE_OF": "`image p {` or `video p {`",
    "TOOLS": "`tools:`",
    "DOCUMENTS": "`documents:`",
    "$END": "the end of the file",
}


def _readable(word: str) -> str:
    return _READABLE.get(word, f"`{word}`")
