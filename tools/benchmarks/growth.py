"""How time grows with the length of a text, up to 10 MB, on prose and on texts that are hard."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import NamedTuple

from tools.benchmarks.adversaries import KINDS, LENGTHS, PROSE
from tools.benchmarks.opened import each_opened
from tools.benchmarks.peers import KATAPI
from tools.benchmarks.processes import run
from tools.benchmarks.settings import Settings
from tools.benchmarks.statistics import short
from tools.benchmarks.tables import folded, paragraph, table

MEASURED = ("qwen3", "mistral")
COMPARED = 1_000_000
"""The length of the texts that stand in the tables of ratios."""

INTRODUCTION = paragraph(
    "A million bytes of texts that are hard. Where there is no figure, a text ten times shorter had taken too long for "
    "the next to be tried, or ended in an error. First how many times as long as Katapi each peer takes:"
)
BESIDE_PROSE = paragraph(
    "And how many times as long as a byte of prose each byte takes, for each peer beside itself; below 1 is faster "
    "than prose:"
)


class Measured(NamedTuple):
    """Nanoseconds a byte, by vocabulary, peer, kind of text and length."""

    costs: dict[tuple[str, str, str, int], float]
    failed: dict[tuple[str, str, str, int], str]
    """Errors where there is no cost."""
    ended: dict[tuple[str, str], str]
    """Peers that did not come to their end, and why."""


def measure(settings: Settings) -> Measured:
    """A process for each peer, since a text can end one."""
    found = Measured({}, {}, {})
    for at_hand in each_opened(settings, MEASURED, {}):
        for peer in at_hand.all:
            arguments = (str(settings.longest), str(settings.patience))
            limit = settings.patience * 6 * len(KINDS)
            outcome = run("growth", peer, at_hand.vocabulary, *arguments, limit=limit)
            for line in outcome.lines:
                at = (at_hand.vocabulary.title, peer, str(line["kind"]), int(line["length"]))
                if "failed" in line:
                    found.failed[at] = str(line["failed"])
                else:
                    found.costs[at] = float(line["seconds"]) / float(line["bytes"]) * 1e9
            if outcome.ended:
                found.ended[at_hand.vocabulary.title, peer] = outcome.ended
            print(f"bench: growth {at_hand.vocabulary.title}, {peer}", file=sys.stderr, flush=True)
    return found


def report(found: Measured) -> str:
    """The section of the page."""
    titles = [*dict.fromkeys(title for title, *_ in found.costs)]
    parts = [
        INTRODUCTION,
    ]
    for title in titles:
        peers = [*dict.fromkeys(peer for of, peer, *_ in found.costs if of == title)]
        others = [peer for peer in peers if peer != KATAPI.name]
        parts.append(table([title, *others], _beside_katapi(found, title, others)))
    parts.append(BESIDE_PROSE)
    for title in titles:
        peers = [*dict.fromkeys(peer for of, peer, *_ in found.costs if of == title)]
        parts.append(table([title, *peers], _beside_prose(found, title, peers)))
    parts.append("Katapi, nanoseconds a byte by length:\n")
    for title in titles:
        lengths = [length for length in LENGTHS if (title, KATAPI.name, PROSE, length) in found.costs]
        parts.append(
            table([title, *(f"{length:,}" for length in lengths)], _by_length(found, title, KATAPI.name, lengths))
        )
    for title in titles:
        peers = [*dict.fromkeys(peer for of, peer, *_ in found.costs if of == title and peer != KATAPI.name)]
        longest = max(length for of, *_, length in found.costs if of == title)
        lengths = [length for length in LENGTHS if length <= longest]
        heads = {peer: [peer, *(f"{length:,}" for length in lengths)] for peer in peers}
        tables = [table(head, _by_length(found, title, peer, lengths)) for peer, head in heads.items()]
        parts.append(folded(f"Peers, nanoseconds a byte by length, {title}", "\n".join(tables)))
    parts += [
        paragraph(f"{title}, {peer}: {length:,} bytes of {kind} end in an error, {error}.")
        for (title, peer, kind, length), error in found.failed.items()
    ]
    parts += [
        f"{title}, {peer}: the process did not end well, {ended}.\n" for (title, peer), ended in found.ended.items()
    ]
    return "\n".join(parts)


def _beside_katapi(found: Measured, title: str, peers: list[str]) -> Iterator[list[str]]:
    for kind in KINDS:
        ours = found.costs.get((title, KATAPI.name, kind, COMPARED))
        costs = [found.costs.get((title, peer, kind, COMPARED)) for peer in peers]
        yield [kind, *("" if cost is None or ours is None else f"{short(cost / ours)}×" for cost in costs)]


def _beside_prose(found: Measured, title: str, peers: list[str]) -> Iterator[list[str]]:
    for kind in (kind for kind in KINDS if kind != PROSE):
        cells = []
        for peer in peers:
            cost = found.costs.get((title, peer, kind, COMPARED))
            prose = found.costs.get((title, peer, PROSE, COMPARED))
            failed = any(at[:3] == (title, peer, kind) for at in found.failed)
            if cost is None or prose is None:
                cells.append("error" if failed else "")
            else:
                cells.append(short(cost / prose))
        yield [kind, *cells]


def _by_length(found: Measured, title: str, peer: str, lengths: list[int]) -> Iterator[list[str]]:
    for kind in KINDS:
        costs = [found.costs.get((title, peer, kind, length)) for length in lengths]
        yield [kind, *("" if cost is None else short(cost) for cost in costs)]
