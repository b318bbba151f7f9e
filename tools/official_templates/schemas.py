"""Hypothesis strategies for JSON and for tools: JSON Schemas as clients send them, the hard ones included."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from katapi.runtime.json_types import Json

JsonStrategy = SearchStrategy[Json]
Members = dict[str, Json]

_PROPERTIES = ("city", "unit", "a", "B", "b", "x_1", "type", "description", "天气", "per-day")
_FUNCTIONS = ("f", "get_weather", "a.b", "x-1", "Search", "天气")
_NUMBERS: tuple[Json, ...] = (0, 1, -7, 1.0, 0.5, -0.0, 1e-7, 1e22, 2**53 + 1, -(2**70), 12345678901234567890)
_TYPES = ("string", "integer", "number", "boolean", "array", "object", "null")
_RARE: dict[str, JsonStrategy] = {
    "title": st.just("City"),
    "format": st.sampled_from(["date", "email"]),
    "minimum": st.sampled_from([0, -1.5]),
    "maxItems": st.just(3),
    "pattern": st.just("^[a-z]+$"),
    "const": st.sampled_from(["x", 1, None]),
    "examples": st.just(["x", 1]),
    "additionalProperties": st.sampled_from([False, True, {"type": "string"}, {}]),
    "$ref": st.just("#/$defs/Place"),
    "$defs": st.just({"Place": {"type": "object", "properties": {"x": {"type": "number"}}}}),
    "uniqueItems": st.booleans(),
    "strict": st.booleans(),
}
_USUAL = {
    *("type", "function", "name", "description", "parameters", "properties", "required", "items", "enum", "default"),
    *("anyOf", "oneOf", "allOf", "nullable"),
}
_DEPTH = 2

names: SearchStrategy[str] = st.sampled_from(_FUNCTIONS)
"""Names of functions: what an API lets pass, and a little more."""


def json_values(text: SearchStrategy[str]) -> JsonStrategy:
    """Any JSON, numbers that are hard to write included."""
    scalars = st.one_of(text, st.sampled_from(_NUMBERS), st.integers(), st.booleans(), st.none())
    keys = st.sampled_from(_PROPERTIES) | text
    return st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
        max_leaves=6,
    )


def json_objects(text: SearchStrategy[str]) -> SearchStrategy[Members]:
    """Arguments of a call, by names of parameters."""
    return st.dictionaries(st.sampled_from(_PROPERTIES) | text, json_values(text), max_size=4)


class Schemas:
    """Tools and the schemas in them.

    `types` are names of types beyond those of JSON Schema, `members` are further names that a template looks for in a
    schema.
    """

    def __init__(self, text: SearchStrategy[str], types: Sequence[str], members: Sequence[str]) -> None:
        self.text = text
        self.json = json_values(text)
        self.types = st.sampled_from([*_TYPES, *(t for t in types if t not in _TYPES)])
        self.rare = {m: st.booleans() | self.json for m in members if m not in _USUAL} | _RARE
        self.values = text | st.sampled_from([0, 1, 0.5, None, True])

    def tools(self) -> JsonStrategy:
        """One tool in OpenAI's form, seldom a function without the object around it."""
        return _tool(self)

    def functions(self) -> JsonStrategy:
        """What a function is called, what it does, and what it takes."""
        return _function(self)

    def parameters(self) -> JsonStrategy:
        """The schema of a function's arguments: an object, or one of the things that stand in its place."""
        odd: JsonStrategy = st.sampled_from([{}, {"type": "object"}, {"type": "object", "properties": {}}])
        return st.one_of(*[_object(self)] * 6, odd)


@st.composite
def _tool(draw: DrawFn, s: Schemas) -> Json:
    function = draw(s.functions())
    if draw(st.integers(0, 15)) == 15:
        return function
    whole: Members = {"type": "function", "function": function}
    if draw(st.integers(0, 9)) == 9:
        whole[draw(st.sampled_from(["strict", "defer_loading", "x"]))] = draw(st.booleans())
    return whole


@st.composite
def _function(draw: DrawFn, s: Schemas) -> Json:
    out: Members = {"name": draw(names)}
    if draw(st.integers(0, 5)) < 5:
        out["description"] = draw(s.text)
    if draw(st.integers(0, 7)) < 7:
        out["parameters"] = draw(s.parameters())
    if draw(st.integers(0, 9)) == 9:
        out[draw(st.sampled_from(["return", "response", "returns"]))] = draw(_schema(s, 1))
    if draw(st.integers(0, 9)) == 9:
        out["strict"] = draw(st.booleans())
    return out


@st.composite
def _schema(draw: DrawFn, s: Schemas, depth: int) -> Json:
    """A schema in which others nest at most so deep."""
    out: Members = {}
    kind = draw(s.types)
    form = draw(st.integers(0, 11))
    if form < 9 or depth == 0:
        out["type"] = kind
    elif form == 9:
        out["type"] = [kind, *draw(st.lists(s.types, max_size=2))]
    elif form == 10:
        group = draw(st.sampled_from(["anyOf", "oneOf", "allOf"]))
        out[group] = draw(st.lists(_schema(s, depth - 1), min_size=1, max_size=3))
    if depth and kind == "object" and draw(st.integers(0, 3)):
        out |= draw(_members(s, depth))
    if depth and kind == "array" and draw(st.integers(0, 5)):
        out["items"] = draw(_schema(s, depth - 1))
    out |= draw(_details(s))
    return _turned(out, draw(st.integers(0, 5)))


@st.composite
def _object(draw: DrawFn, s: Schemas) -> Json:
    out: Members = {"type": "object", **draw(_members(s, _DEPTH))}
    return out | draw(_details(s)) if draw(st.integers(0, 5)) == 5 else out


@st.composite
def _members(draw: DrawFn, s: Schemas, depth: int) -> Members:
    """What the schema of an object says beside its type."""
    keys = st.sampled_from(_PROPERTIES)
    properties = draw(st.dictionaries(keys, _schema(s, depth - 1), max_size=3))
    out: Members = {"properties": properties}
    if draw(st.integers(0, 2)):
        there = st.sampled_from(sorted(properties)) if properties else keys
        out["required"] = draw(st.lists(there, max_size=3, unique=True))
    if draw(st.integers(0, 7)) == 7:
        out["additionalProperties"] = draw(st.booleans())
    return out


@st.composite
def _details(draw: DrawFn, s: Schemas) -> Members:
    """Members that any schema may have."""
    out: Members = {}
    if draw(st.booleans()):
        out["description"] = draw(s.text)
    if draw(st.integers(0, 4)) == 4:
        out["enum"] = draw(st.lists(s.text, max_size=3) | st.lists(s.values, min_size=1, max_size=3))
    if draw(st.integers(0, 4)) == 4:
        out["default"] = draw(s.json)
    if draw(st.integers(0, 9)) == 9:
        out["nullable"] = draw(st.booleans())
    if draw(st.integers(0, 5)) == 5:
        key = draw(st.sampled_from(sorted(s.rare)))
        out[key] = draw(s.rare[key])
    return out


def _turned(members: Members, by: int) -> Members:
    """The same members in another order: they stand in any."""
    keys = list(members)
    turn = by % len(keys) if keys else 0
    return {key: members[key] for key in keys[turn:] + keys[:turn]}
