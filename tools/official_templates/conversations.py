"""Requests that a spec takes, drawn at random and aimed at the branches of an official template.

The request rules of the spec say which roles, fields and parameters there are; the names of fields say what is worth
trying in them; the words that the template decides by are among the texts. No text spells a control token unless the
template itself looks for it: there the official result would be at fault.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from katapi.model.program import Program
from katapi.model.request import Field, Request, Role
from katapi.model.types import (
    BoolType,
    DateType,
    IntType,
    JsonKind,
    JsonType,
    ListType,
    OptionalType,
    ParsedType,
    RecordType,
    TaggedType,
    TextType,
    Type,
    UnionType,
)
from katapi.runtime.json_types import Json
from tools.official_templates.draws import FUNCTIONS, Draws, Members
from tools.official_templates.schemas import Schemas
from tools.official_templates.words import Words

_PIECES = (
    *("a", "b c", "1", "é", "天", "🌤", "<|", " ", " ", "\n", "\n", "\n\n"),
    *"<>|[]{}/,&'\"\\",
    *"\t\r\x1f\x7f\u2028\u3000",
)
_THINKING = ("<think>", "</think>", "<think>\n", "\n</think>\n\n")
_SCHEMA_TYPES = frozenset("string integer number boolean array object null int float bool str any dict list".split())
_OPENING = ("system", "developer")
_ASKING = ("user",)
_ANSWERING = ("assistant", "model", "gpt")
_IDS = (("call_1", "call_2"), ("abcdefgh1", "abcdefgh2"), ("functions.f:0", "functions.f:1"))
_FIRST_DAY = datetime(1990, 1, 1)  # noqa: DTZ001  # a date of a request is in no time zone


class Conversations:
    """Requests for one spec and one official template.

    `fixed` are parameters that all of them have; with `also` fields are spelled in any of their ways.
    """

    def __init__(self, program: Program, words: Words, fixed: Mapping[str, Json], *, also: bool = False) -> None:
        self._rules = program.request
        self._fixed = fixed
        self._also = also
        controls = {control.spelling for control in program.vocabulary.controls}
        steering = [word for word in words.texts if word not in _SCHEMA_TYPES]
        free = [p for p in (*_PIECES, *_THINKING) if p in steering or not any(c in p for c in controls)]
        self._pieces = (*free, *steering)
        self._types = [word for word in words.texts if word.lower() in _SCHEMA_TYPES]
        self._roles = [role for role in words.roles if self._rules.role(role) is None]
        declared = {field.name for role in self._rules.roles for field in role.fields}
        declared |= {field.name for record in self._rules.records for field in record.fields}
        self._members = [m for m in words.members if m not in declared and m not in dir(str) and m not in dir(dict)]

    def request(self, seed: str) -> Members:
        """The request of a seed."""
        draws = Draws(seed, self._pieces)
        complete = draws.one_in(2)
        schemas = Schemas(draws, self._types, self._members, complete=complete)
        request = _Request(self._rules, draws, schemas, self._roles, also=self._also, complete=complete)
        return request.whole(self._fixed) | dict(self._fixed)


class _Request:
    """One request in the making; its messages have in common by which ids calls are known.

    Complete messages have a content: many templates fail without, which would hide whatever else they do.
    `other_roles` are those that the template tells apart and the spec does not declare.
    """

    def __init__(
        self,
        rules: Request,
        draws: Draws,
        schemas: Schemas,
        other_roles: Sequence[str],
        *,
        also: bool,
        complete: bool,
    ) -> None:
        self._rules = rules
        self._draws = draws
        self._schemas = schemas
        self._other_roles = other_roles
        self._also = also
        self._ids = draws.one_of(_IDS)
        self._complete = complete

    def whole(self, fixed: Mapping[str, Json]) -> Members:
        """The request, without parameters that are fixed."""
        d, rules = self._draws, self._rules
        out: Members = {"messages": self._any_messages() if d.one_in(4) else self._conversation()}
        if rules.tools is not None and (not isinstance(rules.tools, OptionalType) or not d.one_in(3)):
            out["tools"] = self._value(rules.tools, "tools")
        if rules.documents is not None and d.one_in(2):
            out["documents"] = self._value(rules.documents, "documents")
            # Few templates have a place for both.
            if out["documents"] and not d.one_in(4):
                out.pop("tools", None)
        out["add_generation_prompt"] = d.one_in(2)
        for param in rules.params:
            if param.name not in fixed and (param.required or d.one_in(2)):
                out[param.name] = self._value(param.type, param.name)
        return out

    def _any_messages(self) -> list[Json]:
        """Messages of any roles in any order; a role comes in runs as often as alone."""
        d = self._draws
        out: list[Json] = []
        role: Role | None = None
        for _ in range(d.count(0, 5)):
            if role is None or d.one_in(2):
                role = d.one_of(self._rules.roles)
            out.append(self._message(role))
        return out

    def _conversation(self) -> list[Json]:
        """Messages as they should be: someone asks, the model answers or calls tools, whose results follow."""
        d, roles = self._draws, self._rules.roles
        opening = [r for r in roles if r.name in _OPENING]
        asking = [r for r in roles if r.name in _ASKING] or list(roles)
        answering = [r for r in roles if r.name in _ANSWERING]
        results = [r for r in roles if r.name not in (*_OPENING, *_ASKING, *_ANSWERING)]
        out: list[Json] = []
        if d.one_in(2) and opening:
            out.append(self._message(d.one_of(opening)))
        for _ in range(d.count(1, 3)):
            out.append(self._message(d.one_of(asking)))
            if d.one_in(5) or not answering:
                break
            answer = self._message(d.one_of(answering))
            out.append(answer)
            calls = _calls(answer)
            if calls and results and not d.one_in(6):
                said = [_answering(self._message(d.one_of(results)), call) for call in calls]
                out += d.shuffled(said) if d.one_in(6) else said
                if d.one_in(2):
                    out.append(self._message(d.one_of(answering)))
        return out

    def _message(self, role: Role) -> Members:
        name = self._draws.one_of([role.name, *self._other_roles]) if role.open else role.name
        return {"role": name, **self._fields(role.fields)}

    def _fields(self, fields: Sequence[Field]) -> Members:
        d = self._draws
        out: Members = {}
        for field in fields:
            if not field.optional or not d.one_in(3) or (self._complete and field.name == "content"):
                value = self._value(field.type, field.name)
                if field.separator is not None and isinstance(value, str) and d.one_in(3):
                    value = [{"type": "text", "text": text} for text in d.some(d.text, 0, 3)]
                out[d.one_of(field.spellings) if self._also else field.name] = value
        return out

    def _value(self, of: Type, name: str) -> Json:
        """A value of a declared type, for a field of a name."""
        d = self._draws
        match of:
            case OptionalType(item=item):
                missing = d.one_in(7) and not (self._complete and name == "content")
                return None if missing else self._value(item, name)
            case ListType(item=item):
                return [] if d.one_in(6) else d.some(lambda: self._value(item, name), 1, 3)
            case RecordType(name=record_name):
                record = self._rules.record(record_name)
                assert record is not None, "a checked spec declares its records"
                return self._fields(record.fields)
            case TaggedType(members=members):
                return self._value(RecordType(d.one_of(members)[0]), name)
            case UnionType(text=text, list=items):
                return self._value(text if d.one_in(2) else items, name)
            case TextType(choices=tuple(choices)):
                return d.one_of(choices)
            case TextType():
                return self._text(name)
            case BoolType():
                return d.one_in(2)
            case IntType():
                return d.count(0, 20)
            case DateType():
                return (_FIRST_DAY + timedelta(seconds=d.count(0, 10**9 * 3))).isoformat()
            case ParsedType():
                arguments = d.members()
                if d.one_in(2):
                    return arguments
                return json.dumps(arguments, ensure_ascii=d.one_in(2), indent=2 if d.one_in(4) else None)
            case JsonType(kinds=kinds):
                return self._json(kinds, name)
            case _:
                raise NotImplementedError(f"side_by_side draws no values of the type {of}")

    def _text(self, name: str) -> str:
        """A text for a field of a name."""
        if name == "name":
            return self._draws.one_of(FUNCTIONS)
        return self._draws.one_of(self._ids) if name in _KNOWN_BY else self._draws.text()

    def _json(self, kinds: frozenset[JsonKind], name: str) -> Json:
        """JSON of some kinds, for a field of a name."""
        d = self._draws
        if JsonKind.OBJECT in kinds and (len(kinds) == 1 or name in _OBJECTS):
            match name:
                case "parameters":
                    return self._schemas.parameters()
                case "function":
                    return self._schemas.function()
                case "tools":
                    return self._schemas.tool()
                case "documents":
                    return self._document()
                case _:
                    return d.members()
        while _kind(value := d.json()) not in kinds:
            pass
        return value

    def _document(self) -> Members:
        """A document: as a rule a title and a text, in part anything."""
        d = self._draws
        texts = d.shuffled(("title", "text", "url", "doc_id", "天气"))[: d.count(0, 3)]
        scored: Members = {"score": self._json(frozenset({JsonKind.FRACTION}), "score")} if d.one_in(4) else {}
        return {**scored, **{key: d.text() for key in texts}, **(d.members() if d.one_in(3) else {})}


_KNOWN_BY = ("id", "tool_call_id")
_OBJECTS = ("parameters", "function", "tools", "documents", "arguments")


def _calls(message: Members) -> list[Members]:
    calls = message.get("tool_calls")
    return [dict(call) for call in calls if isinstance(call, Mapping)] if isinstance(calls, list) else []


def _answering(result: Members, call: Members) -> Members:
    """The result of a call: it names the call, as far as such messages do."""
    function = call.get("function")
    named = function.get("name") if isinstance(function, Mapping) else call.get("name")
    known = {"tool_call_id": call.get("id"), "name": named}
    return {key: known.get(key) or value for key, value in result.items()}


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
