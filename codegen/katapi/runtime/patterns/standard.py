"""Writes a pattern for the standard library's `re`, and tells how much that engine may have to look at.

`re` matches as the engines of the field do (leftmost, first choice first), but its classes are those of the Python that
runs, and it backtracks. So it gets the pattern over a small alphabet, in which every set is spelled out, and only such
patterns as `attempts_are_linear` approves.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence as Items

from katapi.runtime.patterns.gaps import gap_of
from katapi.runtime.patterns.sets import Ranges, complement
from katapi.runtime.patterns.tree import (
    Alternation,
    Behind,
    CharacterSet,
    Class,
    Look,
    Mode,
    Node,
    Repeat,
)

_MODES = {Mode.GREEDY: "", Mode.LAZY: "?", Mode.POSSESSIVE: "+"}


def expression(root: Alternation, bracket: Callable[[CharacterSet], str]) -> str:
    """The pattern for `re`; `bracket` writes a set of characters as a bracket expression."""
    return "|".join("".join(_item(item, bracket) for item in choice.items) for choice in root.choices)


def _item(node: Node, bracket: Callable[[CharacterSet], str]) -> str:
    match node:
        case Class():
            return bracket(node.members)
        case Repeat():
            return _item(node.item, bracket) + count(node) + _MODES[node.mode]
        case Alternation():
            return f"(?:{expression(node, bracket)})"
        case Look():
            return f"(?{'!' if node.negative else '='}{expression(node.body, bracket)})"
        case Behind():
            return f"(?<{'!' if node.negative else '='}{bracket(node.members)})"


def count(node: Repeat) -> str:
    """How often, as `*` or `{2,3}`."""
    bounds = (node.minimum, node.maximum)
    signs = {(0, 1): "?", (0, None): "*", (1, None): "+"}
    if bounds in signs:
        return signs[bounds]
    if node.minimum == node.maximum:
        return f"{{{node.minimum}}}"
    return f"{{{node.minimum},{'' if node.maximum is None else node.maximum}}}"


def bracket_of_classes(members: int) -> str:
    """A set of classes of characters (bit n for class n) over text in which class n is the byte n."""
    bytes_ = "".join(f"\\x{number:02x}" for number in range(members.bit_length()) if members >> number & 1)
    return f"[{bytes_}]" if bytes_ else _NONE_OF_BYTES


def bracket_of_characters(ranges: Ranges, limit: int) -> str:
    """A set of characters over text whose code points lie below `limit`, as do those of `ranges`."""
    if not ranges:
        return _NONE
    outside = complement((*ranges, (limit, _LAST)))
    if outside and len(outside) < len(ranges):
        return f"[^{''.join(_range(first, last) for first, last in outside)}]"
    return f"[{''.join(_range(first, last) for first, last in ranges)}]"


def _range(first: int, last: int) -> str:
    return _character(first) if first == last else f"{_character(first)}-{_character(last)}"


def _character(code_point: int) -> str:
    """A character in brackets: as it is where it means nothing else there, since `re` reads that fastest."""
    character = chr(code_point)
    return character if character.isalnum() or code_point > 0x7F else f"\\x{code_point:02x}"


# A bracket expression may not be empty.
_NONE_OF_BYTES = r"[^\x00-\xff]"
_NONE = r"[^\x00-\U0010ffff]"
_LAST = 0x10FFFF


def attempts_are_linear(root: Alternation) -> bool:
    """Whether an attempt to match at one place takes a backtracking engine no more time than the text is long.

    A gap (`gaps.py`) takes that time for each of its characters, at none of which an attempt is made again.

    So it is where what follows the first unbounded repetition can fail only after a bounded number of steps: then each
    character that the repetition gives back costs a bounded number of steps. The proof asks for this form: unbounded
    repetitions are of single classes, and once a second one has taken its minimum, nothing after it can fail. It can
    fail for a pattern that is linear, never the other way round.
    """
    for choice in root.choices:
        made_of = gap_of(choice)
        if not (_linear(choice.items) if made_of is None else attempts_are_linear(made_of[0])):
            return False
    return True


def _linear(items: Items[Node]) -> bool:
    for index, item in enumerate(items):
        if _is_bounded(item):
            continue
        rest = items[index + 1 :]
        if isinstance(item, Alternation):
            return all(_linear([*choice.items, *rest]) for choice in item.choices)
        return isinstance(item, Repeat) and isinstance(item.item, Class) and _fails_soon(rest)
    return True


def _fails_soon(items: Items[Node]) -> bool:
    """Whether what `items` match, where they fail, fails after a bounded number of steps."""
    for index, item in enumerate(items):
        if _is_bounded(item):
            continue
        rest = items[index + 1 :]
        if isinstance(item, Alternation):
            return all(_fails_soon([*choice.items, *rest]) for choice in item.choices)
        return isinstance(item, Repeat) and isinstance(item.item, Class) and all(map(_cannot_fail, rest))
    return True


def _cannot_fail(node: Node) -> bool:
    match node:
        case Repeat():
            return node.minimum == 0 and (_is_bounded(node) or isinstance(node.item, Class))
        case Alternation():
            return any(all(map(_cannot_fail, choice.items)) for choice in node.choices) and _is_bounded(node)
        case Class() | Look() | Behind():
            return False


def _is_bounded(node: Node) -> bool:
    """Whether only a bounded number of characters can be looked at."""
    match node:
        case Class() | Behind():
            return True
        case Repeat():
            return node.maximum is not None and node.maximum <= _FEW and _is_bounded(node.item)
        case Look(body):
            return _is_bounded(body)
        case Alternation():
            return all(_is_bounded(item) for choice in node.choices for item in choice.items)


_FEW = 16  # repetitions that still count as bounded
