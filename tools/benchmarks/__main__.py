"""Measures Katapi beside its peers and writes what it found into docs/benchmarks.md and docs/benchmarks.svg.

usage: python -m tools.benchmarks [--quick] [--only SECTION]... [--vocabulary NAME]... [--rounds N] [--print]

Everything runs on one thread. What two sides give is compared before it is timed; a peer that gives something else is
named with the share, and not timed. Exit status: 1 where Katapi differs from what is official.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

THREADS = {
    "RAYON_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}
os.environ.update(THREADS)  # before anything is imported that reads them

from tools.benchmarks import decoding, encoding, growth, images, page, plot, requests, start  # noqa: E402
from tools.benchmarks.settings import Settings  # noqa: E402
from tools.benchmarks.tasks import TaskError  # noqa: E402
from tools.benchmarks.vocabularies import DECLARED  # noqa: E402

Plots = dict[str, str]


def _encode(settings: Settings, plots: Plots) -> str:
    found = encoding.measure(settings)
    plots["benchmarks.svg"] = plot.svg(encoding.points(found))
    return encoding.report(found)


SECTIONS: Mapping[str, Callable[[Settings, Plots], str]] = {
    "encode": _encode,
    "decode": lambda settings, _: decoding.report(decoding.measure(settings)),
    "requests": lambda settings, _: requests.report(requests.measure(settings)),
    "start": lambda settings, _: start.report(start.measure(settings)),
    "growth": lambda settings, _: growth.report(growth.measure(settings)),
    "images": lambda settings, _: images.report(images.measure(settings)),
    "peers": lambda settings, _: page.peers(),
}


def main() -> int:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer and shorter texts, and fewer rounds: some minutes")
    parser.add_argument("--only", action="append", choices=[*SECTIONS], help="measure this section; can be repeated")
    parser.add_argument("--vocabulary", action="append", choices=[*DECLARED], help="measure this one; can be repeated")
    parser.add_argument("--rounds", type=int, metavar="N", help="how often each side meets each text: 7, or 3")
    parser.add_argument("--print", action="store_true", help="print, and write no file")
    given = parser.parse_args()
    rounds: int = given.rounds or (3 if given.quick else 7)
    if rounds < 2:
        parser.error("--rounds: the first round has texts that nobody has met, so there must be two or more")
    chosen: list[str] = given.only or [*SECTIONS]
    vocabularies: list[str] = given.vocabulary or [*DECLARED]
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(Path(folder), vocabularies, given.quick, rounds)
        for section in chosen:
            plots: Plots = {}
            try:
                content = SECTIONS[section](settings, plots)
            except (TaskError, images.ImagesDiffer, ValueError) as error:
                print(f"bench: {section}: {error}", file=sys.stderr)
                return 1
            if section != "peers":
                content = f"{page.conditions(rounds, quick=given.quick)}\n{content}"
            if given.print:
                print(f"## {section}\n\n{content}")
                continue
            page.write(section, content)
            for name, drawn in plots.items():
                (page.PAGE.parent / name).write_text(drawn, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
