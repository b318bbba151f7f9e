"""The sections of the page, by their names, in the order in which they are measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tools.benchmarks import decoding, encoding, growth, images, page, plot, requests, start
from tools.benchmarks.settings import Settings

Plots = dict[str, str]
"""SVG by the name of its file."""


def _encode(settings: Settings, plots: Plots) -> str:
    found = encoding.measure(settings)
    plots["benchmarks.svg"] = plot.svg(encoding.points(found))
    return encoding.report(found)


SECTIONS: Mapping[str, Callable[[Settings, Plots], str]] = {
    "peers": lambda settings, _: page.peers(),
    "encode": _encode,
    "decode": lambda settings, _: decoding.report(decoding.measure(settings)),
    "requests": lambda settings, _: requests.report(requests.measure(settings)),
    "start": lambda settings, _: start.report(start.measure(settings)),
    "growth": lambda settings, _: growth.report(growth.measure(settings)),
    "images": lambda settings, _: images.report(images.measure(settings)),
}
