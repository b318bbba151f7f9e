"""Find the boundaries of every model that are plain text, and write down what can spell them.

usage: boundaries.py [MODEL]...

Writes docs/boundaries.md, and to tests/derive/forgeries.json the pairs of requests that print the same. Without models,
all of them.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import json  # noqa: E402

from katapi.derive.boundaries import MOST_MESSAGES, Forgery, answers, forgeries  # noqa: E402
from katapi.language.literals import quote  # noqa: E402
from katapi.model.program import Program  # noqa: E402
from katapi.runtime.json_types import Json  # noqa: E402
from tests.specs import OWN, program_of, specs_in  # noqa: E402

DOCUMENT = ROOT / "docs" / "boundaries.md"
FORGERIES = ROOT / "tests" / "derive" / "forgeries.json"
HEAD = f"""# Boundaries that are plain text

Where text alone parts two messages, the content of one can spell this text, and print what another request with other
messages prints; the model cannot tell the two. `katapi check --boundaries MODEL` looks for such pairs of requests among
those of up to {MOST_MESSAGES} messages; `tools/boundaries.py` wrote this page, and tests render each pair again. It is
a search: what larger requests alone would show is missed. Contents that the model itself writes are not listed.

`boundary` in a template says what becomes of such contents ([the language](../spec/LANGUAGE.md#boundary)). These models
print what the official templates print, so their specs accept it; a project can copy a spec, and say `reject` or
`escape with "…"` instead.

"""
TABLE = """| model | content | can spell | where the template prints it | the spec says |
| --- | --- | --- | --- | --- |
"""


def main(names: list[str]) -> int:
    rows: list[str] = []
    records: list[Json] = []
    without: list[str] = []
    for spec in [spec for path in OWN for spec in specs_in(path)]:
        if names and spec.name not in names:
            continue
        program = program_of(*spec)
        found = [forgery for forgery in forgeries(program, MOST_MESSAGES) if not forgery.sampled]
        rows += _rows(spec.name, program, found)
        records += [_record(spec.name, forgery) for forgery in found]
        without += [] if found else [spec.name]
        print(f"{spec.name}: {len(found)}", flush=True)
    if not names:
        clear = f"\nNo such pair was found for {', '.join(without)}.\n"
        DOCUMENT.write_text(HEAD + TABLE + "\n".join(rows) + "\n" + clear, encoding="utf-8")
        FORGERIES.write_text(json.dumps(records, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return 0


def _rows(name: str, program: Program, found: Sequence[Forgery]) -> list[str]:
    speakers: dict[tuple[str, str, str], dict[str, None]] = {}
    for forgery in found:
        texts = ", ".join(_code(one.text) for one in forgery.boundary)
        file = program.source.name.rpartition("/")[2]
        sites = [site for one in forgery.boundary for _, site in one.literals]
        lines = dict.fromkeys(f"{(site.file or file).rpartition('/')[2]}:{site.line}" for site in sites)
        said = dict.fromkeys(f"{one.answer.value} {_code(one.text)}" for one in answers(program, forgery))
        speakers.setdefault((texts, ", ".join(lines), ", ".join(said)), {})[forgery.speaker] = None
    return [
        f"| {name} | {', '.join(who)} | {texts} | {lines} | {said or 'nothing'} |"
        for (texts, lines, said), who in speakers.items()
    ]


def _code(text: str) -> str:
    return f"`{quote(text)}`".replace("|", "\\|")


def _record(name: str, forgery: Forgery) -> Json:
    return {
        "model": name,
        "speaker": forgery.speaker,
        "spelled": [one.text for one in forgery.boundary],
        "forged": dict(forgery.forged),
        "meant": dict(forgery.meant),
    }


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
