"""The plot of encoding: how many times as long as Katapi each peer takes, on logarithmic axes side by side."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from html import escape

WIDTH, LEFT, RIGHT, TOP, ROW, BETWEEN = 960, 132, 44, 78, 18, 14
COLOURS = ("#3b82f6", "#ef4444", "#10b981", "#f59e0b", "#a855f7", "#06b6d4", "#84cc16", "#ec4899", "#8b7355", "#64748b")

STYLE = """
  text { font: 12px system-ui, sans-serif; fill: #57606a; }
  .title { font-weight: 600; }
  .grid { stroke: #d0d7de; }
  .even { stroke: #57606a; stroke-width: 1.5; }
  @media (prefers-color-scheme: dark) {
    text { fill: #9da7b3; }
    .grid { stroke: #30363d; }
    .even { stroke: #9da7b3; }
  }
"""

Point = tuple[float | None, float | None]
"""The ratios on documents and on chats; None where nothing was measured."""

Ratios = Mapping[str, Mapping[str, Point]]
"""By vocabulary and peer."""

_Place = Callable[[float], float]
"""Where a ratio stands on an axis."""


def svg(panels: Mapping[str, Ratios]) -> str:
    """The plot, a panel for each form of the ids by its name. Raises ValueError where there is nothing in it."""
    points = [point for ratios in panels.values() for peers in ratios.values() for point in peers.values()]
    numbers = [one for point in points for one in point if one is not None]
    if not numbers:
        raise ValueError("nothing to plot")
    low = math.floor(math.log10(min(*numbers, 1)))
    high = max(math.ceil(math.log10(max(*numbers, 1))), low + 1)
    rows = _rows(panels)
    height = TOP + sum(ROW * len(peers) + BETWEEN + ROW for peers in rows.values()) + 12
    wide = (WIDTH - LEFT) / len(panels)
    body: list[str] = [*_names(rows)]
    for at_panel, (name, ratios) in enumerate(panels.items()):
        place = _axis_from(LEFT + at_panel * wide, wide - RIGHT, low, high)
        body += _axis(name, range(low, high + 1), at_height=height, at=place)
        body += _points(rows, ratios, place)
    drawn = "\n".join(body)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="Time of each peer beside Katapi, by vocabulary">\n<style>{STYLE}</style>\n{drawn}\n</svg>\n'
    )


def _rows(panels: Mapping[str, Ratios]) -> dict[str, list[str]]:
    """The peers by vocabulary that any panel has a point of."""
    rows: dict[str, list[str]] = {}
    for ratios in panels.values():
        for title, peers in ratios.items():
            row = rows.setdefault(title, [])
            row += [peer for peer, point in peers.items() if point != (None, None) and peer not in row]
    return rows


def _heights(rows: Mapping[str, list[str]]) -> Iterator[tuple[int, str, str]]:
    """Where each row stands, with its vocabulary and its peer; a vocabulary's heading has no peer."""
    y = TOP + 10
    for title, peers in rows.items():
        yield y, title, ""
        for peer in peers:
            y += ROW
            yield y, title, peer
        y += ROW + BETWEEN


def _axis_from(left: float, wide: float, low: int, high: int) -> _Place:
    return lambda ratio: left + (math.log10(ratio) - low) / (high - low) * wide


def _names(rows: Mapping[str, list[str]]) -> Iterator[str]:
    yield f'<text class="title" x="{LEFT}" y="18">Encoding: a peer\'s time beside Katapi\'s</text>'
    yield f'<text x="{LEFT}" y="35">● documents  ○ chats; right of 1× Katapi is faster, left of it the peer</text>'
    for y, title, peer in _heights(rows):
        if peer:
            yield f'<text x="{LEFT - 8}" y="{y}" text-anchor="end">{escape(peer)}</text>'
        else:
            yield f'<text class="title" x="8" y="{y}">{escape(title)}</text>'


def _axis(name: str, powers: range, *, at_height: int, at: _Place) -> Iterator[str]:
    yield f'<text class="title" x="{at(10.0 ** powers[0]):.1f}" y="{TOP - 26}">{escape(name)}</text>'
    for power in powers:
        x = at(10.0**power)
        kind = "even" if power == 0 else "grid"
        label = f"{10**power:,}×" if power >= 0 else f"{10.0**power:g}×"
        yield f'<line class="{kind}" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 8}" y2="{at_height - 8}"/>'
        yield f'<text x="{x:.1f}" y="{TOP - 12}" text-anchor="middle">{label}</text>'


def _points(rows: Mapping[str, list[str]], ratios: Ratios, at: _Place) -> Iterator[str]:
    colours = dict(zip(dict.fromkeys(peer for peers in rows.values() for peer in peers), COLOURS * 9, strict=False))
    for y, title, peer in _heights(rows):
        documents, chats = ratios.get(title, {}).get(peer, (None, None))
        if documents is not None:
            yield f'<circle cx="{at(documents):.1f}" cy="{y - 4}" r="5" fill="{colours[peer]}"/>'
        if chats is not None:
            ring = f'r="4" fill="none" stroke="{colours[peer]}" stroke-width="2"'
            yield f'<circle cx="{at(chats):.1f}" cy="{y - 4}" {ring}/>'
