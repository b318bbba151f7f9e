"""The plot of encoding: how many times as long as Katapi each peer takes, on a logarithmic axis."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from html import escape

WIDTH, LEFT, RIGHT, TOP, ROW, BETWEEN = 760, 132, 24, 64, 18, 14
COLOURS = ("#3b82f6", "#ef4444", "#10b981", "#f59e0b", "#a855f7", "#06b6d4", "#84cc16", "#ec4899", "#8b7355")

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

_Place = Callable[[float], float]
"""Where a ratio stands on the axis."""


def svg(ratios: Mapping[str, Mapping[str, Point]]) -> str:
    """The plot of the ratios by vocabulary and peer. Raises ValueError where there is none."""
    numbers = [one for peers in ratios.values() for point in peers.values() for one in point if one is not None]
    if not numbers:
        raise ValueError("nothing to plot")
    low = math.floor(math.log10(min(*numbers, 1)))
    high = max(math.ceil(math.log10(max(*numbers, 1))), low + 1)
    shown = {
        title: {peer: point for peer, point in peers.items() if point != (None, None)}
        for title, peers in ratios.items()
    }
    height = TOP + sum(ROW * len(peers) + BETWEEN + ROW for peers in shown.values()) + 12

    def at(ratio: float) -> float:
        return LEFT + (math.log10(ratio) - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    body = "\n".join([*_axis(range(low, high + 1), at_height=height, at=at), *_rows(shown, at)])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="Time of each peer beside Katapi, by vocabulary">\n<style>{STYLE}</style>\n{body}\n</svg>\n'
    )


def _axis(powers: range, *, at_height: int, at: _Place) -> Iterator[str]:
    yield f'<text class="title" x="{LEFT}" y="18">Encoding as list: a peer\'s time beside Katapi\'s</text>'
    yield (f'<text x="{LEFT}" y="35">● documents  ○ chats; right of 1× Katapi is faster, left of it the peer</text>')
    for power in powers:
        x = at(10.0**power)
        kind = "even" if power == 0 else "grid"
        label = f"{10**power:,}×" if power >= 0 else f"{10.0**power:g}×"
        yield f'<line class="{kind}" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 8}" y2="{at_height - 8}"/>'
        yield f'<text x="{x:.1f}" y="{TOP - 12}" text-anchor="middle">{label}</text>'


def _rows(shown: Mapping[str, Mapping[str, Point]], at: _Place) -> Iterator[str]:
    colours = dict(zip(dict.fromkeys(peer for peers in shown.values() for peer in peers), COLOURS * 9, strict=False))
    y = TOP + 10
    for title, peers in shown.items():
        yield f'<text class="title" x="8" y="{y}">{escape(title)}</text>'
        y += ROW
        for peer, (documents, chats) in peers.items():
            yield f'<text x="{LEFT - 8}" y="{y}" text-anchor="end">{escape(peer)}</text>'
            if documents is not None:
                yield f'<circle cx="{at(documents):.1f}" cy="{y - 4}" r="5" fill="{colours[peer]}"/>'
            if chats is not None:
                ring = f'r="4" fill="none" stroke="{colours[peer]}" stroke-width="2"'
                yield f'<circle cx="{at(chats):.1f}" cy="{y - 4}" {ring}/>'
            y += ROW
        y += BETWEEN
