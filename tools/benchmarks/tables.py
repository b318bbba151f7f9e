"""Tables of Markdown."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table. Raises ValueError where a row has more or fewer cells than the head."""
    lines = [head, ["---"] * len(head)]
    for row in rows:
        if len(row) != len(head):
            raise ValueError(f"{len(row)} cells under a head of {len(head)}")
        lines.append([cell.replace("|", "\\|") for cell in row])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def paragraph(text: str) -> str:
    """A paragraph in lines of 120 characters."""
    return textwrap.fill(" ".join(text.split()), 120, break_long_words=False, break_on_hyphens=False) + "\n"


def folded(summary: str, content: str) -> str:
    """What is shown when one asks for it."""
    return f"<details><summary>{summary}</summary>\n\n{content}\n</details>\n"
