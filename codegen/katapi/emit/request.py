"""Emits `request.py`: pydantic types of the request. Reads the request rules; writes one module."""

from __future__ import annotations

from dataclasses import dataclass, replace

from katapi.emit.environment import render
from katapi.emit.names import message_class, record_class
from katapi.emit.python import WIDTH, Lines, imports, string
from katapi.language.source import Source, Span
from katapi.language.syntax_types import MediaKind
from katapi.model.program import Program
from katapi.model.request import Field, Param, Record, Request, Role
from katapi.model.sites import short
from katapi.model.types import (
    NUMBER,
    OBJECT,
    BoolType,
    DateType,
    IntType,
    JsonType,
    ListType,
    OptionalType,
    ParsedType,
    RecordType,
    TaggedType,
    TextType,
    Type,
    UnionType,
    records_in,
)


@dataclass(frozen=True, slots=True)
class FieldContext:
    """One attribute of a class, with the line of the specification that declares it."""

    lines: list[str]


@dataclass(frozen=True, slots=True)
class ClassContext:
    """One class, and the alias that can be given once it stands; of a `final` one there are no subclasses."""

    name: str
    doc: str
    fields: list[FieldContext]
    alias_after: str
    base: str = "RequestModel"
    final: bool = False


@dataclass(frozen=True, slots=True)
class RequestContext:
    """What `request.py.j2` shows."""

    source: str
    request: str
    version: str
    imports: list[str]
    classes: list[ClassContext]


_ROOM = WIDTH - 4
_OR_NONE = " | None"


class _Types:
    """Annotations of field types, and what they need imported."""

    def __init__(self) -> None:
        self.used: dict[str, set[str]] = {}

    def use(self, module: str, name: str) -> str:
        """Notes that a name is imported."""
        self.used.setdefault(module, set()).add(name)
        return name

    def annotation(self, of: Type) -> str:
        """The annotation of a declared type."""
        match of:
            case OptionalType(item=item):
                return f"{self.annotation(item)} | None"
            case ListType(item=item):
                return f"{self.use('katapi.runtime.request_model', 'Items')}[{self.annotation(item)}]"
            case RecordType(name=name):
                return record_class(name)
            case TaggedType(tag=tag):
                self.use("pydantic", "Field")
                classes = " | ".join(map(record_class, of.records))
                return f"{self.use('typing', 'Annotated')}[{classes}, Field(discriminator={string(tag)})]"
            case UnionType(text=text, list=listed):
                return f"{self.annotation(text)} | {self.annotation(listed)}"
            case TextType(choices=None):
                return self.use("katapi.runtime.segments", "Content")
            case TextType(choices=choices):
                return f"{self.use('typing', 'Literal')}[{', '.join(string(c) for c in choices or ())}]"
            case BoolType():
                return "bool"
            case IntType():
                return "int"
            case DateType():
                return self.use("katapi.runtime.fields", "DateField")
            case ParsedType(verbatim=True):
                return self.use("katapi.runtime.arguments", "JsonText")
            case ParsedType():
                return self.use("katapi.runtime.arguments", "ObjectFromText")
            case JsonType():
                name = {OBJECT: "JsonObjectField", NUMBER: "NumberField"}.get(of, "JsonValueField")
                return self.use("katapi.runtime.fields", name)
            case _:
                raise AssertionError(f"no field has the type {of}")

    def documents(self, of: Type) -> str:
        """The annotation of the documents; those that are plain JSON may have a score."""
        match of:
            case OptionalType(item=item):
                return f"{self.documents(item)} | None"
            case ListType(item=item) if item == OBJECT:
                document = self.use("katapi.runtime.documents", "DocumentField")
                return f"{self.use('katapi.runtime.request_model', 'Items')}[{document}]"
            case _:
                return self.annotation(of)

    def of_field(self, field: Field) -> str:
        """The annotation of a field."""
        if field.separator is None:
            annotation = self.annotation(field.type)
            if not field.may_hold_parts:
                return annotation
            rule = f"{self.use('katapi.runtime.images.in_json', 'NoImages')}()"
            return f"{self.use('typing', 'Annotated')}[{annotation}, {rule}]"
        rule = f"{self.use('katapi.runtime.parts', 'FromParts')}({string(field.separator)})"
        content = f"{self.use('typing', 'Annotated')}[{self.use('katapi.runtime.segments', 'Content')}, {rule}]"
        return f"{content} | None" if field.optional else content


def emit_request(program: Program) -> str:
    """The text of `request.py`."""
    request = program.request
    types = _Types()
    types.use("katapi.runtime.request_model", "RequestModel")
    types.use("katapi.runtime.request_model", "Items")
    types.use("typing", "final")
    classes = [_record(r, types, program.source) for r in records_in_order(request)]
    messages = [_message(r, request.named_roles, types, program.source) for r in request.roles]
    messages[-1] = replace(messages[-1], alias_after=_message_alias(request, types))
    classes += [*messages, _whole(request, types, program)]
    typing = {m: n for m, n in types.used.items() if m == "typing"}
    third = {m: n for m, n in types.used.items() if m == "pydantic"}
    own = {m: n for m, n in types.used.items() if m.startswith("katapi")}
    groups = [imports(g) for g in (typing, third, own) if g]
    return render(
        "request.py.j2",
        RequestContext(
            source=program.source.name,
            request=request.identity.name,
            version=request.identity.version,
            imports=[line for group in groups for line in ([*group, ""])][:-1],
            classes=classes,
        ),
    )


def records_in_order(request: Request) -> list[Record]:
    """Records, each after those that it is made of."""
    done: list[Record] = []

    def add(record: Record) -> None:
        for field in record.fields:
            for name in records_in(field.type):
                part = request.record(name)
                if part is not None and part not in done:
                    add(part)
        if record not in done:
            done.append(record)

    for record in request.records:
        add(record)
    return done


def _line(span: Span, source: Source) -> str:
    file, line, _ = source.place(span.start)
    return f"line {line}" if file == source.name else f"line {line} of {short(file, source)}"


def _field(field: Field, types: _Types, source: Source) -> FieldContext:
    default = " = None" if isinstance(field.type, OptionalType) else ""
    if field.also:
        default = _spelled(field.spellings, default.removeprefix(" = "), types)
    comment = _line(field.span, source) + (": accepted, never printed" if field.ignored else "")
    return _attribute(field.name, types.of_field(field), default, comment)


def _spelled(spellings: tuple[str, ...], default: str, types: _Types) -> str:
    """What stands behind an attribute that a request may spell in several ways."""
    types.use("pydantic", "AliasChoices")
    types.use("pydantic", "Field")
    names = f"validation_alias=AliasChoices({', '.join(map(string, spellings))})"
    return f" = Field({default}{', ' if default else ''}{names})"


def _attribute(name: str, annotation: str, default: str, comment: str) -> FieldContext:
    """An attribute with its comment behind it; where that is too long for a line, above it."""
    one = f"{name}: {annotation}{default}"
    behind = f"{one}  # {comment}" if comment else one
    if len(behind) <= _ROOM:
        return FieldContext([f"    {behind}"])
    lines = Lines()
    lines.indent()
    lines.add(f"# {comment}")
    if len(one) <= _ROOM:
        lines.add(one)
    elif default.endswith(")"):
        lines.statement(f"{name}: {annotation} = ", default.removeprefix(" = "))
    elif annotation.endswith(_OR_NONE):
        lines.add(f"{name}: (")
        lines.indent()
        if len(annotation) <= lines.room():
            lines.add(annotation)
        else:
            lines.statement("", annotation.removesuffix(_OR_NONE))
            lines.add(_OR_NONE.lstrip())
        lines.dedent()
        lines.add(f"){default}")
    else:
        lines.statement(f"{name}: ", annotation, default)
    return FieldContext(lines.text().splitlines())


def _record(record: Record, types: _Types, source: Source) -> ClassContext:
    base, carries = "RequestModel", ""
    match record.carries:
        case MediaKind.IMAGE:
            base = types.use("katapi.runtime.images.part", "CarriesImage")
            carries = ", which carries an image"
        case MediaKind.VIDEO:
            base = types.use("katapi.runtime.images.video_part", "CarriesVideo")
            carries = ", which carries a video"
        case _:
            pass
    return ClassContext(
        record_class(record.name),
        f"The record `{record.name}` ({_line(record.span, source)}){carries}.",
        [_field(f, types, source) for f in record.fields],
        "",
        base,
    )


def _message(role: Role, named: tuple[str, ...], types: _Types, source: Source) -> ClassContext:
    if role.open:
        what = "A message of a role that no other class has"
        tag = _attribute("role", _other_than(named, types), "", "")
    else:
        what = f"A message of role `{role.name}`"
        tag = _attribute("role", f"{types.use('typing', 'Literal')}[{string(role.name)}]", "", "")
    return ClassContext(
        message_class(role.name),
        f"{what} ({_line(role.span, source)}).",
        [tag, *(_field(f, types, source) for f in role.fields)],
        "",
        final=True,
    )


def _other_than(named: tuple[str, ...], types: _Types) -> str:
    """The annotation of a role that is none of those with a class of their own."""
    content = types.use("katapi.runtime.segments", "Content")
    if not named:
        return content
    rule = f"{types.use('katapi.runtime.open_roles', 'OtherThan')}({', '.join(map(string, named))})"
    return f"{types.use('typing', 'Annotated')}[{content}, {rule}]"


def _message_alias(request: Request, types: _Types) -> str:
    names = [message_class(r.name) for r in request.roles]
    types.use("typing", "TypeAlias")
    if len(names) == 1:
        return f'Message: TypeAlias = {names[0]}\n"""Any message."""'
    types.use("typing", "Annotated")
    if request.open_role is None:
        types.use("pydantic", "Field")
        told_by = 'Field(discriminator="role")'
    else:
        told_by = f"{types.use('katapi.runtime.open_roles', 'ByRole')}()"
    lines = Lines()
    lines.statement("Message: TypeAlias = ", f"Annotated[{' | '.join(names)}, {told_by}]")
    return f'{lines.text()}\n"""Any message."""'


def _whole(request: Request, types: _Types, program: Program) -> ClassContext:
    fields = [_attribute("messages", "Items[Message]", "", "")]
    if request.tools is not None:
        default = " = None" if isinstance(request.tools, OptionalType) else ""
        line = _line(request.tools_span, program.source)
        fields.append(_attribute("tools", types.annotation(request.tools), default, line))
    if request.documents is not None:
        default = " = None" if isinstance(request.documents, OptionalType) else ""
        line = _line(request.documents_span, program.source)
        fields.append(_attribute("documents", types.documents(request.documents), default, line))
    fields.append(_attribute("add_generation_prompt", "bool", " = True", ""))
    fields += [_param(p, types, program.source) for p in request.params]
    return ClassContext("Request", f"A whole request ({_line(request.span, program.source)}).", fields, "")


def _param(param: Param, types: _Types, source: Source) -> FieldContext:
    default = ""
    if param.default is not None:
        value = string(param.default) if isinstance(param.default, str) else str(param.default)
        plain = isinstance(param.type, TextType) and param.type.choices is None
        default = f" = {types.use('katapi.runtime.segments', 'Content')}({value})" if plain else f" = {value}"
    elif isinstance(param.type, OptionalType):
        default = " = None"
    if param.also:
        default = _spelled(param.spellings, default.removeprefix(" = "), types)
    return _attribute(param.name, types.annotation(param.type), default, _line(param.span, source))
