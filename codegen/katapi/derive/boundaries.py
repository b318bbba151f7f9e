"""Plain-text boundaries: where text parts the messages, so that the content of one can pass for another.

Two requests whose messages are told apart by control tokens print different ids, whatever their contents spell. Where
text alone parts two messages, a content that holds this text prints what another request with other messages prints,
and the model cannot tell the two. A `Forgery` is such a pair of requests, rendered and found equal: nothing is reported
without one. Small requests are tried, so a boundary that only larger ones show is missed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby, pairwise, product
from typing import TypeAlias

from katapi.derive.conversations import messages as messages_of
from katapi.derive.conversations import requests
from katapi.language.syntax import AnswerKind
from katapi.model import template as t
from katapi.model.boundaries import there
from katapi.model.program import Program
from katapi.oracle.render import render
from katapi.oracle.request import canonical
from katapi.runtime.errors import KatapiError
from katapi.runtime.json_types import Json
from katapi.runtime.segments import ContentSegment, ControlSegment, LiteralSegment, Path, Site

MOST_MESSAGES = 3
"""How long the conversations are that a search for forgeries takes in a second or a few."""
_TEXTS = "abcdefgh"
_OPEN_ROLE = "narrator"
_TRIES = 3
_SMALL = 2


@dataclass(frozen=True, slots=True)
class Spelled:
    """Literals of a template, one behind the other, that a content can spell, each with its place."""

    literals: tuple[tuple[str, Site], ...]

    @property
    def text(self) -> str:
        """What a content spells."""
        return "".join(text for text, _ in self.literals)


@dataclass(frozen=True, slots=True)
class Forgery:
    """Two requests that print the same, though their messages are others.

    `field` of a message of `role` spells in `forged` what the template prints in `meant` round other messages. What it
    spells are the stretches of `boundary`; it stands in `sampled` where the model itself writes the content, and stays
    `within` its role where both requests have the same roles in turn, be it in more messages or fewer.
    """

    role: str
    field: str
    sampled: bool
    within: bool
    boundary: tuple[Spelled, ...]
    forged: Mapping[str, Json]
    meant: Mapping[str, Json]

    @property
    def speaker(self) -> str:
        """What spells the boundary, as `user.content`."""
        return f"{self.role}.{self.field}"


@dataclass(frozen=True, slots=True)
class _Piece:
    """A stretch of text in a run: out of a message, with a `path` where it is a whole text; a literal at a `site`."""

    text: str
    message: int | None
    path: Path | None
    site: Site | None
    sampled: bool


Run: TypeAlias = Sequence[_Piece]
Parts: TypeAlias = Sequence[tuple[str, Sequence[_Piece]]]


#: A speaker, whether it stays within its role, and a literal.
_Key: TypeAlias = tuple[str, bool, Site]


@dataclass(frozen=True)
class _Printed:
    """A request and what it prints: control ids, and the runs of text before, between and behind them."""

    request: Mapping[str, Json]
    controls: tuple[int, ...]
    runs: tuple[tuple[_Piece, ...], ...]

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The runs as the tokenizer sees them."""
        return tuple("".join(piece.text for piece in run) for run in self.runs)

    @cached_property
    def parts(self) -> tuple[Parts, ...]:
        """The runs, each taken apart into what stays and contents that could be others."""
        return tuple(_parts(run) for run in self.runs)

    @cached_property
    def roles(self) -> tuple[object, ...]:
        """Who is heard, message by message, in the order in which their texts are printed."""
        heard = [piece.message for run in self.runs for piece in run if piece.message is not None]
        return tuple(_role(self.request, message) for message, _ in groupby(heard))

    def alike(self, other: _Printed) -> bool:
        """Whether two requests print the same."""
        return self.controls == other.controls and self.texts == other.texts


def printed(program: Program, request: Mapping[str, Json]) -> _Printed | None:
    """What a request prints; None where it is refused."""
    try:
        rendering = render(program, canonical(program, dict(request)))
    except KatapiError:
        return None
    sampled = {at for start, end in rendering.sampled for at in range(start, end)}
    controls: list[int] = []
    runs: list[list[_Piece]] = [[]]
    for at, segment in enumerate(rendering.segments):
        match segment:
            case ControlSegment(token=token):
                controls.append(token.id)
                runs.append([])
            case LiteralSegment(text=text, site=site):
                runs[-1].append(_Piece(text, None, None, site, at in sampled))
            case ContentSegment(text=content, path=path):
                message = path[1] if path[:1] == ("messages",) and len(path) > 1 else None
                whole = message is not None and _value_at(request, path) == content
                runs[-1].append(_Piece(content, _index(message), path if whole else None, None, at in sampled))
    return _Printed(request, tuple(controls), tuple(tuple(p for p in run if p.text) for run in runs))


def forgeries(program: Program, most: int) -> Iterator[Forgery]:
    """Pairs of requests of at most so many messages, the smaller first; each shows a new speaker or a new boundary.

    What the spec says of boundaries is left aside: these are the forgeries that it has to answer.
    """
    return _Search(_with_boundaries(program, ())).run(most)


def answers(program: Program, forgery: Forgery) -> tuple[t.Boundary, ...]:
    """The boundaries that the spec names and the forgery spells."""
    return tuple(one for one in there(program.template) if _refuses(program, (one,), forgery))


def answered(program: Program, forgery: Forgery) -> bool:
    """Whether the spec says what becomes of the forgery."""
    return _refuses(program, there(program.template), forgery)


def _refuses(program: Program, boundaries: tuple[t.Boundary, ...], forgery: Forgery) -> bool:
    refused = tuple(replace(one, answer=AnswerKind.REJECT, escape=None) for one in boundaries)
    return printed(_with_boundaries(program, refused), forgery.forged) is None


def _with_boundaries(program: Program, boundaries: tuple[t.Boundary, ...]) -> Program:
    return replace(program, template=replace(program.template, boundaries=boundaries))


class _Search:
    """Renders small requests and compares those that print the same control tokens."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._shown: set[_Key] = set()
        self._failed: dict[frozenset[_Key], int] = {}

    def run(self, most: int) -> Iterator[Forgery]:
        """All that is found in requests of at most so many messages."""
        by_controls: dict[tuple[int, tuple[int, ...]], list[_Printed]] = {}
        for number, request in conversations(self._program, most):
            meant = printed(self._program, request)
            if meant is None:
                continue
            alike = by_controls.setdefault((number, meant.controls), [])
            for forger in alike:
                yield from self._spelled(forger, meant)
                if len(forger.roles) == len(meant.roles):
                    yield from self._spelled(meant, forger)
            yield from self._moved(meant)
            alike.append(meant)

    def _spelled(self, forger: _Printed, meant: _Printed) -> Iterator[Forgery]:
        """Contents for one request with which it prints what another with other messages prints, if they are found."""
        if forger.roles == meant.roles:
            return
        contents: dict[Path, str] = {}
        spelling: list[tuple[_Piece, tuple[Spelled, ...]]] = []
        for own, text, other in zip(forger.parts, meant.texts, meant.runs, strict=True):
            found = _fitted(own, text)
            if found is None:
                return
            for piece, start, end in found:
                assert piece.path is not None, "only contents fit"
                if contents.setdefault(piece.path, text[start:end]) != text[start:end]:
                    return
                if literals := _literals(other, start, end):
                    spelling.append((piece, literals))
        within = _turns(forger) == _turns(meant)
        keys = self._keys(forger.request, spelling, within)
        if keys <= self._shown or self._failed.get(keys, 0) >= _TRIES:
            return
        filled = self._with(forger, contents)
        if filled is None or not filled.alike(meant) or filled.roles == meant.roles:
            self._failed[keys] = self._failed.get(keys, 0) + 1
            return
        for piece, literals in spelling:
            if not _declared(self._program, filled.request, piece):
                yield from self._found(piece, literals, filled, meant, within=_turns(filled) == _turns(meant))

    def _moved(self, one: _Printed) -> Iterator[Forgery]:
        """Two contents of different messages with literals between: one or the other spells these a second time."""
        for run in one.runs:
            contents = [at for at, piece in enumerate(run) if piece.path is not None]
            for left, right in pairwise(contents):
                first, second = run[left], run[right]
                between = _stretches(run[left + 1 : right])
                if first.path is None or second.path is None or first.message == second.message or len(between) != 1:
                    continue
                if not all(piece.site for piece in run[left + 1 : right]):
                    continue
                within = _role(one.request, first.message) == _role(one.request, second.message)
                if self._keys(one.request, [(first, between), (second, between)], within) <= self._shown:
                    continue
                text = between[0].text
                early = self._with(one, {first.path: f"x{text}y", second.path: "z"})
                late = self._with(one, {first.path: "x", second.path: f"y{text}z"})
                if early is not None and late is not None and early.alike(late):
                    yield from self._found(first, between, early, late, within=within)
                    yield from self._found(second, between, late, early, within=within)

    def _with(self, one: _Printed, contents: Mapping[Path, str]) -> _Printed | None:
        return printed(self._program, {key: _filled(value, (key,), contents) for key, value in one.request.items()})

    # ---- what is new

    def _keys(
        self, request: Mapping[str, Json], spelling: Sequence[tuple[_Piece, Sequence[Spelled]]], within: bool
    ) -> frozenset[_Key]:
        return frozenset(
            (".".join(_speaker(self._program, request, piece)), within, site)
            for piece, boundary in spelling
            for one in boundary
            for _, site in one.literals
        )

    def _found(
        self, piece: _Piece, boundary: tuple[Spelled, ...], forged: _Printed, meant: _Printed, *, within: bool
    ) -> Iterator[Forgery]:
        keys = self._keys(forged.request, [(piece, boundary)], within)
        if not keys <= self._shown:
            self._shown |= keys
            role, field = _speaker(self._program, forged.request, piece)
            yield Forgery(role, field, piece.sampled, within, boundary, forged.request, meant.request)


def conversations(program: Program, most: int) -> Iterator[tuple[int, Mapping[str, Json]]]:
    """Requests of one to so many messages, each message with texts of its own, the shorter first.

    The number tells what stands beside the messages: as little as can be where these are many, or few are asked for.
    """
    rules = program.request
    for size in range(1, most + 1):
        variants = [
            [
                {**message, "role": _OPEN_ROLE} if role.open else message
                for role in rules.roles
                for message in _few(messages_of(role, rules, text), size)
            ]
            for text in _TEXTS[:size]
        ]
        for parts in product(*variants):
            for number, beside in enumerate(requests(program, {})):
                if not number or size <= _SMALL < most:
                    yield number, {"messages": list(parts), **beside}


def _turns(one: _Printed) -> list[object]:
    """Who speaks in turn: the roles that are heard, without those that repeat the one before."""
    return [role for role, _ in groupby(one.roles)]


def _few(messages: Sequence[Mapping[str, Json]], size: int) -> Sequence[Mapping[str, Json]]:
    """Of the messages of a role the fullest, and in small conversations the emptiest and one between."""
    return messages[-1:] if size > _SMALL else [*messages[:2], *messages[2:][-1:]]


def _fitted(parts: Parts, text: str) -> list[tuple[_Piece, int, int]] | None:
    """Where in a text the contents of a run would stand if it printed that text; None where it cannot.

    What is no content of a message is looked for from left to right, and what stands last at the end.
    """
    opening, waiting = parts[0]
    if not text.startswith(opening):
        return None
    at = len(opening)
    found: list[tuple[_Piece, int, int]] = []
    for fixed, contents in parts[1:]:
        start = text.find(fixed, at) if contents else max(at, len(text) - len(fixed))
        if start < 0 or not text.startswith(fixed, start):
            return None
        found += [(piece, start if number else at, start) for number, piece in enumerate(waiting)]
        at, waiting = start + len(fixed), contents
    return found if at == len(text) else None


def _parts(run: Run) -> Parts:
    """A run as fixed texts, each with the contents behind it; the last has none."""
    parts: list[tuple[str, list[_Piece]]] = [("", [])]
    for piece in run:
        fixed, contents = parts[-1]
        if piece.path is not None:
            contents.append(piece)
        elif contents:
            parts.append((piece.text, []))
        else:
            parts[-1] = (fixed + piece.text, [])
    return [*parts, ("", [])] if parts[-1][1] else parts


def _literals(run: Run, start: int, end: int) -> tuple[Spelled, ...]:
    """The stretches of literals of a run between two offsets in its text; none where no message says a word there."""
    inside: list[_Piece] = []
    at = 0
    for piece in run:
        text = piece.text[max(start - at, 0) : max(end - at, 0)]
        at += len(piece.text)
        if text:
            inside.append(replace(piece, text=text))
    return _stretches(inside) if any(piece.path is not None for piece in inside) else ()


def _stretches(run: Run) -> tuple[Spelled, ...]:
    """The stretches of literals in a run."""
    found: list[Spelled] = []
    for is_literal, pieces in groupby(run, key=lambda piece: piece.site is not None):
        if is_literal:
            found.append(Spelled(tuple((piece.text, piece.site) for piece in pieces if piece.site is not None)))
    return tuple(found)


def _speaker(program: Program, request: Mapping[str, Json], piece: _Piece) -> tuple[str, str]:
    """The role and the field of a content; all roles that are not declared have the name of the open one."""
    assert piece.path is not None, "a text of a message has a place"
    role = str(_role(request, piece.message))
    rules = program.request
    if role not in rules.named_roles and rules.open_role is not None:
        role = rules.open_role.name
    return role, ".".join(str(step) for step in piece.path[2:] if not isinstance(step, int))


def _declared(program: Program, request: Mapping[str, Json], piece: _Piece) -> bool:
    """Whether a piece is the role of a message and one that is declared: no text of the request, but its structure."""
    path = piece.path
    return path is not None and path[2:] == ("role",) and _value_at(request, path) in program.request.named_roles


def _role(request: Mapping[str, Json], message: int | None) -> object:
    return _value_at(request, ("messages", message or 0, "role"))


def _index(step: str | int | None) -> int | None:
    return step if isinstance(step, int) else None


def _value_at(value: object, path: Path) -> object:
    for step in path:
        if isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(value, list | tuple) and isinstance(step, int):
            value = value[step]
        else:
            return None
    return value


def _filled(value: Json, path: Path, contents: Mapping[Path, str]) -> Json:
    """A value of a request with other texts at some places."""
    if path in contents:
        return contents[path]
    if isinstance(value, Mapping):
        return {key: _filled(inner, (*path, key), contents) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_filled(inner, (*path, at), contents) for at, inner in enumerate(value)]
    return value
