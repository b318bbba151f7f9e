"""Emits `katapi_scanners`: a scanner for each family of pre-tokenizers, and the list by which they are found.

Tokenizers whose pre-tokenizers cut at the same patterns are a family, named after the first of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from katapi.derive.scanning import scanning_of
from katapi.emit.environment import render
from katapi.emit.pattern import pattern_lines
from katapi.emit.python import string
from katapi.emit.scanner import emit_scanner
from katapi.model.program import TokenizerProgram
from katapi.runtime.native.cuts import Cut, NotScannable, cuts_of
from katapi.runtime.tokenization import configuration as c

PACKAGE = Path("katapi_scanners")
"""The folder of the package, seen from that of all generated code."""


@dataclass(frozen=True, slots=True)
class PatternRow:
    """A pattern as a constant: its name, and its lines."""

    name: str
    lines: list[str]


@dataclass(frozen=True, slots=True)
class FamilyRow:
    """The patterns of a family as an expression, and the name of its module as a literal."""

    cuts: str
    name: str


@dataclass(frozen=True, slots=True)
class ScannersContext:
    """What `scanners.py.j2` shows."""

    patterns: list[PatternRow]
    families: list[FamilyRow]


def emit_scanners(programs: Iterable[TokenizerProgram]) -> dict[Path, bytes]:
    """The files of the package."""
    families: dict[tuple[Cut, ...], list[str]] = {}
    for program in programs:
        rules = program.configuration()
        if program.lender is None and _over_bytes(rules.segmentation):
            try:
                families.setdefault(cuts_of(rules.pretokenizers, rules.unicode), []).append(program.package)
            except NotScannable:
                continue
    out: dict[Path, bytes] = {}
    patterns: dict[str, PatternRow] = {}
    rows: list[FamilyRow] = []
    for cuts, users in families.items():
        try:
            text = emit_scanner(scanning_of(cuts), users)
        except NotScannable:
            continue
        out[PACKAGE / f"{users[0]}.py"] = text.encode()
        for pattern, _ in cuts:
            patterns.setdefault(pattern, PatternRow(f"PATTERN_{len(patterns) + 1}", pattern_lines(pattern)))
        names = ", ".join(f"({patterns[pattern].name}, {string(unicode)})" for pattern, unicode in cuts)
        rows.append(FamilyRow(f"({names},)" if len(cuts) == 1 else f"({names})", string(users[0])))
    out[PACKAGE / "__init__.py"] = render("scanners.py.j2", ScannersContext([*patterns.values()], rows)).encode()
    out[PACKAGE / "py.typed"] = b""
    return out


def _over_bytes(rules: c.Segmentation) -> bool:
    return isinstance(rules, c.BytePairRanks) or (isinstance(rules, c.BytePairMerges) and rules.over_bytes)
