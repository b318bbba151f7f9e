"""Small requests in the order of their size, of which the first that shows something is the smallest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain, product

from katapi.check.traverse import all_statements, expressions, nested
from katapi.model import template as t
from katapi.model.boundaries import guards
from katapi.model.program import Program
from katapi.model.request import Field, Request, Role
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
    TaggedType,
    TextType,
    Type,
    UnionType,
    present,
)
from katapi.runtime.json_types import Json

_TEXT = "a"
_DATE = "2025-01-01T00:00:00"
_TOOL: Json = {"type": "function", "function": {"name": "f", "description": "d", "parameters": {}}}


def requests(program: Program, params: Mapping[str, Json]) -> Iterator[dict[str, Json]]:
    """What can stand in a request beside its messages, the emptier first."""
    required = {p.name: value(p.type, program.request) for p in program.request.params if p.required} | dict(params)
    yield dict(required)
    if program.request.tools is not None:
        yield {"tools": [_TOOL], **required}
    if program.request.documents is not None:
        yield {"documents": [_document(program.request)], **required}


def _document(request: Request) -> Json:
    """A document, with a text if the declaration leaves open what it has."""
    listed = None if request.documents is None else present(request.documents)
    item = listed.item if isinstance(listed, ListType) else None
    return {"text": _TEXT} if item is None or item == OBJECT else value(item, request)


def messages(role: Role, request: Request, text: str) -> list[dict[str, Json]]:
    """Messages of a role, the emptier first: with no field that may be missing, with one of them, and with all."""
    optional = [f for f in role.fields if isinstance(f.type, OptionalType)]
    required = [f for f in role.fields if f not in optional]
    chosen: list[list[Field]] = [[], *([f] for f in optional if not f.ignored)]
    if len(optional) > 1:
        chosen.append([f for f in optional if not f.ignored])
    out: list[dict[str, Json]] = []
    for fields in chosen:
        message: dict[str, Json] = {"role": role.name}
        message |= {f.name: value(f.type, request, text) for f in [*required, *fields] if not f.ignored}
        if message not in out:
            out.append(message)
    return out


def value(of: Type, request: Request, text: str = _TEXT) -> Json:
    """A value of a type, with a text in place of each of its texts."""
    match of:
        case OptionalType(item=item):
            return value(item, request, text)
        case TextType(choices=choices):
            return text if choices is None else choices[0]
        case UnionType():
            return text
        case ListType(item=item):
            return [value(item, request, text)]
        case RecordType(name=name):
            record = request.record(name)
            fields = () if record is None else record.fields
            return {f.name: value(f.type, request, text) for f in fields if not f.ignored}
        case TaggedType(members=members):
            return value(RecordType(members[0][0]), request, text)
        case BoolType():
            return True
        case IntType():
            return 1
        case DateType():
            return _DATE
        case ParsedType():
            return {}
        case JsonType(kinds=kinds):
            if JsonKind.TEXT in kinds:
                return text
            return 1 if JsonKind.INTEGER in kinds else {} if JsonKind.OBJECT in kinds else []
        case _:
            return None


def grown(
    first: list[dict[str, Json]], last: list[dict[str, Json]], growth: list[dict[str, Json]], most: int
) -> Iterator[tuple[list[Json], list[Json]]]:
    """Conversations that end with one of `last`, and what comes behind, the shorter ones first."""
    for size in range(2, most + 1):
        for behind in range(1, min(size, 3)):
            before = size - behind - 1
            for parts in product(*[first] * before, last, *[growth] * behind):
                whole: list[Json] = list(parts)
                yield whole[: before + 1], whole[before + 1 :]


def needles(program: Program) -> list[str]:
    """The texts that a template looks for in others."""
    found: dict[str, None] = {one.text: None for one in guards(program.template)}
    for statement in all_statements(program.template):
        for whole in expressions(statement):
            for expr in nested(whole):
                match expr:
                    case t.TextTest(needle=needle):
                        found[needle] = None
                    case t.Cut(kind=kind, argument=str() as argument) if not kind.value.startswith("trim"):
                        found[argument] = None
                    case _:
                        pass
    return list(found)


def variants(program: Program, roles: tuple[str, ...], texts: tuple[str, ...]) -> list[dict[str, Json]]:
    """Messages of some roles, for each of some texts."""
    found = [role for name in roles if (role := program.request.role(name)) is not None]
    return list(chain.from_iterable(messages(role, program.request, text) for text in texts for role in found))
