"""A parsed JSON value → the request that a template sees, by the declared request rules.

| code      | fault                                               |
| --------- | --------------------------------------------------- |
| R103 R104 | a text that should hold an object is no JSON        |
| R105      | a number that is not finite                         |
| R108      | half of a surrogate pair                            |
| R109      | nested too deep                                     |
| R110      | an unknown role                                     |
| R111      | an unknown field or parameter                       |
| R112      | a field or parameter is missing                     |
| R113 R114 | a value of another type, or none of the choices     |
| R115      | a text that is no date                              |
| R116 R117 | a part that says of its image what cannot be read   |
| R118      | an image where JSON is printed                      |
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time

from katapi.language.syntax_types import MediaKind
from katapi.model.program import Program
from katapi.model.request import SCORE, Field, Request
from katapi.model.types import (
    BoolType,
    ControlType,
    DateType,
    ImageType,
    IntType,
    JsonKind,
    JsonType,
    ListType,
    MessageType,
    OptionalType,
    ParsedType,
    RecordType,
    TaggedType,
    TextType,
    Type,
    UnionType,
)
from katapi.oracle.image_parts import KEYS, VIDEO_KEYS, check_image, check_no_image, check_video
from katapi.oracle.values import Absent, Items, Merged, Moment, OracleMessage, Pairs, Record, Value, from_json, kind_of
from katapi.runtime.errors import RequestError
from katapi.runtime.json_types import Json, JsonObject
from katapi.runtime.segments import Content, ContentSegment, Path


@dataclass(frozen=True, slots=True)
class OracleRequest:
    """All that a template may ask about; `tools` and `documents` are `Absent` where the request has none."""

    messages: tuple[OracleMessage, ...]
    tools: Value
    documents: Value
    params: Mapping[str, Value]
    generating: bool


def canonical(program: Program, value: Json) -> OracleRequest:
    """The request that `value` spells. Raises `RequestError`."""
    rules = program.request
    if _depth(value) > rules.depth:
        raise RequestError(f"lists and objects nest more than {rules.depth} deep", code="R109")
    body = _object(value, ())
    known = {"messages", "add_generation_prompt", *(key for param in rules.params for key in param.spellings)}
    known |= {"tools"} if rules.tools is not None else set()
    known |= {"documents"} if rules.documents is not None else set()
    _only(body, known, ())
    _demand("messages" in body, "R112", "messages are missing", ("messages",))
    messages = tuple(
        _message(rules, _object(message, ("messages", index)), index)
        for index, message in enumerate(_list(body["messages"], ("messages",)))
    )
    tools: Value = Absent(("tools",))
    if rules.tools is not None:
        tools = _declared(rules, "tools", rules.tools, body, ())
    documents: Value = Absent(("documents",))
    if rules.documents is not None:
        documents = _unscored(_declared(rules, "documents", rules.documents, body, ()))
    generating = body.get("add_generation_prompt", True)
    if not isinstance(generating, bool):
        raise _fault("R113", "expected true or false", ("add_generation_prompt",))
    params: dict[str, Value] = {}
    for param in rules.params:
        there = _spelled(param.name, param.spellings, body, ())
        if not there and param.default is not None:
            params[param.name] = from_json(param.default, (param.name,))
        else:
            params[param.name] = _declared(rules, param.name, param.type, there, ())
    return OracleRequest(messages, tools, documents, params, generating)


def _message(rules: Request, body: JsonObject, index: int) -> OracleMessage:
    path: Path = ("messages", index)
    _demand("role" in body, "R112", "the role is missing", (*path, "role"))
    name = body["role"]
    if not isinstance(name, str):
        raise _fault("R113", "a role is a text", (*path, "role"))
    role = next((role for role in rules.roles if role.name == name and not role.open), rules.open_role)
    if role is None:
        raise _fault("R110", f"unknown role {name!r}", (*path, "role"))
    _only(body, {"role", *(key for field in role.fields for key in field.spellings)}, path)
    return OracleMessage(
        index, role.name, str(_checked(name, (*path, "role"))), _fields(rules, role.fields, body, path)
    )


def _fields(rules: Request, fields: Sequence[Field], body: JsonObject, path: Path) -> dict[str, Value]:
    by_name: dict[str, Value] = {}
    for field in fields:
        there = _spelled(field.name, field.spellings, body, path)
        content = there.get(field.name)
        if field.separator is not None and isinstance(content, Sequence) and not isinstance(content, str):
            by_name[field.name] = _merged(content, field.separator, (*path, field.name))
        else:
            by_name[field.name] = _declared(rules, field.name, field.type, there, path)
            if field.may_hold_parts:
                check_no_image(content, (*path, field.name))
    return by_name


def _spelled(name: str, spellings: Sequence[str], body: JsonObject, path: Path) -> JsonObject:
    """The value of a field under its own name, if a body has it under one of its names."""
    found = [key for key in spellings if key in body]
    if len(found) > 1:
        raise _fault("R111", f"{found[1]!r} is another spelling of {found[0]!r}", (*path, found[1]))
    return {name: body[found[0]]} if found else {}


def _merged(parts: Sequence[Json], separator: str, path: Path) -> Merged:
    """The texts of a list of text parts, with a separator between two."""
    pieces: list[ContentSegment] = []
    for index, part in enumerate(parts):
        here = (*path, index)
        body = _object(part, here)
        _demand("type" in body, "R112", "the type is missing", (*here, "type"))
        _demand(isinstance(body["type"], str), "R113", "a type is a text", (*here, "type"))
        _demand(body["type"] == "text", "R110", f"no part of type {body['type']!r}", (*here, "type"))
        _only(body, {"type", "text"}, here)
        _demand("text" in body, "R112", "the text is missing", (*here, "text"))
        text = body["text"]
        if not isinstance(text, str):
            raise _fault("R113", "expected text", (*here, "text"))
        if index:
            pieces.append(ContentSegment(Content(separator), path, None))
        pieces.append(ContentSegment(Content(str(_checked(text, (*here, "text")))), (*here, "text"), 0))
    return Merged(tuple(pieces), path)


def _declared(rules: Request, key: str, of: Type, body: JsonObject, path: Path) -> Value:
    """The value of a declared key, which may be left out where its type is optional."""
    if key not in body:
        _demand(isinstance(of, OptionalType), "R112", f"{key!r} is missing", (*path, key))
        return Absent((*path, key))
    return _typed(rules, body[key], of, (*path, key))


def _typed(rules: Request, value: Json, of: Type, path: Path) -> Value:
    """A value that must have a type."""
    match of:
        case OptionalType(item=item):
            return Absent(path) if value is None else _typed(rules, value, item, path)
        case TextType(choices=choices):
            if not isinstance(value, str):
                raise _fault("R113", "expected text", path)
            _demand(choices is None or value in choices, "R114", f"{value!r} is none of the choices", path)
            return from_json(_checked(value, path), path)
        case BoolType():
            _demand(isinstance(value, bool), "R113", "expected true or false", path)
            return from_json(value, path)
        case IntType():
            _demand(isinstance(value, int) and not isinstance(value, bool), "R113", "expected an integer", path)
            return from_json(value, path)
        case DateType():
            return _date(value, path)
        case JsonType(kinds=kinds):
            found = from_json(_checked(value, path), path)
            _demand(kind_of(found) in kinds, "R113", "a JSON value of another kind is expected", path)
            return found
        case ParsedType(verbatim=verbatim):
            return _parsed(rules, value, path, verbatim=verbatim)
        case ListType(item=item):
            items = enumerate(_list(value, path))
            return Items(tuple(_typed(rules, member, item, (*path, index)) for index, member in items), path)
        case UnionType(text=text, list=listed):
            if isinstance(value, str):
                return _typed(rules, value, text, path)
            _demand(isinstance(value, Sequence), "R113", "expected text or a list", path)
            return _typed(rules, value, listed, path)
        case TaggedType(tag=tag, members=members):
            tagged = _object(value, path)
            _demand(tag in tagged, "R112", f"{tag!r} is missing", (*path, tag))
            _demand(isinstance(tagged[tag], str), "R113", "expected text", (*path, tag))
            fitting = [name for name, own in members if tagged[tag] in own]
            _demand(bool(fitting), "R110", f"unknown {tag} {tagged[tag]!r}", (*path, tag))
            return _typed(rules, tagged, RecordType(fitting[0]), path)
        case RecordType(name=name):
            record = rules.record(name)
            assert record is not None, "the resolver knows every record"
            body = _object(value, path)
            keys = {key for field in record.fields for key in field.spellings}
            match record.carries:
                case MediaKind.IMAGE:
                    _only(body, keys | {*KEYS}, path)
                    check_image(body, path)
                case MediaKind.VIDEO:
                    _only(body, keys | {*VIDEO_KEYS}, path)
                    check_video(body, path)
                case _:
                    _only(body, keys, path)
            return Record(_fields(rules, record.fields, body, path), path)
        case ControlType() | ImageType() | MessageType():
            raise AssertionError("no field of a request has this type")


def _unscored(documents: Value) -> Value:
    """Documents without the scores of those that are plain JSON; a score is a number, or null."""
    if not isinstance(documents, Items):
        return documents
    out: list[Value] = []
    for index, document in enumerate(documents.items):
        if isinstance(document, Pairs):
            score = document.get(SCORE)
            kinds = {JsonKind.INTEGER, JsonKind.FRACTION, JsonKind.NULL}
            fine = score is None or kind_of(score) in kinds
            _demand(fine, "R113", "a score is a number", (*(documents.path or ()), index, SCORE))
            pairs = tuple((key, member) for key, member in document.pairs if key != SCORE)
            document = Pairs(pairs, document.path)
        out.append(document)
    return Items(tuple(out), documents.path)


def _date(value: Json, path: Path) -> Value:
    """A day, with or without a time of day."""
    if not isinstance(value, str):
        raise _fault("R113", "expected a date", path)
    for shape in ("0000-00-00", "0000-00-00T00:00:00"):
        if "".join("0" if c in "0123456789" else c for c in value) == shape:
            parts = [int(part) for part in value.replace("T", "-").replace(":", "-").split("-")]
            year, month, day, hour, minute, second = (*parts, 0, 0, 0)[:6]
            try:
                return Moment(datetime.combine(date(year, month, day), time(hour, minute, second)), path)
            except ValueError:
                break
    raise _fault("R115", f"{value!r} is no date", path)


def _parsed(rules: Request, value: Json, path: Path, *, verbatim: bool) -> Value:
    """An object, or a text that holds one; the text is kept where the rules say `verbatim`."""
    source = None
    if isinstance(value, str):
        source = value if verbatim else None
        value = _loads(value, rules.depth, path)
    found = from_json(_checked(_object(value, path), path), path)
    assert isinstance(found, Pairs)
    return Pairs(found.pairs, path, source)


def _loads(text: str, depth: int, path: Path) -> Json:
    def pairs(found: list[tuple[str, Json]]) -> dict[str, Json]:
        _demand(len(dict(found)) == len(found), "R104", "one key twice in an object", path)
        return dict(found)

    def constant(name: str) -> Json:
        raise _fault("R105", f"{name} is no JSON number", path)

    try:
        value: Json = json.loads(text, object_pairs_hook=pairs, parse_constant=constant)
    except ValueError as error:
        raise _fault("R103", f"this text is no JSON: {error}", path) from None
    except RecursionError:
        raise _fault("R109", "the JSON in this text nests too deep", path) from None
    _demand(_depth(value) <= depth, "R109", f"this text nests more than {depth} deep", path)
    return value


def _checked(value: Json, path: Path) -> Json:
    """The same value; refuses floats that are not finite, and texts with half of a surrogate pair."""
    if isinstance(value, str):
        _demand(not any("\ud800" <= c <= "\udfff" for c in value), "R108", "half of a surrogate pair", path)
    elif isinstance(value, float):
        _demand(math.isfinite(value), "R105", "a number that is not finite", path)
    elif isinstance(value, Mapping):
        for key, member in value.items():
            _checked(key, (*path, key))
            _checked(member, (*path, key))
    elif isinstance(value, Sequence):
        for index, item in enumerate(value):
            _checked(item, (*path, index))
    return value


def _depth(value: Json) -> int:
    """How deep lists and objects nest; 0 for a scalar."""
    deepest = 0
    level: list[Json] = [value]
    while level := [v for v in level if isinstance(v, (Mapping, Sequence)) and not isinstance(v, str)]:
        deepest += 1
        level = [inner for v in level for inner in (v.values() if isinstance(v, Mapping) else v)]
    return deepest


def _object(value: Json, path: Path) -> JsonObject:
    if not isinstance(value, Mapping):
        raise _fault("R113", "expected an object", path)
    return value


def _list(value: Json, path: Path) -> Sequence[Json]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise _fault("R113", "expected a list", path)
    return value


def _only(body: JsonObject, known: set[str], path: Path) -> None:
    for key in body:
        _demand(key in known, "R111", f"unknown key {key!r}", (*path, key))


def _demand(holds: bool, code: str, message: str, path: Path) -> None:
    if not holds:
        raise _fault(code, message, path)


def _fault(code: str, message: str, path: Path) -> RequestError:
    return RequestError(message, code=code, where="/".join(map(str, path)))
