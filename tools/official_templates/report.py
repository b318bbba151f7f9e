"""How a difference is shown: the request, what each side made of it, and where the two texts part."""

from __future__ import annotations

import json
from itertools import takewhile

from katapi.runtime.json_types import Json
from tools.official_templates.comparison import Difference
from tools.official_templates.environment import Outcome

_WIDTH = 100
_LONGEST = 1500
_AROUND = 60


def shown(difference: Difference) -> str:
    """Some lines on one difference."""
    lines = [
        f"difference: {difference.signature}",
        "request:",
        _pretty(dict(difference.request), "  "),
        *_side("official", difference.official),
        *_side("katapi", difference.katapi),
    ]
    theirs, ours = difference.official.text, difference.katapi.text
    if theirs is not None and ours is not None:
        at = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(theirs, ours, strict=False)))
        line = theirs.count("\n", 0, at) + 1
        lines += [
            f"they part at character {at}, line {line}, after {theirs[max(0, at - _AROUND) : at]!r}:",
            f"  official: {theirs[at : at + _AROUND]!r}",
            f"  katapi:   {ours[at : at + _AROUND]!r}",
        ]
    return "\n".join(lines)


def _side(name: str, outcome: Outcome) -> list[str]:
    if outcome.text is None:
        return [f"{name} refuses: {outcome.error}"]
    text = outcome.text
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]}… ({len(text) - _LONGEST} characters more)"
    return [f"{name}:", *(f"  {line}" for line in text.split("\n"))]


def _pretty(value: Json, indent: str) -> str:
    """JSON on one line where it fits, else a line for each member."""
    flat = json.dumps(value, ensure_ascii=False)
    if len(indent) + len(flat) <= _WIDTH or not value:
        return indent + flat
    inner = indent + "  "
    if isinstance(value, dict):
        members = [
            f"{inner}{json.dumps(key, ensure_ascii=False)}: {_pretty(member, inner).lstrip()}"
            for key, member in value.items()
        ]
        return f"{indent}{{\n" + ",\n".join(members) + f"\n{indent}}}"
    if isinstance(value, list):
        return f"{indent}[\n" + ",\n".join(_pretty(item, inner) for item in value) + f"\n{indent}]"
    return indent + flat
