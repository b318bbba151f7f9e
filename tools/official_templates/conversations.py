"""Hypothesis strategies for requests that a spec takes, aimed at the branches of an official template.

The request rules of the spec say which roles, fields and parameters there are; the names of fields say what is worth
trying in them; the words that the template decides by are among the texts. No text spells a control token unless the
template itself looks for it: there the official result would be at fault.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from katapi.model.program import Program
from katapi.model.request import Field, Role
from katapi.model.types import (
    OBJECT,
    BoolType,
    DateType,
    IntType,
    JsonKind,
    JsonType,
    ListType,
    OptionalType,
    ParsedType,
    RecordType,
    TextType,
    Type,
)
from katapi.runtime.json_types import Json
from tools.official_templates.schemas import JsonStrategy, Schemas, json_objects, json_values, names
from tools.official_templates.words import Words

_PIECES = ("a", "b c", "1", "é", "天", "🌤", " ", "\n", "\n\n", "\t", *'<>|[]{}/,"\\', "<|")
_THINKING = ("<think>", "</think>", "<think>\n", "\n</think>\n\n")
_SCHEMA_TYPES = frozenset("string integer number boolean array object null int float bool str any dict list".split())
_OPENING = ("system", "developer")
_ASKING = ("user",)
_ANSWERING = ("assistant", "model", "gpt")
_IDS = (("call_1", "call_2"), ("abcdefgh1", "abcdefgh2"), ("functions.f:0", "functions.f:1"))


class Conversations:
    """Requests for one spec and one official template; `fixed` are parameters that all of them have."""

    def __init__(self, program: Program, words: Words, fixed: Mapping[str, Json], *, also: bool = False) -> None:
        self._rules = program.request
        self._fixed = dict(fixed)
        self._also = also
        controls = {c.spelling for c in program.vocabulary.controls}
        steering = [w for w in words.texts if w not in _SCHEMA_TYPES]
        free = [p for p in (*_PIECES, *_THINKING) if p in steering or not any(c in p for c in controls)]
        pieces = st.sampled_from([*free, *steering])
        short = st.sampled_from(["a", "", "b", "天 é"])
        self._text: SearchStrategy[str] = short | short | st.lists(pieces, min_size=1, max_size=6).map("".join)
        types = [w for w in words.texts if w.lower() in _SCHEMA_TYPES]
        declared = {field.name for role in self._rules.roles for field in role.fields}
        declared |= {field.name for record in self._rules.records for field in record.fields}
        members = [m for m in words.members if m not in declared and m not in dir(str) and m not in dir(dict)]
        self._schemas = Schemas(self._text, types, members)
        self._json = json_values(self._text)
        self._objects = json_objects(self._text)

    def requests(self) -> SearchStrategy[dict[str, Json]]:
        """Whole requests."""

        @st.composite
        def request(draw: DrawFn) -> dict[str, Json]:
            out: dict[str, Json] = {"messages": draw(self._free() if draw(st.integers(0, 3)) == 3 else self._talk())}
            tools = self._rules.tools
            if tools is not None and (not isinstance(tools, OptionalType) or draw(st.booleans())):
                out["tools"] = draw(self._value(tools, "tools", _IDS[0]))
            out["add_generation_prompt"] = draw(st.booleans())
            for param in self._rules.params:
                if param.name not in self._fixed and (param.required or draw(st.booleans())):
                    out[param.name] = draw(self._value(param.type, param.name, _IDS[0]))
            return out | self._fixed

        return request()

    def _free(self) -> SearchStrategy[list[Json]]:
        """Messages of any roles in any order; a role comes in runs as often as alone."""

        @st.composite
        def messages(draw: DrawFn) -> list[Json]:
            ids = draw(st.sampled_from(_IDS))
            out: list[Json] = []
            role: Role | None = None
            for _ in range(draw(st.integers(0, 5))):
                if role is None or draw(st.booleans()):
                    role = draw(st.sampled_from(self._rules.roles))
                out.append(draw(self._message(role, ids)))
            return out

        return messages()

    def _talk(self) -> SearchStrategy[list[Json]]:
        """A conversation as it should be: someone asks, the model answers or calls tools, whose results follow."""
        roles = self._rules.roles
        opening = [r for r in roles if r.name in _OPENING]
        asking = [r for r in roles if r.name in _ASKING] or list(roles)
        answering = [r for r in roles if r.name in _ANSWERING]
        results = [r for r in roles if r.name not in (*_OPENING, *_ASKING, *_ANSWERING)]

        @st.composite
        def messages(draw: DrawFn) -> list[Json]:
            ids = draw(st.sampled_from(_IDS))
            out: list[Json] = []
            if draw(st.booleans()) and opening:
                out.append(draw(self._message(draw(st.sampled_from(opening)), ids)))
            for _ in range(draw(st.integers(1, 3))):
                out.append(draw(self._message(draw(st.sampled_from(asking)), ids)))
                if not answering or not draw(st.integers(0, 4)):
                    break
                answer = draw(self._message(draw(st.sampled_from(answering)), ids))
                out.append(answer)
                calls = _calls(answer)
                if calls and results and draw(st.integers(0, 4)):
                    said = [draw(self._message(results[0], ids, answers=call)) for call in calls]
                    out += said if draw(st.integers(0, 5)) < 5 else draw(st.permutations(said))
                    if draw(st.booleans()):
                        out.append(draw(self._message(draw(st.sampled_from(answering)), ids)))
            return out

        return messages()

    def _message(
        self, role: Role, ids: Sequence[str], answers: Mapping[str, Json] | None = None
    ) -> SearchStrategy[dict[str, Json]]:
        """A message of a role; `answers` is the call that it gives the result of."""

        @st.composite
        def message(draw: DrawFn) -> dict[str, Json]:
            out: dict[str, Json] = {"role": role.name, **draw(self._fields(role.fields, ids))}
            if answers is not None:
                function = answers.get("function")
                named = function.get("name") if isinstance(function, Mapping) else answers.get("name")
                for key, value in (("tool_call_id", answers.get("id")), ("name", named)):
                    if key in out and value is not None:
                        out[key] = value
            return out

        return message()

    def _fields(self, fields: Sequence[Field], ids: Sequence[str]) -> SearchStrategy[dict[str, Json]]:
        @st.composite
        def some(draw: DrawFn) -> dict[str, Json]:
            out: dict[str, Json] = {}
            for field in fields:
                if not field.optional or draw(st.integers(0, 2)):
                    key = draw(st.sampled_from(field.spellings)) if self._also else field.name
                    out[key] = draw(self._value(field.type, field.name, ids))
            return out

        return some()

    def _value(self, of: Type, name: str, ids: Sequence[str]) -> JsonStrategy:
        """A value of a declared type, for a field of a name."""
        match of:
            case OptionalType(item=item):
                there = self._value(item, name, ids)
                return st.one_of(*[there] * 5, st.none())
            case ListType(item=item):
                return st.lists(self._value(item, name, ids), max_size=3)
            case RecordType(name=record_name):
                record = self._rules.record(record_name)
                assert record is not None, "a checked spec declares its records"
                return self._fields(record.fields, ids)
            case TextType(choices=tuple(choices)):
                return st.sampled_from(choices)
            case TextType() if name == "name":
                return names
            case TextType() if name in ("id", "tool_call_id"):
                return st.sampled_from(ids)
            case TextType():
                return self._text
            case BoolType():
                return st.booleans()
            case IntType():
                return st.integers(0, 20) | st.integers()
            case DateType():
                return st.datetimes(datetime(1990, 1, 1), datetime(2099, 12, 31)).map(_as_date)  # noqa: DTZ001
            case ParsedType():
                return self._objects | st.builds(_as_text, self._objects, st.booleans(), st.sampled_from([None, 2]))
            case JsonType() if name == "parameters":
                return self._schemas.parameters()
            case JsonType() if name == "function":
                return self._schemas.functions()
            case JsonType() if name == "tools":
                return self._schemas.tools()
            case JsonType() if of == OBJECT:
                return self._objects
            case JsonType(kinds=kinds):
                return self._json.filter(lambda value: _kind(value) in kinds)
            case _:
                raise NotImplementedError(f"side_by_side draws no values of the type {of}")


def _calls(message: Mapping[str, Json]) -> list[Mapping[str, Json]]:
    calls = message.get("tool_calls")
    return [c for c in calls if isinstance(c, Mapping)] if isinstance(calls, list) else []


def _kind(value: Json) -> JsonKind:
    match value:
        case None:
            return JsonKind.NULL
        case bool():
            return JsonKind.BOOL
        case int():
            return JsonKind.INTEGER
        case float():
            return JsonKind.FRACTION
        case str():
            return JsonKind.TEXT
        case Mapping():
            return JsonKind.OBJECT
        case _:
            return JsonKind.LIST


def _as_date(date: datetime) -> str:
    return date.replace(microsecond=0).isoformat()


def _as_text(value: Mapping[str, Json], ascii_only: bool, indent: int | None) -> str:
    return json.dumps(value, ensure_ascii=ascii_only, indent=indent)
