"""Tables of Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table. Raises ValueError where a row has more or fewer cells than the head."""
    lines = [head, ["---"] * len(head)]
    for row in rows:
        if len(row) != len(head):
            raise ValueError(f"{len(row)} cells under a head of {len(head)}")
        lines.append([cell.replace("|", "\\|") for cell in row])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def folded(summary: str, content: str) -> str:
    """What is shown when one asks for it."""
    return f"<details><summary>{summary}</summary>\n\n{content}\n</details>\n"
