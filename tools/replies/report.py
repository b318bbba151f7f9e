"""The tables of docs/replies.md, and the shortest case of each kind."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tools.replies.extension import Ending, Extended
from tools.replies.judge import Fault
from tools.replies.malformed import Kind
from tools.replies.parsing import KATAPI, PEER, Compared, Reading
from tools.training_masks.report import table

VERDICTS = ("same", "better", "worse", "other")


@dataclass
class Result:
    """What was found for a model."""

    model: str
    decode: Callable[[Sequence[int]], str]
    replies: int
    own_tokenizer: bool
    compared: list[Compared] = field(default_factory=list)
    extended: list[Extended] = field(default_factory=list)


def overview(results: Sequence[Result]) -> str:
    """One row a model: good replies, broken ones, and conversations that go on."""
    rows: list[list[object]] = []
    for r in results:
        good = Counter(one.verdict for one in r.compared if one.sample.kind is Kind.NOTHING)
        bad = Counter(one.verdict for one in r.compared if one.sample.kind is not Kind.NOTHING)
        on = Counter(one.verdict for one in r.extended)
        rows.append([r.model, _counts(good), _counts(bad), _counts(on)])
    names = (f"replies ({', '.join(VERDICTS)})", "made malformed", "next prompts")
    return table(["model", *names], rows)


def _counts(found: Mapping[str, int]) -> str:
    return ", ".join(str(found.get(verdict, 0)) for verdict in VERDICTS)


def parsing(results: Sequence[Result]) -> str:
    """One row for each way in which replies are wrong."""
    rows: list[list[object]] = []
    for kind in Kind:
        ours = [one for r in results for one in r.compared if one.sample.kind is kind]
        if ours:
            found = Counter(one.verdict for one in ours)
            wrong = [sum(1 for one in ours if one.readings[side].faults) for side in (PEER, KATAPI)]
            rows.append([kind.value, len(ours), *wrong, *(found.get(verdict, 0) for verdict in VERDICTS)])
    return table(["the reply is", "number", f"wrong: {PEER}", f"wrong: {KATAPI}", *VERDICTS], rows)


def faults(results: Sequence[Result]) -> str:
    """One row for each fault, by side."""
    rows: list[list[object]] = []
    for fault in Fault:
        times = [
            sum(1 for r in results for one in r.compared if fault in one.readings[side].faults)
            for side in (PEER, KATAPI)
        ]
        if any(times):
            rows.append([fault.value, *times])
    return table(["fault", PEER, KATAPI], rows)


Key = tuple[str, str, str, str]


def apart(results: Sequence[Result]) -> Iterator[tuple[Key, list[tuple[Result, Compared]]]]:
    """The samples on which both are not the same, sorted into kinds, those on which Katapi is worse first."""
    found: dict[Key, list[tuple[Result, Compared]]] = {}
    for r in results:
        for one in r.compared:
            if one.verdict != "same":
                key = (one.verdict, one.sample.kind.value, _words(one, PEER), _words(one, KATAPI))
                found.setdefault(key, []).append((r, one))
    order = ("worse", "other", "better")
    yield from sorted(found.items(), key=lambda item: (order.index(item[0][0]), -len(item[1])))


def _words(one: Compared, side: str) -> str:
    return ", ".join(sorted(fault.value for fault in one.readings[side].faults)) or "right"


def differences(results: Sequence[Result]) -> str:
    """One row for each kind of sample on which both are not the same."""
    rows = []
    for (verdict, kind, theirs, ours), found in apart(results):
        models = ", ".join(sorted({r.model for r, _ in found}))
        rows.append([verdict, kind, theirs, ours, len(found), models])
    return table(["Katapi is", "the reply is", PEER, KATAPI, "times", "models"], rows)


def shown(results: Sequence[Result], verdict: str) -> str:
    """The shortest sample of each kind with a verdict."""
    parts: list[str] = []
    for (own, kind, theirs, ours), found in apart(results):
        if own != verdict:
            continue
        r, one = min(found, key=lambda pair: len(pair[1].ids))
        sides = "".join(f"{side}: {_read(one.readings[side])}\n" for side in (PEER, KATAPI))
        parts.append(
            f"### {kind}: {PEER} {theirs}, {KATAPI} {ours}\n\n{r.model}, {len(found)} times:\n\n"
            f"```text\n{r.decode(one.ids)}\n```\n\n```text\n{sides}```\n"
        )
    return "\n".join(parts) or "None.\n"


def _read(reading: Reading) -> str:
    if reading.said is None:
        return reading.error
    what = reading.said
    calls = ", ".join(f"{call.name}({call.arguments})" for call in what.calls)
    parts = [("content", what.content), ("reasoning", what.reasoning)]
    words = [f"{name} {json.dumps(text, ensure_ascii=False)}" for name, text in parts if text]
    return "; ".join([*words, *([calls] if calls else [])]) or "nothing"


def extension(results: Sequence[Result]) -> str:
    """One row for each kind of next prompt."""
    rows: list[list[object]] = []
    for stable in (True, False):
        for ending in Ending:
            ours = [one for r in results for one in r.extended if one.stable is stable and one.ending is ending]
            if not ours:
                continue
            right = [sum(1 for one in ours if one.right(side)) for side in (PEER, KATAPI)]
            refused = [sum(1 for one in ours if one.sides[side].ids is None) for side in (PEER, KATAPI)]
            verdicts = Counter(one.verdict for one in ours)
            what = "keeps its beginning" if stable else "changes what was"
            rows.append([what, ending.value, len(ours), *right, *refused, *(verdicts.get(v, 0) for v in VERDICTS[:3])])
    names = [f"{word}: {side}" for word in ("right", "refused") for side in (PEER, KATAPI)]
    return table(["the template", "the completion", "number", *names, *VERDICTS[:3]], rows)


def not_right(results: Sequence[Result]) -> str:
    """One row for each reason for which a side does not give the expected ids."""
    found: dict[tuple[str, str, str, str], Counter[str]] = {}
    for r in results:
        for one in r.extended:
            for side in (KATAPI, PEER):
                if not one.right(side):
                    why = _why(one, side, r)
                    found.setdefault((side, one.roles, why, one.verdict), Counter())[r.model] += 1
    rows = [
        [side, f"`{roles}`", why, verdict, sum(models.values()), ", ".join(sorted(models))]
        for (side, roles, why, verdict), models in sorted(found.items(), key=lambda item: -sum(item[1].values()))
    ]
    return table(["side", "new messages", "what it gives", "Katapi is", "times", "models"], rows)


def _why(one: Extended, side: str, r: Result) -> str:
    given = one.sides[side]
    if given.ids is None:
        return "refuses" if given.why == "None" else f"refuses: {given.why}"
    past = (*one.reply.prompt.input_ids.tolist(), *one.reply.ids)
    if given.ids[: len(past)] != past:
        return "does not begin with all ids of the past"
    at = next((i for i, (a, b) in enumerate(zip(given.ids, one.expected, strict=False)) if a != b), None)
    if at is None:
        return "ends earlier" if len(given.ids) < len(one.expected) else "goes on behind the prompt"
    ours, theirs = r.decode(given.ids[at : at + 3]), r.decode(one.expected[at : at + 3])
    return f"`{_one_line(ours)}` in place of `{_one_line(theirs)}`"


def _one_line(text: str) -> str:
    return text.replace("\n", "\\n").replace("`", "'")


def total(results: Iterable[Result]) -> Counter[str]:
    """How often each verdict comes, over replies and next prompts."""
    out: Counter[str] = Counter()
    for r in results:
        out.update(one.verdict for one in r.compared)
        out.update(one.verdict for one in r.extended)
    return out
