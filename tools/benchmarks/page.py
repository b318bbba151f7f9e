"""Writes sections into docs/benchmarks.md, each between two comment lines that bear its name."""

from __future__ import annotations

import os
import platform
from collections.abc import Collection
from pathlib import Path

from tools.benchmarks import engine
from tools.benchmarks.opened import installed
from tools.benchmarks.peers import PEERS
from tools.benchmarks.tables import paragraph, table
from tools.benchmarks.vocabularies import ROOT

PAGE = ROOT / "docs/benchmarks.md"
OTHERS = {
    "transformers": "Renders by Jinja and finds control tokens in the text that came out.",
    "renderers": "Hand-written Python for each model; encodes by the tokenizer of transformers, or by openai-harmony.",
    "jinja2": "Compiled templates, as transformers sets them up.",
    "openai-harmony": (
        "Rust; gpt-oss only. Has no JSON of requests: its objects are made outside of the time. Writes many tools "
        "otherwise than the official template does; such conversations are not timed."
    ),
}
"""Peers of requests by their packages, and what they do differently."""


def written(page: str, section: str, content: str) -> str:
    """The page with a section put in. Raises ValueError where it has no place for it."""
    begin, end = f"<!-- {section}: written by make bench -->\n", f"<!-- end of {section} -->\n"
    if page.count(begin) != 1 or page.count(end) != 1:
        raise ValueError(f"docs/benchmarks.md has no place for {section}: {begin.strip()} … {end.strip()}")
    before, rest = page.split(begin)
    _, after = rest.split(end)
    return f"{before}{begin}\n{content.strip()}\n\n{end}{after}"


def write(section: str, content: str, page: Path = PAGE) -> None:
    """Puts a section into the page. Raises ValueError."""
    text = written(page.read_text(encoding="utf-8"), section, content)
    page.write_text(text, encoding="utf-8", newline="\n")


def conditions(rounds: int, vocabularies: Collection[str], *, quick: bool) -> str:
    """On what and how it was measured."""
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    extent = f"a quick run of {rounds} rounds" if quick else f"{rounds} rounds"
    told = " ".join([f"Katapi's engine: {engine.described()}.", *engine.exceptions(vocabularies)])
    machine = f"{platform.machine()}, {os.cpu_count()} cores that others may use"
    return paragraph(f"*{told} Python {platform.python_version()}, {machine}, {extent}, load at the end {load}.*")


def peers() -> str:
    """Who is compared, in which version, and what each does differently."""
    rows = [[peer.name, installed(peer.distribution) or "not installed", peer.differs] for peer in PEERS]
    rows += [[name, installed(name) or "not installed", differs] for name, differs in OTHERS.items()]
    return table(["peer", "version", "what it does differently"], rows)
