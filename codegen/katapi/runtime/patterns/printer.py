"""Writes a pattern of tokenizer.json in Katapi's own dialect, so that a specification can declare it."""

from __future__ import annotations

from katapi.runtime.patterns.properties import PROPERTIES, is_readable
from katapi.runtime.patterns.standard import count
from katapi.runtime.patterns.syntax import Dialect, PatternError, parse
from katapi.runtime.patterns.tree import (
    Alternation,
    Behind,
    Characters,
    CharacterSet,
    Class,
    Complement,
    Intersection,
    Look,
    Mode,
    Node,
    Property,
    Repeat,
    Union,
)

_MODES = {Mode.GREEDY: "", Mode.LAZY: "?", Mode.POSSESSIVE: "+"}
_SHORTHANDS = {"WS": ("\\s", "\\S"), "Nd": ("\\d", "\\D"), "WORD": ("\\w", "\\W")}
_NAMED = {0x0A: "\\n", 0x0D: "\\r", 0x09: "\\t", 0x0C: "\\f", 0x0B: "\\v"}
_SPECIAL = frozenset(r"\.^$*+?{}[]|()")
_SPECIAL_IN_BRACKETS = frozenset(r"\^-[]&~")


def restate(pattern: str) -> str:
    """`pattern`, written for tokenizers, as a pattern that means the same to Katapi (`Dialect.TIKTOKEN`).

    As it stands where that is possible, with characters that cannot be read as escapes. Raises `PatternError`.
    """
    root = parse(pattern, PROPERTIES, Dialect.TOKENIZERS)
    escaped = "".join(_written(ord(sign), frozenset()) for sign in pattern)
    try:
        if parse(escaped, PROPERTIES) == root:
            return escaped
    except PatternError:
        pass
    return _alternation(root)


def written_set(members: CharacterSet) -> str:
    """A set of characters as a pattern has it where one character is expected."""
    return _class(members)


def _alternation(node: Alternation) -> str:
    return "|".join("".join(map(_item, choice.items)) for choice in node.choices)


def _item(node: Node) -> str:
    match node:
        case Class(members):
            return _class(members)
        case Repeat():
            return _item(node.item) + count(node) + _MODES[node.mode]
        case Alternation():
            return f"(?:{_alternation(node)})"
        case Look(body, negative):
            return f"(?{'!' if negative else '='}{_alternation(body)})"
        case Behind(members, negative):
            return f"(?<{'!' if negative else '='}{_class(members)})"


def _class(members: CharacterSet) -> str:
    """A set where one character is expected."""
    match members:
        case Characters(((first, last),)) if first == last:
            return _written(first, _SPECIAL)
        case Property() | Complement(Property() | Characters(())):
            return _inside(members)
        case Complement(item):
            return f"[^{_inside(item)}]"
        case _:
            return f"[{_inside(members)}]"


def _inside(members: CharacterSet) -> str:
    """A set as it stands between brackets."""
    match members:
        case Characters(ranges):
            return "".join(_range(first, last) for first, last in ranges)
        case Property(name):
            return _SHORTHANDS[name][0] if name in _SHORTHANDS else f"\\p{{{name}}}"
        case Complement(Property(name)):
            return _SHORTHANDS[name][1] if name in _SHORTHANDS else f"\\P{{{name}}}"
        case Complement(Characters(())):
            return "\\p{Any}"
        case Complement():
            return _class(members)
        case Union(items):
            return "".join(f"[{_inside(item)}]" if isinstance(item, Intersection) else _inside(item) for item in items)
        case Intersection(items):
            return "&&".join(
                f"[{_inside(item)}]" if isinstance(item, Intersection) else _inside(item) for item in items
            )


def _range(first: int, last: int) -> str:
    written = _written(first, _SPECIAL_IN_BRACKETS)
    return written if first == last else f"{written}-{_written(last, _SPECIAL_IN_BRACKETS)}"


def _written(code_point: int, special: frozenset[str]) -> str:
    if code_point in _NAMED:
        return _NAMED[code_point]
    character = chr(code_point)
    if not is_readable(character):
        return f"\\x{{{code_point:x}}}"
    return f"\\{character}" if character in special else character
