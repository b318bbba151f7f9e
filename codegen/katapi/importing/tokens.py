"""The tables of a vocabulary: rows for tokens that stand alone, and one row for many whose spellings count up."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from katapi.importing.nodes import NOWHERE, word
from katapi.language import syntax as s
from katapi.runtime.tokenization.configuration import AddedToken
from katapi.runtime.tokenization.counted import counted

_SHORTEST = 4  # tokens that are worth a row of their own for all
_NUMBER = re.compile("[0-9]+")


@dataclass(frozen=True, slots=True)
class _Run:
    """Tokens in a row whose spellings count up."""

    tokens: Sequence[AddedToken]
    pattern: str


def control_table(tokens: Sequence[AddedToken], names: Mapping[int, str], alone: Collection[int]) -> s.ControlTable:
    """The table of control tokens, which come in the order of their ids; those in `alone` have rows of their own."""
    rows: list[s.ControlRow | s.TokenRange] = []
    for found in _runs(tokens, alone):
        if isinstance(found, _Run):
            rows.append(_range(found, _flags(found.tokens[0])))
        else:
            rows.append(s.ControlRow(found.id, names[found.id], found.content, _flags(found), span=NOWHERE))
    return s.ControlTable(tuple(rows), span=NOWHERE)


def added_table(tokens: Sequence[AddedToken]) -> s.AddedTable:
    """The table of added tokens that are text, in the order of their ids; none of them is special."""
    rows: list[s.AddedRow | s.TokenRange] = []
    for found in _runs(tokens, ()):
        first = found.tokens[0] if isinstance(found, _Run) else found
        flags = tuple(flag for flag in _flags(first) if flag.text != "nonspecial")
        if isinstance(found, _Run):
            rows.append(_range(found, flags))
        else:
            rows.append(s.AddedRow(found.id, found.content, flags, span=NOWHERE))
    return s.AddedTable(tuple(rows), span=NOWHERE)


def unused_rows(ids: Sequence[int]) -> Iterator[s.UnusedIds]:
    """The rows of ids that no token has; `ids` ascend."""
    start = 0
    for end in range(1, len(ids) + 1):
        if end == len(ids) or ids[end] != ids[end - 1] + 1:
            yield s.UnusedIds(ids[start], ids[end - 1], span=NOWHERE)
            start = end


def _range(run: _Run, flags: tuple[s.Name, ...]) -> s.TokenRange:
    return s.TokenRange(run.tokens[0].id, run.tokens[-1].id, run.pattern, flags, span=NOWHERE)


def _flags(token: AddedToken) -> tuple[s.Name, ...]:
    flags = {
        "nonspecial": not token.special,
        "normalized": token.normalized,
        "lstrip": token.lstrip,
        "rstrip": token.rstrip,
        "single_word": token.single_word,
    }
    return tuple(word(name) for name, value in flags.items() if value)


# ---- runs


def _runs(tokens: Sequence[AddedToken], alone: Collection[int]) -> Iterator[_Run | AddedToken]:
    """The tokens in order, those that count up together."""
    position = 0
    while position < len(tokens):
        run = _run(tokens, position, alone)
        if run is None:
            yield tokens[position]
            position += 1
        else:
            yield run
            position += len(run.tokens)


def _run(tokens: Sequence[AddedToken], start: int, alone: Collection[int]) -> _Run | None:
    """The longest run that begins with the token at `start`, if it is long enough."""
    first = tokens[start]
    best: _Run | None = None
    for number in _NUMBER.finditer(first.content):
        for counter in (f"{{{number[0]}}}", f"{{{number[0]}-}}"):
            pattern = f"{first.content[: number.start()]}{counter}{first.content[number.end() :]}"
            if len(re.findall(r"\{\d+-?\}", pattern)) != 1:
                continue  # the spelling itself has a number in braces
            length = _length(tokens, start, pattern, alone)
            if length >= max(_SHORTEST, len(best.tokens) + 1 if best else 0):
                best = _Run(tokens[start : start + length], pattern)
    return best


def _length(
    tokens: Sequence[AddedToken], start: int, pattern: str, alone: Collection[int], most: int = _SHORTEST
) -> int:
    """How many tokens from `start` on are spelled as `pattern` counts, with one id after the other and equal flags.

    It looks at `most` tokens first, and at twice as many as long as all of them belong.
    """
    first, seen = tokens[start], tokens[start : start + most]
    if pattern.count("-}"):
        seen = seen[: int(_NUMBER.findall(pattern[: pattern.index("-}")])[-1]) + 1]
    spellings = counted(first.id, first.id + len(seen) - 1, pattern).items()
    for count, (token, spelled) in enumerate(zip(seen, spellings, strict=True)):
        if (token.id, token.content) != spelled or _flags(token) != _flags(first) or token.id in alone:
            return count
    return len(seen) if len(seen) < most else _length(tokens, start, pattern, alone, 2 * most)
