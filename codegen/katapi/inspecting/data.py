"""A view as the JSON that the page reads: tokens in columns, so that a hundred thousand of them stay small."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from katapi.inspecting.kinds import LOOKS, SAMPLED
from katapi.inspecting.view import BudgetView, Execution, Fact, Token, View
from katapi.runtime.json_types import Json, JsonObject

_SURROGATE = re.compile("[\ud800-\udfff]")


def script_text(view: View) -> str:
    """The JSON of a view, such that it can stand in a script element: no `<` in it, so nothing there can end it."""
    text = json.dumps(page_data(view), ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def page_data(view: View) -> JsonObject:
    """A view as plain JSON."""
    executions = [view.execution, *([] if view.other is None else [view.other])]
    difference = view.difference
    return {
        "versions": _facts(view.versions),
        "kinds": [{"name": name, "words": look.words, "trust": look.trust} for name, look in LOOKS.items()],
        "sampled": {"words": SAMPLED.words, "trust": SAMPLED.trust},
        "executions": [_execution(execution) for execution in executions],
        "alike": view.alike,
        "difference": None
        if difference is None
        else {
            "stage": difference.stage,
            "what": difference.what,
            "tokens": list(difference.tokens),
            "follows": list(difference.follows),
        },
    }


def _facts(facts: Iterable[Fact]) -> Json:
    return [[fact.name, fact.text] for fact in facts]


def _execution(execution: Execution) -> JsonObject:
    return {
        "model": execution.model,
        "label": execution.label,
        "stages": [
            {"name": stage.name, "id": stage.id, "digest": stage.digest, "facts": _facts(stage.facts)}
            for stage in execution.stages
        ],
        "messages": [
            {"role": one.role, "fields": _facts(one.fields), "index": one.index, "left": one.left_out}
            for one in execution.messages
        ],
        "parts": [
            {"kind": part.kind, "text": part.text, "sampled": part.sampled, "place": part.place}
            for part in execution.parts
        ],
        "places": [
            {
                "kind": place.kind,
                "message": place.message,
                "field": place.field,
                "paths": list(place.paths),
                "lines": list(place.lines),
                "parts": list(place.parts),
            }
            for place in execution.places
        ],
        "tokens": _tokens(execution.tokens),
        "budget": _budget(execution.budget),
        "images": [
            {
                "kind": image.kind,
                "message": image.message,
                "path": image.path,
                "tokens": None if image.tokens is None else list(image.tokens),
                "facts": _facts(image.facts),
            }
            for image in execution.images
        ],
    }


def _tokens(tokens: tuple[Token, ...]) -> JsonObject:
    """Columns of ids, of indices of spellings, of indices of places; and the indices at which `sampled` changes."""
    known: dict[bytes | None, int] = {}
    spellings = [known.setdefault(token.bytes, len(known)) for token in tokens]
    changes = [at for at, token in enumerate(tokens) if token.sampled != (at > 0 and tokens[at - 1].sampled)]
    return {
        "ids": [token.id for token in tokens],
        "spellings": [_spelling(spelling) for spelling in known],
        "spelled": spellings,
        "places": [token.place for token in tokens],
        "sampled": changes,
    }


def _spelling(spelling: bytes | None) -> Json:
    """A text; the list of its bytes where it is no whole text; null where it is not known."""
    if spelling is None:
        return None
    try:
        return spelling.decode()
    except UnicodeDecodeError:
        return [*spelling]


def _budget(budget: BudgetView) -> JsonObject:
    return {
        "sections": [[name, count] for name, count in budget.sections],
        "policy": budget.policy,
        "window": budget.window,
        "reserve": budget.reserve,
        "cut": budget.cut,
        "known": budget.known,
        "items": [
            {
                "section": item.section,
                "items": item.items,
                "kept": item.kept,
                "why": item.why,
                "before": item.before,
                "after": item.after,
            }
            for item in budget.items
        ],
    }
