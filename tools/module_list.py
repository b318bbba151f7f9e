"""Writes the list of modules in CONTRIBUTING.md from the first line of each module's docstring.

usage: module_list.py [--check]
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCUMENT = ROOT / "CONTRIBUTING.md"
HEADING = "## Where each thing lives\n"
FOLDERS = ("codegen/katapi", "tools")


def purpose(path: Path) -> str:
    """The first line of a module's docstring."""
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    if not docstring:
        raise SystemExit(f"{path.relative_to(ROOT)} has no docstring")
    return docstring.splitlines()[0]


def section() -> str:
    """The list, a heading for each folder and a line for each module."""
    lines = [HEADING, "`tools/module_list.py` writes this list from the modules themselves.\n"]
    for folder in FOLDERS:
        packages: dict[str, list[str]] = {}
        for path in sorted((ROOT / folder).rglob("*.py")):
            line = purpose(path)
            name = path.relative_to(ROOT).parent.as_posix()
            packages.setdefault(name, [])
            if path.name == "__init__.py":
                packages[name].insert(0, f"**`{name}/`**: {line}\n")
            else:
                packages[name].append(f"- `{path.name}`: {line}")
        for name, entries in packages.items():
            heading = [] if entries[0].startswith("**") else [f"**`{name}/`**\n"]
            lines += [*heading, *entries, ""]
    return "\n".join(lines).rstrip() + "\n"


def document() -> str:
    """CONTRIBUTING.md as it should be; the list is its last section."""
    text = DOCUMENT.read_text(encoding="utf-8")
    return text[: text.index(HEADING)] + section()


if __name__ == "__main__":
    expected = document()
    if "--check" in sys.argv[1:]:
        if DOCUMENT.read_text(encoding="utf-8") != expected:
            raise SystemExit("CONTRIBUTING.md lists other modules than there are; run `python tools/module_list.py`")
    else:
        DOCUMENT.write_text(expected, encoding="utf-8", newline="\n")
