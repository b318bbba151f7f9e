"""Hypothesis strategies for generated property tests: texts that try to pass for control tokens, JSON, requests."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from typing import TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from katapi.runtime.arguments import JsonText
from katapi.runtime.errors import TemplateError
from katapi.runtime.json_types import Json, JsonObject
from katapi.runtime.model import Model
from katapi.runtime.request_model import RequestModel
from katapi.runtime.segments import Content, ControlToken

_PLAIN = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
_SCRIPTS = st.sampled_from(
    [
        "",
        " ",
        "\n",
        "\n\n",
        "\t",
        "  ",
        "hello",
        " world",
        "don't",
        "天空",
        "é",
        "e\u0301",
        "👩‍👩‍👧",
        "\u200b",
        "1234",
        "{}",
        '"',
    ]
)


def texts(controls: type[ControlToken]) -> SearchStrategy[Content]:
    """Any text without lone surrogates; every so often one that spells control tokens."""
    return texts_with([c.spelling for c in controls])


def texts_with(spellings: Collection[str]) -> SearchStrategy[Content]:
    """Any text without lone surrogates; every so often one that has some of `spellings` in it."""
    parts = st.lists(st.one_of(_SCRIPTS, _PLAIN, st.sampled_from([*spellings, ""])), max_size=5)
    return parts.map(lambda p: Content("".join(p)))


def json_values(controls: type[ControlToken]) -> SearchStrategy[Json]:
    """Any JSON value, its texts and keys as `texts` gives them."""
    scalars: SearchStrategy[Json] = st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), texts(controls)
    )
    return st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts(controls), inner, max_size=3),
        max_leaves=6,
    )


def json_objects(controls: type[ControlToken]) -> SearchStrategy[JsonObject]:
    """A JSON object."""
    return st.dictionaries(texts(controls), json_values(controls), max_size=3)


def json_texts(controls: type[ControlToken]) -> SearchStrategy[JsonText]:
    """A JSON object as a tool call carries it: as an object, or as text."""
    plain = json_objects(controls).map(JsonText)
    written = json_objects(controls).map(lambda v: JsonText(v, json.dumps(v, ensure_ascii=False)))
    return plain | written


R = TypeVar("R", bound=RequestModel)


def accepted_by(model: Model[R]) -> Callable[[R], bool]:
    """Whether a template takes a request; one that it rejects by its own rule is no input to its properties."""

    def accepted(request: R) -> bool:
        try:
            model.render(request)
        except TemplateError as error:
            return error.code != "T100"
        return True

    return accepted


def request_bytes(request: RequestModel) -> bytes:
    """A request as a client would send it."""
    return json.dumps(request.model_dump(exclude_unset=True), ensure_ascii=False).encode()
