"""Ids to text: all at once, and one id at a time as a model gives them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import NamedTuple

from tools.benchmarks.agreement import agreement, between_texts
from tools.benchmarks.corpus import chats, documents
from tools.benchmarks.encoders import Encoder, joined, text_of
from tools.benchmarks.opened import each_opened
from tools.benchmarks.peers import KATAPI, PEERS
from tools.benchmarks.settings import Settings
from tools.benchmarks.statistics import Ratio, ratio, short
from tools.benchmarks.tables import paragraph, table
from tools.benchmarks.timing import Side, Work, in_pairs, interleaved
from tools.benchmarks.vocabularies import DECLARED

STREAMED = 2_000  # ids, about as long as a long reply
WAYS = ("documents", "chats", "streaming")

INTRODUCTION = paragraph(
    "Ids to text: the same documents, the same chats, and the beginnings of documents one id at a time, each with "
    "the text that is certain by then. Peers without a stream of their own are given the usual one: the bytes of "
    "each id through an incremental decoder of the standard library."
)


class Measured(NamedTuple):
    """All that was found, by vocabulary, peer and way."""

    ratios: dict[tuple[str, str, str], Ratio]
    speeds: dict[tuple[str, str], float]
    """Katapi's own millions of ids a second, by vocabulary and way."""
    differing: dict[tuple[str, str, str], str]


def measure(settings: Settings) -> Measured:
    """Measures every vocabulary."""
    found = Measured({}, {}, {})
    texts = [text for of_kind in documents(max(2, settings.chunks // 4)) for (text,) in of_kind.items]
    short_texts = ["\n".join(item) for item in chats(settings.conversations // 4).items]
    for at_hand in each_opened(settings, DECLARED, {}):
        encode = at_hand.katapi.as_list
        items = {way: [encode(text) for text in of] for way, of in (("documents", texts), ("chats", short_texts))}
        items["streaming"] = [ids[:STREAMED] for ids in items["documents"]]
        for way, of in items.items():
            _measure_way(found, at_hand.vocabulary.title, way, of, at_hand.all, settings.rounds)
        print(f"bench: decode {at_hand.vocabulary.title}", file=sys.stderr, flush=True)
    return found


def _measure_way(
    found: Measured, title: str, way: str, items: list[list[int]], encoders: dict[str, Encoder], rounds: int
) -> None:
    """Who gives another text, as ids that end within a character may give, is not timed."""
    sides = {name: _side(encoder, way) for name, encoder in encoders.items() if _does(encoder, way)}
    first = interleaved(sides, items, 1)
    expected = [_shown(result) for result in first[KATAPI.name].results]
    for name in sides.keys() - {KATAPI.name}:
        compared = agreement(expected, [_shown(result) for result in first[name].results], between_texts)
        if not compared.full:
            found.differing[title, name, way] = str(compared)
            del sides[name]
    own = sides.pop(KATAPI.name)
    pairs = in_pairs(own, sides, items, rounds)
    alone = interleaved({KATAPI.name: own}, items, rounds)[KATAPI.name]
    found.speeds[title, way] = sum(map(len, items)) / sum(alone.later) * 1e3
    found.ratios.update({(title, name, way): ratio(a.later, b.later) for name, (a, b) in pairs.items()})


def _does(encoder: Encoder, way: str) -> bool:
    return (encoder.stream if way == "streaming" else encoder.decode) is not None


def _side(encoder: Encoder, way: str) -> Side[list[int]]:
    decode = encoder.stream if way == "streaming" else encoder.decode
    if decode is None:
        raise ValueError(f"{way} was asked of who has none")

    def side(ids: list[int]) -> Work:
        return lambda: decode(ids)

    return side


def _shown(result: object) -> object:
    if isinstance(result, list):
        return joined(result)
    return text_of(result) if isinstance(result, str | bytes) else result


def report(found: Measured) -> str:
    """The section of the page."""
    titles = [*dict.fromkeys(title for title, _ in found.speeds)]
    parts = [
        INTRODUCTION,
        table(["vocabulary", "beside", *WAYS], _rows(found, titles)),
        "Katapi's own speed in millions of ids a second:\n",
        table(["", *titles], ([way, *(short(found.speeds[title, way]) for title in titles)] for way in WAYS)),
    ]
    if found.differing:
        rows = [[title, peer, way, told] for (title, peer, way), told in found.differing.items()]
        parts.append(table(["vocabulary", "beside", "", "another text"], rows))
    return "\n".join(parts)


def _rows(found: Measured, titles: list[str]) -> Iterator[list[str]]:
    for title in titles:
        for peer in (peer.name for peer in PEERS):
            cells = [str(found.ratios.get((title, peer, way), "")) for way in WAYS]
            if any(cells):
                yield [title, peer, *cells]
