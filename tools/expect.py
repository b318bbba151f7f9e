"""Writes tests/language/fail/*.expected anew from what the compiler says; read the difference before you keep it."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "codegen"))

from katapi.analyse import analyse, load_beside  # noqa: E402
from katapi.language.diagnostics import SpecError  # noqa: E402
from katapi.language.source import Source  # noqa: E402


def source(path: Path) -> Source:
    """The text of a file under its bare name."""
    return Source(path.name, path.read_text(encoding="utf-8"))


def findings(path: Path) -> str:
    """All findings about a file, as `katapi check` would print them from its folder."""
    try:
        analyse(path.stem, source(path), load_beside(path, source))
    except SpecError as error:
        return f"{error}\n"
    raise SystemExit(f"{path}: no finding, so it does not belong into this folder")


def main() -> None:
    """Writes each file whose text has changed, and names it."""
    for path in sorted((ROOT / "tests" / "language" / "fail").glob("*.kata")):
        expected = path.with_suffix(".expected")
        text = findings(path)
        if not expected.exists() or expected.read_text(encoding="utf-8") != text:
            expected.write_text(text, encoding="utf-8")
            print(f"wrote {expected.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
