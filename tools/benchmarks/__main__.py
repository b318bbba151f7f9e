"""Measures Katapi beside its peers and writes what it found into docs/benchmarks.md and docs/benchmarks.svg.

usage: python -m tools.benchmarks [--quick] [--only SECTION]... [--vocabulary NAME]... [--rounds N] [--print]

Everything runs on one thread. What two sides give is compared before it is timed; a peer that gives something else is
named with the share, and not timed. Exit status: 1 where Katapi differs from what is official, or where it runs as pure
Python though its compiled engine could run here.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

ENVIRONMENT = {
    "RAYON_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "TIKTOKEN_CACHE_DIR": "",  # it would copy the files of ranks, and read the copies
}
"""What keeps the peers to one thread, and to the files that they are given."""


def main() -> int:
    """Reads the command line."""
    os.environ.update(ENVIRONMENT)  # before anything is imported that reads it
    from tools.benchmarks import engine, page
    from tools.benchmarks.images import ImagesDiffer
    from tools.benchmarks.sections import SECTIONS, Plots
    from tools.benchmarks.settings import Settings
    from tools.benchmarks.tasks import TaskError
    from tools.benchmarks.vocabularies import DECLARED

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer and shorter texts, and fewer rounds: some minutes")
    parser.add_argument("--only", action="append", choices=[*SECTIONS], help="measure this section; can be repeated")
    parser.add_argument("--vocabulary", action="append", choices=[*DECLARED], help="measure this one; can be repeated")
    parser.add_argument("--rounds", type=int, metavar="N", help="how often each side meets each text: 5, or 3")
    parser.add_argument("--print", action="store_true", help="print, and write no file")
    given = parser.parse_args()
    rounds: int = given.rounds or (3 if given.quick else 5)
    if rounds < 2:
        parser.error("--rounds: the first round has texts that nobody has met, so there must be two or more")
    try:
        warning = engine.checked()
    except engine.WrongEngine as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    if warning is not None:
        print(f"bench: {warning}", file=sys.stderr)
    chosen: list[str] = given.only or [*SECTIONS]
    vocabularies: list[str] = given.vocabulary or [*DECLARED]
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(Path(folder), vocabularies, given.quick, rounds)
        for section in chosen:
            plots: Plots = {}
            begin = time.monotonic()
            try:
                content = SECTIONS[section](settings, plots)
            except (TaskError, ImagesDiffer, ValueError) as error:
                print(f"bench: {section}: {error}", file=sys.stderr)
                return 1
            print(f"bench: {section} took {time.monotonic() - begin:.0f} s", file=sys.stderr)
            if section != "peers":
                content = f"{page.conditions(rounds, vocabularies, quick=given.quick)}\n{content}"
            if given.print:
                print(f"## {section}\n\n{content}")
                continue
            page.write(section, content)
            for name, drawn in plots.items():
                (page.PAGE.parent / name).write_text(drawn, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
