"""Hypothesis strategies for JSON and for tools: JSON Schemas as clients send them, the hard ones included."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from katapi.runtime.json_types import Json

JsonStrategy = SearchStrategy[Json]

_PROPERTIES = ("city", "unit", "a", "B", "b", "x_1", "type", "description", "天气", "per-day")
_FUNCTIONS = ("f", "get_weather", "a.b", "x-1", "Search", "天气")
_NUMBERS: tuple[Json, ...] = (0, 1, -7, 1.0, 0.5, -0.0, 1e-7, 1e22, 2**53 + 1, -(2**70), 12345678901234567890)
_RARE_MEMBERS: dict[str, JsonStrategy] = {
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

names: SearchStrategy[str] = st.sampled_from(_FUNCTIONS)
"""Names of functions: what an API lets pass, and a little more."""


def json_values(text: SearchStrategy[str]) -> JsonStrategy:
    """Any JSON, numbers that are hard to write included."""
    scalars = st.one_of(text, st.sampled_from(_NUMBERS), st.integers(), st.booleans(), st.none())
    return st.recursive(
        scalars,
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_PROPERTIES) | text, inner, max_size=3)
        ),
        max_leaves=6,
    )


def json_objects(text: SearchStrategy[str]) -> SearchStrategy[dict[str, Json]]:
    """Arguments of a call, by names of parameters."""
    return st.dictionaries(st.sampled_from(_PROPERTIES) | text, json_values(text), max_size=4)


class Schemas:
    """Tools and the schemas in them; `members` are further names that a template looks for in a schema."""

    def __init__(self, text: SearchStrategy[str], types: Sequence[str], members: Sequence[str]) -> None:
        self._text = text
        self._json = json_values(text)
        plain = ("string", "integer", "number", "boolean", "array", "object", "null")
        self._types = st.sampled_from([*plain, *(t for t in types if t not in plain)])
        self._rare = {m: st.booleans() | self._json for m in members if m not in _KNOWN} | _RARE_MEMBERS

    def tools(self) -> JsonStrategy:
        """One tool in OpenAI's form, seldom a function without the object around it."""

        @st.composite
        def tool(draw: DrawFn) -> Json:
            function = draw(self.functions())
            if draw(st.integers(0, 15)) == 15:
                return function
            whole: dict[str, Json] = {"type": "function", "function": function}
            if draw(st.integers(0, 9)) == 9:
                whole[draw(st.sampled_from(["strict", "defer_loading", "x"]))] = draw(st.booleans())
            return whole

        return tool()

    def functions(self) -> JsonStrategy:
        """What a function is called, what it does, and what it takes."""

        @st.composite
        def function(draw: DrawFn) -> Json:
            out: dict[str, Json] = {"name": draw(names)}
            if draw(st.integers(0, 5)) < 5:
                out["description"] = draw(self._text)
            if draw(st.integers(0, 7)) < 7:
                out["parameters"] = draw(self.parameters())
            if draw(st.integers(0, 9)) == 9:
                out[draw(st.sampled_from(["return", "response", "returns"]))] = draw(self.schemas(1))
            if draw(st.integers(0, 9)) == 9:
                out["strict"] = draw(st.booleans())
            return out

        return function()

    def parameters(self) -> JsonStrategy:
        """The schema of a function's arguments: an object, or one of the things that stand in its place."""
        odd: JsonStrategy = st.sampled_from([{}, {"type": "object"}, {"type": "object", "properties": {}}])
        return st.one_of(*[self._object(2)] * 6, odd)

    def schemas(self, depth: int) -> JsonStrategy:
        """A schema that nests at most so deep."""

        @st.composite
        def schema(draw: DrawFn) -> Json:
            out: dict[str, Json] = {}
            kind = draw(self._types)
            form = draw(st.integers(0, 11))
            if form < 9 or depth == 0:
                out["type"] = kind
            elif form == 9:
                out["type"] = [kind, *draw(st.lists(self._types, max_size=2))]
            elif form == 10:
                group = draw(st.sampled_from(["anyOf", "oneOf", "allOf"]))
                out[group] = draw(st.lists(self.schemas(depth - 1), min_size=1, max_size=3))
            if depth and kind == "object" and draw(st.integers(0, 3)):
                out |= draw(self._members(depth))
            if depth and kind == "array" and draw(st.integers(0, 5)):
                out["items"] = draw(self.schemas(depth - 1))
            out |= draw(self._details())
            return _turned(out, draw(st.integers(0, 5)))

        return schema()

    def _object(self, depth: int) -> JsonStrategy:
        @st.composite
        def schema(draw: DrawFn) -> Json:
            out: dict[str, Json] = {"type": "object", **draw(self._members(depth))}
            if draw(st.integers(0, 5)) == 5:
                out |= draw(self._details())
            return out

        return schema()

    def _members(self, depth: int) -> SearchStrategy[dict[str, Json]]:
        """What the schema of an object says beside its type."""

        @st.composite
        def members(draw: DrawFn) -> dict[str, Json]:
            keys = st.sampled_from(_PROPERTIES)
            properties = draw(st.dictionaries(keys, self.schemas(depth - 1), max_size=3))
            out: dict[str, Json] = {"properties": properties}
            if draw(st.integers(0, 2)):
                there = st.sampled_from(sorted(properties)) if properties else keys
                out["required"] = draw(st.lists(there, max_size=3, unique=True))
            if draw(st.integers(0, 7)) == 7:
                out["additionalProperties"] = draw(st.booleans())
            return out

        return members()

    def _details(self) -> SearchStrategy[dict[str, Json]]:
        """Members that any schema may have."""
        values = self._text | st.sampled_from([0, 1, 0.5, None, True])

        @st.composite
        def details(draw: DrawFn) -> dict[str, Json]:
            out: dict[str, Json] = {}
            if draw(st.booleans()):
                out["description"] = draw(self._text)
            if draw(st.integers(0, 4)) == 4:
                out["enum"] = draw(st.lists(self._text, max_size=3) | st.lists(values, min_size=1, max_size=3))
            if draw(st.integers(0, 4)) == 4:
                out["default"] = draw(self._json)
            if draw(st.integers(0, 9)) == 9:
                out["nullable"] = draw(st.booleans())
            if draw(st.integers(0, 5)) == 5:
                key = draw(st.sampled_from(sorted(self._rare)))
                out[key] = draw(self._rare[key])
            return out

        return details()


_KNOWN = {
    *("type", "function", "name", "description", "parameters", "properties", "required", "items", "enum", "default"),
    *("anyOf", "oneOf", "allOf", "nullable", *_RARE_MEMBERS),
}


def _turned(members: dict[str, Json], by: int) -> dict[str, Json]:
    """The same members in another order: they stand in any."""
    keys = list(members)
    turn = by % len(keys) if keys else 0
    return {key: members[key] for key in keys[turn:] + keys[:turn]}
