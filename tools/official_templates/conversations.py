"""Hypothesis strategies for requests that a spec takes, aimed at the branches of an official template.

The request rules of the spec say which roles, fields and parameters there are; the names of fields say what is worth
trying in them; the words that the template decides by are among the texts. No text spells a control token unless the
template itself looks for it: there the official result would be at fault.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class _Manner:
    """What the messages of one request have in common."""

    ids: Sequence[str]
    """What calls are known by."""
    whole: bool
    """Whether optional texts are there: many templates fail without, which would hide whatever else they do."""


_PLAIN = _Manner(_IDS[0], whole=False)


class Conversations:
    """Requests for one spec and one official template; `fixed` are parameters that all of them have."""

    def __init__(self, program: Program, words: Words, fixed: Mapping[str, Json], *, also: bool = False) -> None:
        self.rules = program.request
        self.fixed = dict(fixed)
        self.also = also
        controls = {c.spelling for c in program.vocabulary.controls}
        steering = [w for w in words.texts if w not in _SCHEMA_TYPES]
        free = [p for p in (*_PIECES, *_THINKING) if p in steering or not any(c in p for c in controls)]
        short = st.sampled_from(["a", "", "b", "天 é"])
        long = st.lists(st.sampled_from([*free, *steering]), min_size=1, max_size=6).map("".join)
        self._text: SearchStrategy[str] = short | short | long
        types = [w for w in words.texts if w.lower() in _SCHEMA_TYPES]
        declared = {field.name for role in self.rules.roles for field in role.fields}
        declared |= {field.name for record in self.rules.records for field in record.fields}
        members = [m for m in words.members if m not in declared and m not in dir(str) and m not in dir(dict)]
        self._schemas = Schemas(self._text, types, members)
        self._json = json_values(self._text)
        self._objects = json_objects(self._text)

    def requests(self) -> SearchStrategy[dict[str, Json]]:
        """Whole requests."""
        return _request(self)

    def value(self, of: Type, name: str, manner: _Manner) -> JsonStrategy:
        """A value of a declared type, for a field of a name."""
        match of:
            case OptionalType(item=item):
                there = self.value(item, name, manner)
                return there if manner.whole and isinstance(item, TextType) else st.one_of(*[there] * 5, st.none())
            case ListType(item=item):
                return st.lists(self.value(item, name, manner), max_size=3)
            case RecordType(name=record_name):
                record = self.rules.record(record_name)
                assert record is not None, "a checked spec declares its records"
                return _fields(self, record.fields, manner)
            case TextType(choices=tuple(choices)):
                return st.sampled_from(choices)
            case TextType() if name == "name":
                return names
            case TextType() if name in ("id", "tool_call_id"):
                return st.sampled_from(manner.ids)
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


@st.composite
def _request(draw: DrawFn, c: Conversations) -> dict[str, Json]:
    manner = _Manner(draw(st.sampled_from(_IDS)), whole=draw(st.booleans()))
    messages = _free(c, manner) if draw(st.integers(0, 3)) == 3 else _talk(c, manner)
    out: dict[str, Json] = {"messages": draw(messages)}
    tools = c.rules.tools
    if tools is not None and (not isinstance(tools, OptionalType) or draw(st.booleans())):
        out["tools"] = draw(c.value(tools, "tools", _PLAIN))
    out["add_generation_prompt"] = draw(st.booleans())
    for param in c.rules.params:
        if param.name not in c.fixed and (param.required or draw(st.booleans())):
            out[param.name] = draw(c.value(param.type, param.name, _PLAIN))
    return out | c.fixed


@st.composite
def _free(draw: DrawFn, c: Conversations, manner: _Manner) -> list[Json]:
    """Messages of any roles in any order; a role comes in runs as often as alone."""
    out: list[Json] = []
    role: Role | None = None
    for _ in range(draw(st.integers(0, 5))):
        if role is None or draw(st.booleans()):
            role = draw(st.sampled_from(c.rules.roles))
        out.append(draw(_message(c, role, manner)))
    return out


@st.composite
def _talk(draw: DrawFn, c: Conversations, manner: _Manner) -> list[Json]:
    """A conversation as it should be: someone asks, the model answers or calls tools, whose results follow."""
    roles = c.rules.roles
    opening = [r for r in roles if r.name in _OPENING]
    asking = [r for r in roles if r.name in _ASKING] or list(roles)
    answering = [r for r in roles if r.name in _ANSWERING]
    results = [r for r in roles if r.name not in (*_OPENING, *_ASKING, *_ANSWERING)]
    out: list[Json] = []
    if draw(st.booleans()) and opening:
        out.append(draw(_message(c, draw(st.sampled_from(opening)), manner)))
    for _ in range(draw(st.integers(1, 3))):
        out.append(draw(_message(c, draw(st.sampled_from(asking)), manner)))
        if not answering or not draw(st.integers(0, 4)):
            break
        answer = draw(_message(c, draw(st.sampled_from(answering)), manner))
        out.append(answer)
        calls = _calls(answer)
        if calls and results and draw(st.integers(0, 4)):
            said = [_answering(draw(_message(c, results[0], manner)), call) for call in calls]
            out += said if draw(st.integers(0, 5)) < 5 else draw(st.permutations(said))
            if draw(st.booleans()):
                out.append(draw(_message(c, draw(st.sampled_from(answering)), manner)))
    return out


@st.composite
def _message(draw: DrawFn, c: Conversations, role: Role, manner: _Manner) -> dict[str, Json]:
    return {"role": role.name, **draw(_fields(c, role.fields, manner))}


@st.composite
def _fields(draw: DrawFn, c: Conversations, fields: Sequence[Field], manner: _Manner) -> dict[str, Json]:
    out: dict[str, Json] = {}
    for field in fields:
        there = not field.optional or draw(st.integers(0, 2))
        if there or (manner.whole and field.name == "content"):
            key = draw(st.sampled_from(field.spellings)) if c.also else field.name
            out[key] = draw(c.value(field.type, field.name, manner))
    return out


def _answering(result: Mapping[str, Json], call: Mapping[str, Json]) -> dict[str, Json]:
    """The result of a call: it names the call, as far as such messages do."""
    function = call.get("function")
    named = function.get("name") if isinstance(function, Mapping) else call.get("name")
    known = {"tool_call_id": call.get("id"), "name": named}
    return {key: known.get(key) or value for key, value in result.items()}


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
