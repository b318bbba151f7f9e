"""Digests of what Unicode data decides: normal forms, lower case, cuts and ids of a fixed text, on any Python the same.

usage: python tools/unicode_results.py [--record FILE | --check FILE]

Without an option it prints the digests as JSON, which is how `tests/tokenization/test_other_pythons.py` asks another
Python for its own. `--record` writes them down, with the Pythons that gave the same; `--check` compares.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import platform
import sys
import unicodedata
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import cast

import katapi
from katapi.runtime.patterns.matcher import compile_pattern
from katapi.runtime.tokenization import configuration as c
from katapi.runtime.tokenization.build_stages import build_normalizer, build_pretokenizer
from katapi.runtime.unicode import tables

VERSIONS = ("9.0", "15.0", "15.1", "16.0", "17.0")
PATTERN = r"'\w+|[^\r\n\p{L}\p{N}\p{M}]?\p{L}+\p{M}*|\p{N}{1,3}|\p{Han}+| ?[^\s\p{L}\p{N}]+|\w+|\s+"


def corpus() -> list[str]:
    """The marks of every version, each between others; what decomposes; and a sample of the rest."""
    newest = tables.general_category("M", "17.0").ranges
    marks = [chr(code) for first, last in newest for code in range(first, last + 1)]
    decomposing = sorted(tables.compatibility("17.0").movable.ranges)
    others = [chr(code) for first, last in decomposing for code in range(first, min(last, first + 60) + 1)]
    others += map(chr, [*range(0, 0xD800, 97), *range(0xE000, 0x32400, 101), *range(0xE0000, 0xE01F0, 7)])
    return [*(f"a\u0315{mark}\u0334 \u0323" for mark in marks), *(f"A{other}\u0301\u0323 9" for other in others)]


def digests() -> dict[str, str]:
    """The name of each result and the sha256 of what came out."""
    texts = corpus()
    results: dict[str, Callable[[str], object]] = {}
    for version in VERSIONS:
        unicode = c.UnicodeVersions(version, version, version, version)
        for form in c.NormalForm:
            results[f"{form.value} {version}"] = build_normalizer([c.Normalize(form)], unicode).normalize
        bert = c.BertNormalize(True, True, None, True)
        for name, normalizer in (("lower case", c.Lowercase()), ("accents", c.StripAccents()), ("BERT", bert)):
            results[f"{name} {version}"] = build_normalizer([normalizer], unicode).normalize
        results[f"pattern {version}"] = compile_pattern(PATTERN, unicode=version).split
        cut = build_pretokenizer([c.BertPreTokenize(), c.Digits(individual=False)], unicode)
        results[f"words and numerals {version}"] = partial(cut.split, first=True)
    results["grapheme clusters 17.0"] = tables.graphemes("17.0").clusters
    results["ids of qwen3"] = katapi.load("qwen3").encode
    return {name: digest(map(function, texts)) for name, function in results.items()}


def digest(outcomes: Iterable[object]) -> str:
    return hashlib.sha256(json.dumps(list(outcomes)).encode()).hexdigest()


def of_this_python() -> str:
    """What `unicodedata` makes of the same text, which does change with the Python that runs."""
    return digest(unicodedata.normalize("NFKC", text) for text in corpus())


def this_python() -> str:
    """Such as `3.12 with Unicode 15.0.0`."""
    return f"{'.'.join(platform.python_version_tuple()[:2])} with Unicode {unicodedata.unidata_version}"


def recorded(file: Path) -> dict[str, dict[str, str]]:
    """What a file that `--record` wrote holds: `pythons` and `digests`."""
    return cast(dict[str, dict[str, str]], json.loads(file.read_text(encoding="utf-8")))


def record(file: Path, found: dict[str, str]) -> None:
    """Writes the digests down; a Python that gave the same before stays named."""
    before = recorded(file) if file.exists() else {"pythons": {}, "digests": {}}
    pythons = before["pythons"] if before["digests"] == found else {}
    pythons[this_python()] = of_this_python()
    text = json.dumps({"pythons": dict(sorted(pythons.items())), "digests": found}, indent=2)
    file.write_text(text + "\n", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", type=Path, metavar="FILE", help="write the digests to FILE")
    parser.add_argument("--check", type=Path, metavar="FILE", help="exit with status 1 where FILE says otherwise")
    arguments = parser.parse_args()
    found = digests()
    if arguments.record is not None:
        record(arguments.record, found)
    elif arguments.check is not None:
        wanted = recorded(arguments.check)["digests"]
        differing = [name for name in sorted(wanted.keys() | found.keys()) if wanted.get(name) != found.get(name)]
        print(f"Python {this_python()}: {len(found)} results, {len(differing)} differ", *differing, sep="\n")
        return 1 if differing else 0
    else:
        print(json.dumps({"python": this_python(), "digests": found}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
