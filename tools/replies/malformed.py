"""Replies as models get them wrong, made from good ones by rule, each with what of it must be read and what may be."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from tools.replies.cases import Piece, Reply
from tools.replies.said import Called, Said

WORDS = "Hello there"
CUTS = 12
"""At how many places a reply is cut off."""


class Kind(Enum):
    """What is wrong with a reply."""

    NOTHING = "as the template prints it"
    CUT = "cut off"
    BROKEN = "a brace of a call's JSON missing"
    UNCLOSED = "a tag missing"
    BEHIND = "text behind the closing token"
    BETWEEN = "text behind the calls"
    UNKNOWN = "a token that does not belong in the text"
    SPELLED = "markers that are only spelled in the content"
    THOUGHT = "markers that are only spelled in the reasoning"
    TIGHT = "no line breaks beside tags"
    LOOSE = "line breaks beside tags doubled"


@dataclass(frozen=True, slots=True)
class Expected:
    """What a reading must give."""

    content: tuple[str, ...] | None
    """The texts that the content may be, but for white space at its ends; None where it may be any."""
    reasoning: tuple[str, ...] | None
    kept: tuple[Called, ...]
    """The calls that must be read."""
    allowed: tuple[Called, ...]
    """The calls that may be read, in order."""
    text: str | None = None
    """All text that content and reasoning together must hold, in order; None where `content` and `reasoning` tell."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A reply as it is read."""

    kind: Kind
    pieces: tuple[Piece, ...] | None
    """None where the ids are those of the reply."""
    expected: Expected


@dataclass(frozen=True)
class Facts:
    """What is known of a model beside the reply."""

    stops: Collection[int]
    """The tokens at which generation stops."""
    stranger: Piece
    """A control token that no reply has."""
    spelled: str
    """Calls of tools as the template prints them, which in a content are text."""


def samples(reply: Reply, facts: Facts, double: Reply | None) -> Iterator[Sample]:
    """All that is made of a reply; `double` is one with its call twice."""
    yield Sample(Kind.NOTHING, None, _whole(reply.says))
    for make in (_cut, _unclosed, _behind, _between, _unknown, _spelled, _thought, _spaced):
        yield from make(reply, facts)
    yield from _broken(reply)
    if double is not None:
        yield from _broken(double)
        yield from _unclosed(double, facts)


def _whole(says: Said) -> Expected:
    return Expected((says.content,), (says.reasoning,), says.calls, says.calls)


def _field(piece: Piece) -> str | None:
    """Whether a text is content or reasoning."""
    if not piece.path or piece.control is not None:
        return None
    name = piece.path[0]
    return "content" if name == "content" else None if name == "tool_calls" else "reasoning"


def _told(pieces: Sequence[Piece], says: Said) -> dict[str, str] | None:
    """Content and reasoning as pieces give them; None where the whole reply's pieces do not give what it says."""
    out = {"content": "", "reasoning": ""}
    for piece in pieces:
        field = _field(piece)
        if field is not None:
            out[field] += piece.text
    return out


def _honest(reply: Reply) -> bool:
    """Whether the pieces of a reply give its content and reasoning."""
    told = _told(reply.pieces, reply.says)
    return told is not None and (told["content"].strip(), told["reasoning"].strip()) == (
        reply.says.content.strip(),
        reply.says.reasoning.strip(),
    )


def _plain(reply: Reply) -> bool:
    """Whether calls are told from content by no token."""
    first = next((at for at, piece in enumerate(reply.pieces) if piece.call is not None), None)
    return first is not None and all(piece.control is None for piece in reply.pieces[:first])


def _cut(reply: Reply, facts: Facts) -> Iterator[Sample]:
    """Cut off at some places."""
    if not reply.follows or not _honest(reply):
        return
    length = sum(1 if piece.control is not None else len(piece.text) for piece in reply.pieces)
    places = sorted({round(length * at / (CUTS + 1)) for at in range(1, CUTS + 1)} - {0, length})
    for place in places:
        yield cut_at(reply, place)


def cut_at(reply: Reply, place: int) -> Sample:
    """A reply of which only the first characters and tokens are there."""
    pieces: list[Piece] = []
    left = place
    for piece in reply.pieces:
        width = 1 if piece.control is not None else len(piece.text)
        if not left:
            break
        pieces.append(piece if left >= width else piece._replace(text=piece.text[:left]))
        left -= min(left, width)
    told = _told(pieces, reply.says)
    assert told is not None
    begun = {piece.call for piece in pieces if piece.call is not None}
    last = max(begun, default=-1)
    closed = len(pieces) >= len(reply.pieces) - 1 and pieces[-1] == reply.pieces[len(pieces) - 1]
    kept = len(reply.says.calls) if closed else last
    whole = _text_of(pieces, last) == _text_of(reply.pieces, last)
    allowed = last + 1 if whole else last
    content: tuple[str, ...] | None = (told["content"],)
    if _plain(reply):
        content = None
    expected = Expected(
        content,
        (told["reasoning"],),
        reply.says.calls[: max(0, kept)],
        reply.says.calls[: max(0, kept, allowed)],
    )
    return Sample(Kind.CUT, tuple(pieces), expected)


def _text_of(pieces: Sequence[Piece], call: int) -> str:
    return "".join(piece.text for piece in pieces if piece.call == call)


def _broken(reply: Reply) -> Iterator[Sample]:
    """Without the last closing brace of the arguments of one call, and without the first opening one."""
    for at, piece in enumerate(reply.pieces):
        call = piece.call
        if call is None or not (len(piece.path) == 2 or piece.path[-1] == "arguments"):
            continue
        for changed in (_without(piece.text, piece.text.rfind("}")), _without(piece.text, piece.text.find("{"))):
            if changed is None:
                continue
            pieces = (*reply.pieces[:at], piece._replace(text=changed), *reply.pieces[at + 1 :])
            yield Sample(Kind.BROKEN, pieces, _lost(reply, {call}))


def _without(text: str, place: int) -> str | None:
    return None if place < 0 else text[:place] + text[place + 1 :]


def _lost(reply: Reply, calls: Collection[int]) -> Expected:
    """The whole, of which some calls may be lost."""
    says = reply.says
    kept = tuple(call for at, call in enumerate(says.calls) if at not in calls)
    content = None if _plain(reply) else (says.content,)
    return Expected(content, (says.reasoning,), kept, says.calls)


def _unclosed(reply: Reply, facts: Facts) -> Iterator[Sample]:
    """Without one of the control tokens, the last one left out of account."""
    calls = [piece.call for piece in reply.pieces]
    for at, piece in enumerate(reply.pieces[:-1]):
        if piece.control is None or piece.control in facts.stops:
            continue
        pieces = (*reply.pieces[:at], *reply.pieces[at + 1 :])
        before = next((call for call in reversed(calls[:at]) if call is not None), None)
        behind = next((call for call in calls[at:] if call is not None), None)
        near = {call for call in (before, behind) if call is not None}
        fields = {_field(other) for other in reply.pieces[at:]} - {None}
        if not near or (before is None and fields):
            told = " ".join(other.text for other in reply.pieces if _field(other) is not None)
            kept = tuple(call for number, call in enumerate(reply.says.calls) if number not in near)
            kept = () if before is None else kept
            yield Sample(Kind.UNCLOSED, pieces, Expected(None, None, kept, reply.says.calls, told))
        else:
            encloses = before is None or behind is None
            lost = _lost(reply, range(len(reply.says.calls)) if encloses else near)
            if before is None or encloses:
                told = " ".join(other.text for other in reply.pieces if _field(other) is not None)
                lost = Expected(None, None, lost.kept, lost.allowed, told)
            yield Sample(Kind.UNCLOSED, pieces, lost)


def _behind(reply: Reply, facts: Facts) -> Iterator[Sample]:
    """Text behind the closing token."""
    if reply.follows and reply.pieces[-1].control in facts.stops:
        yield Sample(Kind.BEHIND, (*reply.pieces, Piece(WORDS, None)), _whole(reply.says))


def _between(reply: Reply, facts: Facts) -> Iterator[Sample]:
    """Text behind the last call, before the closing token."""
    says = reply.says
    if says.calls and reply.pieces[-1].control in facts.stops and not _plain(reply):
        pieces = (*reply.pieces[:-1], Piece(f"\n{WORDS}", None), reply.pieces[-1])
        joined = tuple(says.content + between + WORDS for between in ("", "\n", "\n\n", " "))
        yield Sample(Kind.BETWEEN, pieces, Expected((says.content, *joined), (says.reasoning,), says.calls, says.calls))


def _unknown(reply: Reply, facts: Facts) -> Iterator[Sample]:
    """A control token that does not belong there, in the midst of content and of reasoning."""
    for at, piece in enumerate(reply.pieces):
        field = _field(piece)
        if field is None or len(piece.text.strip()) < 2 or not _honest(reply):
            continue
        half = len(piece.text) // 2
        halves = piece._replace(text=piece.text[:half]), facts.stranger, piece._replace(text=piece.text[half:])
        pieces = (*reply.pieces[:at], *halves, *reply.pieces[at + 1 :])
        spelled = _told(
            [one if one.control is None else piece._replace(text=one.text) for one in pieces if one in halves]
            if len(reply.pieces) == 1
            else [piece._replace(text=one.text) if one is facts.stranger else one for one in pieces],
            reply.says,
        )
        assert spelled is not None
        whole = _whole(reply.says)
        content, reasoning = whole.content or (), whole.reasoning or ()
        yield Sample(
            Kind.UNKNOWN,
            pieces,
            Expected((*content, spelled["content"]), (*reasoning, spelled["reasoning"]), whole.kept, whole.allowed),
        )


def _spelled(reply: Reply, facts: Facts) -> Iterator[Sample]:
    """A call as text, in the content."""
    places = [at for at, piece in enumerate(reply.pieces) if _field(piece) == "content"]
    if places and facts.spelled and _honest(reply):
        yield _inserted(reply, Kind.SPELLED, places[-1], f" {facts.spelled} so")


def spelled(replies: Sequence[Reply]) -> str:
    """What the template prints for the calls of the first reply that has any, where tokens tell them from content."""
    for reply in replies:
        if reply.says.calls and not _plain(reply):
            first = next((at for at, piece in enumerate(reply.pieces) if piece.call is not None), 0)
            start = first
            while start and (reply.pieces[start - 1].control is not None or not reply.pieces[start - 1].path):
                start -= 1
            return "".join(piece.text for piece in reply.pieces[start:-1]).strip()
    return ""


def _thought(reply: Reply, facts: Facts) -> Iterator[Sample]:
    """The token that ends the reasoning as text, in the midst of the reasoning."""
    at = next((at for at, piece in enumerate(reply.pieces) if _field(piece) == "reasoning"), None)
    if at is None or not _honest(reply):
        return
    end = next((piece for piece in reply.pieces[at:] if piece.control is not None), None)
    if end is not None:
        yield _inserted(reply, Kind.THOUGHT, at, f" {end.text} so")


def _inserted(reply: Reply, kind: Kind, at: int, text: str) -> Sample:
    piece = reply.pieces[at]
    changed = piece._replace(text=piece.text.rstrip() + text)
    pieces = (*reply.pieces[:at], changed, *reply.pieces[at + 1 :])
    told = _told(pieces, reply.says)
    assert told is not None
    expected = Expected((told["content"],), (told["reasoning"],), reply.says.calls, reply.says.calls)
    return Sample(kind, pieces, expected)


def _spaced(reply: Reply, facts: Facts) -> Iterator[Sample]:
    """With line breaks of the template beside control tokens left out, and doubled."""
    for kind, change in ((Kind.TIGHT, ""), (Kind.LOOSE, "\n\n")):
        pieces = tuple(_spaced_piece(reply.pieces, at, change) for at in range(len(reply.pieces)))
        if pieces != reply.pieces:
            yield Sample(kind, tuple(piece for piece in pieces if piece.text), _whole(reply.says))


def _spaced_piece(pieces: Sequence[Piece], at: int, change: str) -> Piece:
    piece = pieces[at]
    if piece.control is not None or piece.path:
        return piece
    text = piece.text
    if at and pieces[at - 1].control is not None:
        text = re.sub(r"^\n", change, text)
    if at + 1 < len(pieces) and pieces[at + 1].control is not None and text == piece.text:
        text = re.sub(r"\n$", change, text)
    return piece._replace(text=text)
