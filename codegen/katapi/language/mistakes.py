"""What is said about a text that does not follow the grammar, and how it is most likely meant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Set
from dataclasses import dataclass
from difflib import get_close_matches

#: Words with which an item or an arm of a template begins or goes on.
ITEM_WORDS = (
    "let",
    "if",
    "else",
    "each",
    "match",
    "when",
    "take",
    "drop",
    "sampled",
    "joined",
    "advance",
    "reject",
    "counter",
    "boundary",
    "def",
    "generate",
    "parse",
)
#: Words and signs of other languages, and what stands for them here.
_FOREIGN = {
    "elif": "else if",
    "elsif": "else if",
    "elseif": "else if",
    "for": "each",
    "foreach": "each",
    "switch": "match",
    "case": "when",
    "set": "let",
    "var": "let",
    "const": "let",
}
_SIGNS = {"&&": "and", "||": "or", "!": "not ", "&": "and", "=": "=="}
#: Keys of settings that are no word of a value.
_KEYS = frozenset(
    "normalize pretokenize segment post decode unicode order item_separator key_separator escape floats nan absent"
    " indent depth window reserve overflow accept limits damaged frames media_type orientation alpha icc".split()
)
_REMEDIES = {
    "+": "texts that stand one after the other are printed one after the other",
    "?": "write `if c then x else y`, or `x ?? y`",
    ";": "items need nothing between them",
    "$": 'only a """ text has `${…}`',
}
_PRINTED_NAME = re.compile(r"""(?<![\w.@"'`])[A-Za-z_]\w*\b(?!\s*[.(=:,])""")


@dataclass(frozen=True, slots=True)
class Mistake:
    """A place in a draft, what is wrong there, and what to put there to read on, where it is known."""

    start: int
    end: int
    message: str
    help: str = ""
    correction: str | None = None


def alike(word: str, known: Iterable[str]) -> str | None:
    """The word of the language that is meant by a wrong one."""
    words = list(known)
    foreign = _FOREIGN.get(word)
    if foreign is not None and foreign.split()[0] in words:
        return foreign
    if "if" in words and re.fullmatch("i[^fns]?|[^i]?f", word):
        return "if"
    close = [known for known in words if len(word) > 1 and sorted(known) == sorted(word.lower())]
    close = close or (get_close_matches(word, words, n=1, cutoff=0.74) if len(word) > 1 else [])
    return close[0] if close and close[0] != word else None


def misspelt(start: int, word: str, meant: str) -> Mistake:
    """A word that is none of the language."""
    return Mistake(start, start + len(word), f"unexpected `{word}`", f"did you mean `{meant}`?", meant)


def of_characters(text: str, at: int) -> Mistake:
    """Characters that begin no word."""
    for sign, meant in _SIGNS.items():
        if sign != "=" and text.startswith(sign, at):
            end = at + len(sign)
            return Mistake(at, end, f"unexpected `{sign}`", f"write `{meant.strip()}`", meant)
    character = text[at]
    return Mistake(at, at + 1, f"unexpected character `{character}`", _REMEDIES.get(character, ""))


def of_token(text: str, at: int, token: str, expected: Set[str], entry: int | None = None) -> Mistake | None:
    """A word in the wrong place, where it is known what is meant; `expected` are the words that may stand there.

    `entry` is where the entry begins in which it stands.
    """
    end = at + len(token)
    name = "" if entry is None else text[entry:at].strip()
    if token == "=" and entry is not None and re.fullmatch(r"[A-Za-z_]\w*", name) and name not in ITEM_WORDS:
        place = entry + len(name)
        return Mistake(entry, place, f"nothing names `{name}`", f"write `let {name} = …`", f"let {name}")
    comma = len(text[:at].rstrip()) - 1
    if token in ("}", ")", "]") and comma >= 0 and text[comma] == ",":
        return Mistake(comma, comma + 1, "nothing stands behind this `,`", "remove it", " ")
    if token == "=" and "COMPARE" in expected:
        return Mistake(at, end, "`=` does not compare", "write `==`", "==")
    if not re.fullmatch(r"[A-Za-z_]\w*", token):
        return None
    if token == "use" and re.compile(r"""[ \t]+["']""").match(text, end):
        return Mistake(at, end, "a `use` stands before all declarations", "move it to the beginning of the file")
    meant = alike(token, (word for word in expected if word.islower()))
    if meant is not None:
        return misspelt(at, token, meant)
    return without_colon(text, at, token) if "KEY" in expected else None


def key_without_colon(text: str, at: int, word: str) -> Mistake | None:
    """A word that was read as part of the value on the line before, and is the key of a line of its own."""
    line = text.rfind("\n", 0, at) + 1
    margin = re.compile(r"[ \t]*").match(text, text.rfind("\n", 0, max(0, line - 1)) + 1)
    if word not in _KEYS or text[line:at].strip() or margin is None or len(margin[0]) != at - line:
        return None
    return without_colon(text, at, word)


def without_colon(text: str, at: int, word: str) -> Mistake | None:
    """A key with its value behind it, and no colon between."""
    end = at + len(word)
    space = re.compile(r"[ \t]+(?=[\w\"'`\[])").match(text, end)
    if space is None:
        return None
    shown = text[space.end() : _line_end(text, end)].split("}")[0].strip()
    return Mistake(at, end, f"there is no `:` behind `{word}`", f"write `{word}: {shown}`", f"{word}:")


def before(text: str, line: int, at: int, entry: int, declared: Set[str]) -> Mistake | None:
    """A word on the line before an unexpected one that was taken for a name, and is most likely another word.

    `entry` is where the entry begins in which the unexpected word stands; other names in it are what they are, as are
    those that are `declared`.
    """
    for match in _PRINTED_NAME.finditer(text, line, at):
        if match.start() > entry or match[0] in declared or _in_quotes(text, line, match.start()):
            continue
        meant = None if match[0] in ITEM_WORDS else alike(match[0], ITEM_WORDS)
        if meant is not None:
            return misspelt(match.start(), match[0], meant)
    return None


def _in_quotes(text: str, start: int, at: int) -> bool:
    line = re.sub(r"\\.", "  ", text[start:at])
    return line.count('"') % 2 == 1 or line.count("'") % 2 == 1


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end
