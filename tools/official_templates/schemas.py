"""Tools drawn at random: JSON Schemas as clients send them, the hard ones included."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from katapi.runtime.json_types import Json
from tools.official_templates.draws import FUNCTIONS, PROPERTIES, Draws, Members

_DEPTH = 3
_TYPES = ("string", "integer", "number", "boolean", "array", "array", "object", "object", "null")
_FORMS = (*["type"] * 8, "types", "anyOf", "oneOf", "oneOf", "allOf", "none")
_RARE: Mapping[str, Sequence[Json]] = {
    "title": ["City"],
    "format": ["date", "email"],
    "minimum": [0, -1.5],
    "maxItems": [3],
    "pattern": ["^[a-z]+$"],
    "const": ["x", 1, None],
    "examples": [["x", 1]],
    "additionalProperties": [False, True, {"type": "string"}, {}],
    "$ref": ["#/$defs/Place"],
    "$defs": [{"Place": {"type": "object", "properties": {"x": {"type": "number"}}}}],
    "uniqueItems": [True, False],
    "strict": [True, False],
}
_USUAL = {
    *("type", "function", "name", "description", "parameters", "properties", "required", "items", "enum", "default"),
    *("anyOf", "oneOf", "allOf", "nullable"),
}
_EMPTY: Sequence[Members] = ({}, {"type": "object"}, {"type": "object", "properties": {}})


class Schemas:
    """Draws tools and the schemas in them.

    `types` are names of types beyond those of JSON Schema, `members` are further names that a template looks for in a
    schema. Complete tools have a name, a description and parameters.
    """

    def __init__(self, draws: Draws, types: Sequence[str], members: Sequence[str], *, complete: bool) -> None:
        self._draws = draws
        self._complete = complete
        self._types = (*_TYPES, *(t for t in types if t not in _TYPES))
        self._sought = [m for m in members if m not in _USUAL and m not in _RARE]

    def tool(self) -> Members:
        """A tool in OpenAI's form, seldom a function without the object around it."""
        d = self._draws
        function = self.function()
        if d.one_in(20) and not self._complete:
            return function
        tool: Members = {"type": "function", "function": function}
        if d.one_in(12):
            tool[d.one_of(("strict", "defer_loading", "x"))] = d.one_in(2)
        return d.turned(tool) if d.one_in(10) else tool

    def function(self) -> Members:
        """What a function is called, what it does, and what it takes."""
        d = self._draws
        out: Members = {"name": d.one_of(FUNCTIONS)}
        if self._complete or not d.one_in(4):
            out["description"] = d.text()
        if self._complete or not d.one_in(5):
            out["parameters"] = self.parameters()
        if d.one_in(8):
            out[d.one_of(("return", "response", "returns"))] = self._schema(1)
        if d.one_in(10):
            out["strict"] = d.one_in(2)
        return d.turned(out) if d.one_in(5) else out

    def parameters(self) -> Members:
        """The schema of a function's arguments: an object, or what stands in its place."""
        d = self._draws
        if d.one_in(8):
            return dict(d.one_of(_EMPTY))
        out: Members = {"type": "object", **self._members(_DEPTH)}
        return d.turned(out | self._details()) if d.one_in(4) else out

    def _schema(self, depth: int) -> Members:
        """A schema in which others nest at most so deep."""
        d = self._draws
        out: Members = {}
        kind = d.one_of(self._types)
        form = d.one_of(_FORMS)
        if form in ("anyOf", "oneOf", "allOf") and depth:
            out[form] = d.some(self._inner(depth), 1, 3)
            kind = "" if d.one_in(2) else kind
        if form == "types":
            out["type"] = [kind, *d.some(lambda: d.one_of(self._types), 0, 2)]
        elif form != "none" and kind:
            out["type"] = kind
        if depth and kind.lower() == "object" and not d.one_in(4):
            out |= self._members(depth)
        if depth and kind.lower() == "array" and not d.one_in(5):
            out["items"] = self._schema(depth - 1)
        out |= self._details()
        return d.turned(out) if d.one_in(3) else out

    def _inner(self, depth: int) -> Callable[[], Members]:
        return lambda: self._schema(depth - 1)

    def _members(self, depth: int) -> Members:
        """What the schema of an object says beside its type."""
        d = self._draws
        keys = d.some(lambda: d.one_of(PROPERTIES), 0 if d.one_in(8) else 1, 3)
        properties: Members = {key: self._schema(depth - 1) for key in keys}
        out: Members = {"properties": properties}
        if not d.one_in(3):
            known = [key for key in properties if d.one_in(2)]
            out["required"] = [*known, *(["elsewhere"] if d.one_in(12) else [])]
        if d.one_in(8):
            out["additionalProperties"] = d.one_in(2)
        return out

    def _details(self) -> Members:
        """Members that any schema may have."""
        d = self._draws
        out: Members = {}
        if d.one_in(2):
            out["description"] = d.text()
        if d.one_in(4):
            out["enum"] = d.some(d.text, 0, 3) if d.one_in(2) else d.some(d.scalar, 1, 3)
        if d.one_in(4):
            out["default"] = d.json()
        if d.one_in(5):
            out["nullable"] = d.one_in(2)
        if d.one_in(6):
            key = d.one_of([*_RARE, *self._sought])
            out[key] = d.one_of(_RARE[key]) if key in _RARE else d.json()
        return out
