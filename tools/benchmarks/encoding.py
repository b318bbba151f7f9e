"""Text to ids: each vocabulary, each kind of text, as list, as array, and counted."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from tools.benchmarks.agreement import Agreement, agreement, between_ids
from tools.benchmarks.corpus import Texts, chats, documents
from tools.benchmarks.encoders import Encoder
from tools.benchmarks.opened import each_opened
from tools.benchmarks.peers import KATAPI, PEERS, PURE
from tools.benchmarks.plot import Ratios
from tools.benchmarks.settings import Settings
from tools.benchmarks.statistics import Ratio, ratio, short
from tools.benchmarks.tables import folded, paragraph, table
from tools.benchmarks.timing import Side, Work, in_pairs, interleaved
from tools.benchmarks.vocabularies import DECLARED

Item = tuple[str, ...]

FORMS: Mapping[str, Callable[[Encoder], Callable[[str], object]]] = {
    "list": lambda encoder: encoder.as_list,
    "array": lambda encoder: encoder.as_array,
    "count": lambda encoder: encoder.count,
}

INTRODUCTION = paragraph(
    "Text to ids. Each cell has two ratios: on documents in parts of 64 KiB, and on the messages of short chats. A "
    "text has been met before, as in a server that sees the same prompts again, but where it says *new*: there each "
    "text is met for the first time, by a tokenizer that has met other texts. Texts that were met are timed for Katapi "
    "and one peer in turn, new ones for all in turn, since they are new only once."
)

FIRST = {"list": "As list", "array": "As array", "new": "As list, new text"}
"""The forms of the tables that come first."""


class Cell(NamedTuple):
    """A peer beside Katapi, on texts of one kind. `form` is one of FORMS, or `new`: lists of texts not met before."""

    vocabulary: str
    peer: str
    form: str
    kind: str
    katapi: list[float]
    """Nanoseconds, one figure an item."""
    other: list[float]

    @property
    def ratio(self) -> Ratio:
        """The peer's times beside Katapi's."""
        return ratio(self.katapi, self.other)


class Measured(NamedTuple):
    """All that was found."""

    cells: list[Cell]
    speeds: dict[tuple[str, str, str], float]
    """Katapi's own megabytes a second, by vocabulary, form and kind."""
    absent: dict[tuple[str, str], str]
    """Why a peer is not measured with a vocabulary."""
    differing: dict[tuple[str, str, str], Agreement]
    """Peers whose ids are others, by vocabulary, peer and kind of text."""


def measure(settings: Settings) -> Measured:
    """Measures every vocabulary."""
    found = Measured([], {}, {}, {})
    kinds = [*documents(settings.chunks), chats(settings.conversations)]
    left_out: dict[str, str] = {}
    for at_hand in each_opened(settings, DECLARED, left_out):
        title = at_hand.vocabulary.title
        found.absent.update({(title, peer): reason for peer, reason in at_hand.absent.items()})
        for texts in kinds:
            _measure_kind(found, title, texts, at_hand.all, settings.rounds)
            print(f"bench: encode {title}, {texts.kind}", file=sys.stderr, flush=True)
    found.absent.update({(title, "all"): reason for title, reason in left_out.items()})
    return found


def _measure_kind(found: Measured, title: str, texts: Texts, encoders: Mapping[str, Encoder], rounds: int) -> None:
    """The first round has texts that nobody has met, and its ids are compared; who gives others goes no further."""
    new = interleaved({name: _side(encoder.as_list) for name, encoder in encoders.items()}, texts.items, 1)
    expected = new[KATAPI.name].results
    equal = {KATAPI.name: encoders[KATAPI.name]}
    for peer, times in new.items():
        compared = agreement(expected, times.results, between_ids)
        if compared.full:
            equal[peer] = encoders[peer]
        else:
            found.differing[title, peer, texts.kind] = compared
    at_first = {name: times.first for name, times in new.items() if name in equal}
    ours = at_first.pop(KATAPI.name)
    found.speeds[title, "new", texts.kind] = texts.size / sum(ours) * 1e3
    found.cells.extend(Cell(title, peer, "new", texts.kind, ours, other) for peer, other in at_first.items())
    for form, of in FORMS.items():
        sides = {name: _side(of(encoder)) for name, encoder in equal.items()}
        own = sides.pop(KATAPI.name)
        pairs = in_pairs(own, sides, texts.items, rounds)
        alone = interleaved({KATAPI.name: own}, texts.items, rounds)[KATAPI.name]
        found.speeds[title, form, texts.kind] = texts.size / sum(alone.later) * 1e3
        found.cells.extend(Cell(title, peer, form, texts.kind, a.later, b.later) for peer, (a, b) in pairs.items())


def _side(encode: Callable[[str], object]) -> Side[Item]:
    def side(item: Item) -> Work:
        return lambda: [encode(text) for text in item]

    return side


def overall(cells: list[Cell], vocabulary: str, peer: str, form: str, *, chats: bool) -> Ratio | None:
    """The ratio over all items of documents, or of chats; None where nothing was timed."""
    chosen = [
        cell
        for cell in cells
        if (cell.vocabulary, cell.peer, cell.form) == (vocabulary, peer, form) and (cell.kind == "chats") == chats
    ]
    if not chosen:
        return None
    return ratio([t for cell in chosen for t in cell.katapi], [t for cell in chosen for t in cell.other])


def beside_pure(cells: list[Cell]) -> list[Cell]:
    """The cells of the other peers with Katapi's pure form in the place of Katapi, each side as multiples of Katapi."""
    pure = {(cell.vocabulary, cell.form, cell.kind): cell for cell in cells if cell.peer == PURE}
    others = [cell for cell in cells if cell.peer != PURE and (cell.vocabulary, cell.form, cell.kind) in pure]
    return [
        cell._replace(katapi=_multiples(pure[cell.vocabulary, cell.form, cell.kind]), other=_multiples(cell))
        for cell in others
    ]


def _multiples(cell: Cell) -> list[float]:
    return [other / ours for ours, other in zip(cell.katapi, cell.other, strict=True)]


def report(found: Measured) -> str:
    """The section of the page."""
    titles = [*dict.fromkeys(title for title, _, _ in found.speeds)]
    kinds = [*dict.fromkeys(kind for _, _, kind in found.speeds)]
    parts = [INTRODUCTION]
    for form, heading in FIRST.items():
        parts += [f"{heading}:\n", table(["beside", *titles], _summary(found, titles, form))]
    pure = [*_summary(found._replace(cells=beside_pure(found.cells)), titles, "list")]
    if pure:
        parts += ["The pure form in the place of the compiled one, as list:\n", table(["beside", *titles], pure)]
    parts += [
        "![Encoding beside each peer](benchmarks.svg)\n",
        "Katapi's own speed in MB/s, taking no turns with others but for new text, documents and then chats:\n",
        table(["", *titles], _speeds(found, titles, kinds)),
    ]
    headings = {
        "list": "as list, text met before",
        "new": "as list, new text",
        "array": "as array, text met before",
        "count": "counted, text met before",
    }
    for form, heading in headings.items():
        rows = _rows(found, titles, kinds, form)
        parts.append(folded(f"Each kind of text, {heading}", table(["vocabulary", "beside", *kinds], rows)))
    parts.append(folded("Who is not measured, and why", table(["peer", "vocabularies", "why"], _gone(found))))
    return "\n".join(parts)


def points(found: Measured) -> dict[str, Ratios]:
    """The medians of the first tables, for the plot."""
    titles = [*dict.fromkeys(title for title, _, _ in found.speeds)]
    return {
        heading: {
            title: {
                peer.name: (
                    _median(overall(found.cells, title, peer.name, form, chats=False)),
                    _median(overall(found.cells, title, peer.name, form, chats=True)),
                )
                for peer in PEERS
            }
            for title in titles
        }
        for form, heading in FIRST.items()
    }


def _median(of: Ratio | None) -> float | None:
    return None if of is None else of.median


def _summary(found: Measured, titles: list[str], form: str) -> Iterator[list[str]]:
    for peer in (peer.name for peer in PEERS):
        cells = []
        for title in titles:
            ratios = [overall(found.cells, title, peer, form, chats=chats) for chats in (False, True)]
            cells.append(" / ".join("–" if each is None else f"{short(each.median)}×" for each in ratios))
        if any(cell != "– / –" for cell in cells):
            yield [peer, *("" if cell == "– / –" else cell for cell in cells)]


def _speeds(found: Measured, titles: list[str], kinds: list[str]) -> Iterator[list[str]]:
    for form in ("list", "new", "array", "count"):
        row = []
        for title in titles:
            of = {kind: found.speeds[title, form, kind] for kind in kinds}
            on_chats = of.pop("chats")
            row.append(f"{short(statistics.median(of.values()))} / {short(on_chats)}")
        yield [{"list": "as list", "new": "new, as list", "array": "as array", "count": "counted"}[form], *row]


def _rows(found: Measured, titles: list[str], kinds: list[str], form: str) -> Iterator[list[str]]:
    at = {(c.vocabulary, c.peer, c.kind): c.ratio for c in found.cells if c.form == form}
    for title in titles:
        for peer in (peer.name for peer in PEERS):
            if any((title, peer, kind) in at for kind in kinds):
                yield [title, peer, *(str(at.get((title, peer, kind), "differs")) for kind in kinds)]


def _gone(found: Measured) -> Iterator[list[str]]:
    titles: dict[tuple[str, str], list[str]] = {}
    for (title, peer), reason in found.absent.items():
        titles.setdefault((peer, reason), []).append(title)
    for (peer, reason), of in titles.items():
        yield [peer, ", ".join(of), reason]
    for (title, peer, kind), told in found.differing.items():
        yield [peer, title, f"{kind}: {told}"]
