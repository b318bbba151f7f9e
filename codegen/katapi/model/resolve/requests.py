"""Request blocks → model."""

from __future__ import annotations

import keyword
from collections.abc import Mapping
from dataclasses import replace
from enum import Enum
from typing import TypeAlias

from katapi.language import syntax as s
from katapi.language.source import Span
from katapi.language.syntax_types import MediaKind
from katapi.model.request import SCORE, Field, Param, Record, Request, Role
from katapi.model.resolve.findings import Findings, Unresolved, nearest
from katapi.model.resolve.headers import identity
from katapi.model.resolve.settings import Settings
from katapi.model.types import (
    ANY_JSON,
    CONTENT,
    LITERAL,
    NUMBER,
    OBJECT,
    BoolType,
    ControlType,
    DateType,
    IntType,
    ListType,
    OptionalType,
    ParsedType,
    RecordType,
    TaggedType,
    TextType,
    Trust,
    Type,
    UnionType,
    assignable,
    describe,
    present,
    records_in,
)
from katapi.runtime.images import part as images
from katapi.runtime.images import video_part as videos
from katapi.runtime.request_model import RequestModel


def nameable(name: str) -> bool:
    """Whether a generated class can have an attribute of the name: Python and pydantic keep some for themselves."""
    taken = keyword.iskeyword(name) or hasattr(RequestModel, name)
    return not (taken or name.startswith("_"))


_NAMED: dict[str, Type] = {
    "text": CONTENT,
    "json": ANY_JSON,
    "object": OBJECT,
    "bool": BoolType(),
    "int": IntType(),
    "number": NUMBER,
    "date": DateType(),
}

#: Keys that every request has; no parameter may take their names.
BUILT_IN_KEYS = ("messages", "tools", "documents", "add_generation_prompt")


class _Bytes(Enum):
    STRICT = "utf8 strict"
    REPLACE = "utf8 replace"


#: The fields of each record that are closed texts, with their values: what may tell records apart.
ClosedFields: TypeAlias = Mapping[str, Mapping[str, tuple[str, ...]]]


def resolve_type(node: s.TypeRef, records: ClosedFields, findings: Findings, *, in_def: bool = False) -> Type:
    """A type as it is written; `control` is a type only for the parameters of a `def`."""
    match node:
        case s.NamedType(name=name):
            if name.text in records:
                return RecordType(name.text)
            if in_def and name.text == "control":
                return ControlType()
            if name.text not in _NAMED and name.text in findings.untyped:
                raise Unresolved
            if name.text not in _NAMED:
                words = [*_NAMED, *sorted(records), *(["control"] if in_def else [])]
                raise findings.fail("K106", name.span, f"unknown type `{name.text}`", help=nearest(name.text, words))
            return _NAMED[name.text]
        case s.ListOf(item=item):
            return ListType(resolve_type(item, records, findings, in_def=in_def))
        case s.OptionalOf(item=item):
            return OptionalType(resolve_type(item, records, findings, in_def=in_def))
        case s.Choice(values=values):
            if len(set(values)) < len(values):
                twice = next(v for v in values if values.count(v) > 1)
                raise findings.fail("K107", node.span, f'the value "{twice}" stands here twice')
            return TextType(Trust.CONTENT, values)
        case s.FromText(target=target, verbatim=verbatim):
            if target.text != "object":
                raise findings.fail("K106", target.span, "only an `object` can come from text")
            return ParsedType(verbatim)
        case s.FromParts():
            raise findings.fail("K106", node.span, "only a field of a role or record is read from parts")
        case s.CarriedImage():
            raise AssertionError("a line such as `image` is no field")
        case s.UnionOf():
            return _union(node, records, findings, in_def=in_def)


def _union(node: s.UnionOf, records: ClosedFields, findings: Findings, *, in_def: bool) -> Type:
    """A text or a list; or records that a closed text tells apart."""
    members = [resolve_type(member, records, findings, in_def=in_def) for member in node.members]
    texts = [m for m in members if m == CONTENT]
    lists = [m for m in members if isinstance(m, ListType)]
    if len(members) == 2 and texts and lists:
        return UnionType(CONTENT, lists[0])
    names = [m.name for m in members if isinstance(m, RecordType)]
    if len(names) < len(members):
        help = "`json` is a value of any kind" if not lists else "records that a field tells apart stand in one list"
        raise findings.fail("K201", node.span, "a union is `text` and a list, or it is records", help=help)
    for tag in records[names[0]]:
        values = [records[name].get(tag, ()) for name in names]
        if all(values) and len({v for own in values for v in own}) == sum(map(len, values)):
            return TaggedType(tag, tuple(zip(names, values, strict=True)))
    raise findings.fail(
        "K201",
        node.span,
        f"no field tells {' and '.join(f'`{name}`' for name in names)} apart",
        help='give each a field of the same name with other values: `type: "text"`, `type: "image"`',
    )


def closed_fields(request: Request) -> ClosedFields:
    """Those of the records of a request."""
    return {
        record.name: {
            f.name: f.type.choices
            for f in record.fields
            if isinstance(f.type, TextType) and f.type.choices and not f.ignored
        }
        for record in request.records
    }


def _written_fields(record: s.RecordDecl) -> dict[str, tuple[str, ...]]:
    return {f.name.text: f.type.values for f in record.fields if isinstance(f.type, s.Choice) and not f.ignored}


_TAKEN = "names that Python or the generated classes use, and names with `_` in front, are taken"


def _distinct(name: s.Name, others: Mapping[str, Span], findings: Findings) -> bool:
    """Whether a name gives a class of its own: `tool_call` and `toolCall` would not."""
    for other, place in others.items():
        if other.replace("_", "").lower() == name.text.replace("_", "").lower():
            what = "is declared twice" if other == name.text else f"differs from `{other}` only in case or `_`"
            findings.add("K107", name.span, f"`{name.text}` {what}", first=place)
            return False
    return True


def _fields(nodes: tuple[s.FieldDecl, ...], records: ClosedFields, findings: Findings) -> tuple[Field, ...]:
    out: list[Field] = []
    seen: dict[str, Span] = {}
    for node in nodes:
        name = node.name.text
        if isinstance(node.type, s.CarriedImage):
            continue
        if name in seen:
            findings.add("K107", node.name.span, f"the field `{name}` is declared twice", first=seen[name])
            continue
        seen[name] = node.name.span
        if name == "role" or not nameable(name):
            findings.add("K108", node.name.span, f"a field cannot be called `{name}`", help=_TAKEN)
            continue
        also = tuple(other.text for other in node.also)
        written, separator = _from_parts(node.type, findings)
        try:
            of = resolve_type(written, records, findings)
            if isinstance(present(of), TaggedType):
                raise findings.fail("K201", node.type.span, "records that a field tells apart stand in a list")
            out.append(Field(name, of, node.ignored, node.name.span, also, separator))
        except Unresolved:
            findings.untyped.add(name)
            continue
    spelled = dict(seen)
    for node in nodes:
        for other in node.also:
            if other.text == "role":
                findings.add("K108", other.span, "no field is spelled `role`: every message has a role")
            elif other.text in spelled:
                message = f"`{other.text}` is the name of a field already"
                findings.add("K107", other.span, message, first=spelled[other.text])
            spelled.setdefault(other.text, other.span)
    return tuple(out)


def _image_lines(node: s.RoleDecl | s.RecordDecl) -> list[s.FieldDecl]:
    return [line for line in node.fields if isinstance(line.type, s.CarriedImage)]


_A = {MediaKind.IMAGE: "an image", MediaKind.VIDEO: "a video"}
_WIRE_NAMES = {MediaKind.IMAGE: images.WIRE_NAMES, MediaKind.VIDEO: videos.WIRE_NAMES}


def _carried(record: s.RecordDecl, findings: Findings) -> MediaKind | None:
    """What a record says that its parts carry; no field has a name by which it may come."""
    lines = _image_lines(record)
    if not lines:
        return None
    first, *more = lines
    kind = first.type.kind if isinstance(first.type, s.CarriedImage) else MediaKind.IMAGE
    for line in more:
        message = f"`{line.name.text}` stands here twice" if line.type == first.type else "a part carries one thing"
        findings.add("K107", line.span, message, first=first.span)
    fields = [field for field in record.fields if field not in lines]
    for name in (name for field in fields for name in (field.name, *field.also)):
        if name.text in _WIRE_NAMES[kind]:
            message = f"{_A[kind]} may come by the name `{name.text}`, so that no field has it"
            findings.add("K107", name.span, message, first=first.span)
    return kind


def _from_parts(node: s.TypeRef, findings: Findings) -> tuple[s.TypeRef, str | None]:
    """A type without `from parts`, and the separator that stands behind that."""
    if isinstance(node, s.OptionalOf):
        item, separator = _from_parts(node.item, findings)
        return s.OptionalOf(item, span=node.span), separator
    if not isinstance(node, s.FromParts):
        return node, None
    if node.target.text != "text":
        findings.add("K106", node.target.span, "only a `text` can come from parts")
    return s.NamedType(replace(node.target, text="text"), span=node.span), node.separator


def _default(node: s.ParamDecl, t: Type, findings: Findings) -> str | int | bool | None:
    match node.default:
        case None:
            return None
        case s.TextLiteral(text=text):
            fits = assignable(TextType(Trust.LITERAL, (text,)) if isinstance(t, TextType) and t.choices else LITERAL, t)
            value: str | int | bool = text
        case s.BoolLiteral(value=value):
            fits = assignable(BoolType(), t)
        case s.IntLiteral(value=value):
            fits = assignable(IntType(), t)
        case _:
            findings.add("K201", node.default.span, "a default is a text, a number, `true` or `false`")
            return None
    if not fits:
        findings.add("K201", node.default.span, f"the default does not fit the type {describe(t)}")
    return value


def resolve_request(node: s.Request, findings: Findings) -> Request:
    """Roles, records and parameters with their types."""
    settings = Settings(node.settings, node.header, findings)
    bytes_policy = settings.choice("bytes", _Bytes, _Bytes.STRICT)
    declared_depth = settings.number("depth", "64")
    depth = 64 if declared_depth is None else declared_depth
    settings.finish()
    if not 1 <= depth <= 256:
        findings.add("K112", settings.place("depth"), f"a depth of {depth} is outside 1 .. 256")

    names = {r.name.text: _written_fields(r) for r in node.records}
    records: list[Record] = []
    places: dict[str, Span] = {}
    for record in node.records:
        if record.name.text in _NAMED:
            findings.add("K107", record.name.span, f"the type `{record.name.text}` exists already")
            continue
        if not _distinct(record.name, places, findings) and record.name.text in places:
            continue
        places[record.name.text] = record.name.span
        own = _fields(record.fields, names, findings)
        records.append(Record(record.name.text, own, record.span, _carried(record, findings)))
    _check_recursion(records, findings)

    roles: list[Role] = []
    for role in node.roles:
        fields = _fields(role.fields, names, findings)
        for line in _image_lines(role):
            help = "write `image` into the record of a part of the content"
            findings.add("K121", line.span, "a message as a whole carries no image", help=help)
        for name in role.names:
            if not _distinct(name, {r.name: r.span for r in roles}, findings):
                continue
            first = next((r.span for r in roles if r.open and role.open), None)
            if first is not None:
                findings.add("K107", name.span, "all other roles have a name already", first=first)
                continue
            roles.append(Role(name.text, fields, name.span, role.open))
    if not roles:
        findings.add("K109", node.header.span, "a request has at least one role")

    tools: Type | None = None
    for number, declared in enumerate(node.tools):
        if number:
            findings.add("K107", declared.span, "`tools` is declared twice", first=node.tools[0].span)
            continue
        try:
            tools = resolve_type(declared.type, names, findings)
        except Unresolved:
            findings.untyped.add("tools")
            continue
        if tools not in (ListType(OBJECT), OptionalType(ListType(OBJECT))):
            findings.add("K201", declared.type.span, "tools are a list of objects", help="write `tools: [object]?`")
            findings.untyped.add("tools")
            tools = None

    documents = _documents(node, names, records, findings)

    params: list[Param] = []
    for param in node.params:
        key = param.name.text
        taken = next((p.span for p in params if p.name == key), None)
        if key in BUILT_IN_KEYS or taken is not None:
            findings.add("K107", param.name.span, f"the request has a key `{key}` already", first=taken)
            continue
        if not nameable(key):
            findings.add("K108", param.name.span, f"a parameter cannot be called `{key}`", help=_TAKEN)
            continue
        try:
            t = resolve_type(param.type, {}, findings)
        except Unresolved:
            findings.untyped.add(key)
            continue
        also = tuple(other.text for other in param.also)
        params.append(Param(key, t, _default(param, t, findings), param.name.span, also))
    spelled = {p.name: p.span for p in params}
    for param in node.params:
        for other in param.also:
            if other.text in BUILT_IN_KEYS or other.text in spelled:
                message = f"the request has a key `{other.text}` already"
                findings.add("K107", other.span, message, first=spelled.get(other.text))
            spelled.setdefault(other.text, other.span)

    return Request(
        identity(node.header),
        bytes_policy is _Bytes.REPLACE,
        depth,
        tuple(roles),
        tuple(records),
        tools,
        node.tools[0].span if node.tools else node.span,
        documents,
        node.documents[0].span if node.documents else node.span,
        tuple(params),
        node.span,
    )


def _documents(node: s.Request, names: ClosedFields, records: list[Record], findings: Findings) -> Type | None:
    """The type of the documents: a list of objects as they come, or of a record."""
    if not node.documents:
        return None
    first, *more = node.documents
    for declared in more:
        findings.add("K107", declared.span, "`documents` is declared twice", first=first.span)
    try:
        of = resolve_type(first.type, names, findings)
    except Unresolved:
        findings.untyped.add("documents")
        return None
    listed = present(of)
    item = listed.item if isinstance(listed, ListType) else None
    if item != OBJECT and not isinstance(item, RecordType):
        help = "write `documents: [object]?`, or name a record"
        findings.add("K201", first.type.span, "documents are a list of objects or of a record", help=help)
        findings.untyped.add("documents")
        return None
    record = next((r for r in records if item == RecordType(r.name)), None)
    score = None if record is None else record.field(SCORE)
    if score is not None and present(score.type) not in (NUMBER, IntType()):
        help = "write `score: number?`, with `ignore` in front of it if it is not printed"
        findings.add("K201", score.span, "the score of a document is a number", help=help)
    return of


def _check_recursion(records: list[Record], findings: Findings) -> None:
    """A record inside itself would need a request without end."""
    parts = {r.name: set().union(*(records_in(f.type) for f in r.fields)) for r in records}
    for record in records:
        seen: set[str] = set()
        open_names = list(parts[record.name])
        while open_names:
            name = open_names.pop()
            if name not in seen:
                seen.add(name)
                open_names.extend(parts.get(name, ()))
        if record.name in seen:
            findings.add("K502", record.span, f"the record `{record.name}` contains itself")
