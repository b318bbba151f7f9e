"""The document: tables of what was found, each kind with the smallest request that shows it and the reason."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from tools.training_masks.examples import Example
from tools.training_masks.kinds import Change, Kind, Spelling, Where
from tools.training_masks.models import KATAPI, TRL, Result, Side

BRACKETS = "⟪", "⟫"
BAR = "\\|"  # a bar that ends no cell of a table
WHY = {
    Where.PROMPT: "The prompt has it already: the model is given it, and does not write it.",
    Where.BEHIND: "The reply has ended before it: nothing is generated any more.",
    Where.END: "The model writes it: generation stops at it, and it is also the first token of the next message.",
}
"""Why a mask is wrong at a place. Another place has no reason that holds for all kinds."""


class Unexplained(Exception):
    """A kind of difference for which no reason is known yet."""


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table of Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(str(cell).replace('|', BAR) for cell in line)} |\n" for line in lines)


def overview(results: Sequence[Result]) -> str:
    """One row a model: how many conversations, and how many come out equal."""
    return table(
        ["model", "TRL's template", "conversations", "taken by both", "same ids", "same mask"],
        [
            [r.model, _file(r.fact.training), r.conversations, r.compared, r.ids_equal, r.mask_equal]
            for r in results
        ],
    )  # fmt: skip


def tokens(results: Sequence[Result]) -> str:
    """One row a model: how far each mask is from what the model wrote."""
    rows: list[list[object]] = []
    for r in results:
        ours, theirs = r.counts[KATAPI], r.counts[TRL]
        rows.append([r.model])
        for one, other in (
            (theirs.written, ours.written),
            (theirs.untold, ours.untold),
            (theirs.too_many, ours.too_many),
            (theirs.too_few, ours.too_few),
        ):
            rows[-1] += [one, other]
    names = ["written", "not told", "too many", "too few"]
    return table(["model", *(f"{name}: {side}" for name in names for side in (TRL, KATAPI))], rows)


def kinds(results: Sequence[Result]) -> dict[Kind, dict[str, Counter[str]]]:
    """For each kind of fault how often it comes, by side and model; the most frequent first."""
    found: dict[Kind, dict[str, Counter[str]]] = {}
    for r in results:
        for kind, sides in r.wrong.items():
            for side, seen in sides.items():
                found.setdefault(kind, {KATAPI: Counter(), TRL: Counter()})[side][r.model] += seen.times
    return dict(sorted(found.items(), key=lambda item: -sum(c.total() for c in item[1].values())))


def verdict(times: Mapping[str, Counter[str]]) -> str:
    """What Katapi's mask is at a kind of fault, beside TRL's."""
    ours, theirs = times[KATAPI].total(), times[TRL].total()
    return "same" if ours and theirs else "better" if theirs else "worse"


def faults_table(found: Mapping[Kind, Mapping[str, Counter[str]]]) -> str:
    """One row a kind of fault."""
    rows = []
    for kind, times in found.items():
        if kind.where not in WHY:
            raise Unexplained(f"{kind.where.value}: {kind.text!r} behind {kind.behind!r}")
        models = sorted({*times[KATAPI], *times[TRL]})
        rows.append(
            [
                heading(kind),
                ", ".join(models),
                times[TRL].total(),
                times[KATAPI].total(),
                verdict(times),
                WHY[kind.where],
            ]
        )
    return table(["what", "models", TRL, KATAPI, "Katapi is", "why"], rows)


def heading(kind: Kind) -> str:
    """A kind of fault in a few words."""
    behind = f" behind {code(kind.behind)}" if kind.behind else ""
    return f"{code(kind.text)}{behind} {'is not' if kind.where in (Where.END, Where.REPLY) else 'is'} marked"


def telling(found: Iterable[Kind]) -> list[Kind]:
    """The first of the kinds that are of one place and begin with the same token."""
    firsts: dict[tuple[Where, str], Kind] = {}
    for kind in found:
        firsts.setdefault((kind.where, kind.text.strip().partition(">")[0]), kind)
    return [*firsts.values()]


def changes_table(results: Sequence[Result]) -> str:
    """One row for each way in which TRL's template prints something else than the original."""
    found: dict[Change, Counter[str]] = {}
    why: dict[Change, str] = {}
    for r in results:
        for change, sides in r.changes.items():
            found.setdefault(change, Counter())[r.model] += sides[TRL].times
            why[change] = why_changed(change, r.fact.stops)
    return table(
        ["in place of", "TRL prints", "models", "times", "why"],
        [
            [code(change.one) if change.one else "nothing", code(change.other), ", ".join(sorted(times)), times.total(),
             why[change]]
            for change, times in sorted(found.items(), key=lambda item: -item[1].total())
        ],
    )  # fmt: skip


def why_changed(change: Change, stops: Sequence[str]) -> str:
    """The reason for a change. Raises Unexplained."""
    if change.other in stops and not change.one:
        return "The last reply gets the token that ends it. The original prints none behind it."
    if "<think>" in change.other and "<think>" not in change.one:
        return (
            "Every reply shows a thought, if need be an empty one. The original shows those behind the last question."
        )
    raise Unexplained(f"{change.other!r} in place of {change.one!r}")


def refusals_table(results: Sequence[Result]) -> str:
    """One row for each way in which one side or both refuse conversations."""
    rows = [
        [r.model, *(code(said) if said else "takes it" for said in (ours, theirs)), times]
        for r in results
        for (ours, theirs), times in r.refused.most_common()
    ]
    return table(["model", KATAPI, TRL, "conversations"], rows)


def untold_table(results: Sequence[Result]) -> str:
    """What only one side marks where nothing is told."""
    rows = [
        [code(what), r.model, *(sides[side].times if side in sides else 0 for side in (TRL, KATAPI))]
        for r in results
        for what, sides in r.untold.items()
    ]
    return table(["what", "model", TRL, KATAPI], rows)


def shown(example: Example) -> str:
    """A request, and what each side marks of it."""
    parts = [f"{example.model}:\n\n```json\n{json.dumps(example.request, ensure_ascii=False)}\n```\n"]
    for name in (TRL, KATAPI):
        side = example.sides[name]
        text = side if isinstance(side, str) else marked(side, example.spelling)
        parts.append(f"```text {name.lower()}\n{text}\n```\n")
    return "\n".join(parts)


def marked(side: Side, spelling: Spelling) -> str:
    """A text with brackets around what a mask marks."""
    out: list[str] = []
    start = 0
    for place in range(1, len(side.ids) + 1):
        if place == len(side.ids) or side.mask[place] != side.mask[start]:
            text = spelling.decode(side.ids[start:place])
            out.append(f"{BRACKETS[0]}{text}{BRACKETS[1]}" if side.mask[start] else text)
            start = place
    return "".join(out)


def code(text: str) -> str:
    """A text as code on one line: line breaks as `\\n`."""
    return f"`{text}`".replace("\n", "\\n")


def _file(path: str) -> str:
    return code(path.rpartition("/")[2])
