"""Decide the prefix stability of every model, and write down what was found.

usage: stability.py [MODEL]...

Writes docs/stability.md, and to tests/derive/witnesses.json the conversations that show where templates are not
stable. Without models, all of them; it takes some minutes, most of them where nothing is found.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from functools import partial
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import katapi  # noqa: E402
from katapi.derive.stability import Verdict, changes, verdicts  # noqa: E402
from katapi.model.program import Program  # noqa: E402
from katapi.runtime.json_types import Json  # noqa: E402
from tests.specs import ARTIFACTS, OWN, program_of, specs_in  # noqa: E402

DOCUMENT = ROOT / "docs" / "stability.md"
WITNESSES = ROOT / "tests" / "derive" / "witnesses.json"
HEAD = """# Prefix stability

Does what was rendered of a conversation stay when the conversation goes on? `katapi check --stability MODEL` answers
for any template, out of its declaration; `tools/stability.py` wrote this page, and tests hold it.

*History*: with the preamble (system messages, tools, parameters) fixed and without a generation prefix, the ids of a
conversation that ends with a message of the assistant are a prefix of the ids of every continuation by messages of
users, tools and the assistant. *Prompt*: the ids of a prompt with its generation prefix are a prefix of those of the
conversation with the reply, and what was sampled stays as it is when the conversation goes on. A key-value cache, and
training over several turns, need the second.

**stable** is proven: nothing that is printed depends on what is to come, and where no control token stands between what
is there and what comes, the tokenizer never joins the two. Either its pattern always cuts there, whatever text stands
on either side, or no merge of the vocabulary joins the two characters that can meet. The second proof
(%s) is about the vocabulary whose sha256 the spec declares, which must be at hand.
**unstable** is shown by a conversation that the tests render; the place of the spec that is the cause stands here.
**not decided**: something depends on what comes, or text runs on, and no small conversation shows that it matters.

| model | history | prompt |
| --- | --- | --- |
"""


def main(names: list[str]) -> int:
    rows: list[str] = []
    records: list[Json] = []
    by_vocabulary: list[str] = []
    for spec in [spec for path in OWN for spec in specs_in(path)]:
        if names and spec.name not in names:
            continue
        program = program_of(*spec)
        found = list(verdicts(program, katapi.load(spec.name), partial(ARTIFACTS.data_of, program)))
        cells = [
            _cell(program, [v for v in found if v.question.value == question]) for question in ("history", "prompt")
        ]
        rows.append(f"| {spec.name} | {cells[0]} | {cells[1]} |")
        if any(verdict.stable and changes(program, verdict.setting, verdict.question) for verdict in found):
            by_vocabulary.append(spec.name)
        records += [_record(spec.name, verdict) for verdict in found]
        print(rows[-1], flush=True)
    if not names:
        DOCUMENT.write_text(HEAD % ", ".join(by_vocabulary) + "\n".join(rows) + "\n", encoding="utf-8")
        WITNESSES.write_text(json.dumps(records, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return 0


def _cell(program: Program, found: Iterable[Verdict]) -> str:
    groups: dict[str, list[str]] = {}
    for verdict in found:
        setting = ", ".join(f"`{name}={json.dumps(value)}`" for name, value in verdict.setting.items())
        text = verdict.word
        if verdict.stable is not True:
            place = program.source.place(verdict.changes[0].span.start)
            text += f" ({place.file.rpartition('/')[2]}:{place.line}: {verdict.changes[0].cause})"
        groups.setdefault(text, []).append(setting)
    if len(groups) == 1:
        return next(iter(groups))
    return "<br>".join(f"{text} with {' or '.join(settings)}" for text, settings in groups.items())


def _record(name: str, verdict: Verdict) -> Json:
    out: dict[str, Json] = {"model": name, "question": verdict.question.value, "setting": dict(verdict.setting)}
    out["stable"] = verdict.stable
    witness = verdict.witness
    if witness is not None:
        out |= {"beside": dict(witness.beside), "conversation": [*witness.conversation], "behind": [*witness.behind]}
        out["prompted"] = witness.prompted
    return out


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
