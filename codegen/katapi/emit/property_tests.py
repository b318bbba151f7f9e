"""Emits `tests/test_<spec>.py`: properties that every request must keep. Reads the program; writes one module."""

from __future__ import annotations

from dataclasses import dataclass

from katapi.check.traverse import all_statements
from katapi.emit.environment import render
from katapi.emit.names import message_class, record_class
from katapi.emit.printed_fields import always_printed
from katapi.emit.python import Lines, call, imports, string, tuple_of
from katapi.emit.request import records_in_order
from katapi.model import template as t
from katapi.model.program import Program
from katapi.model.types import (
    OBJECT,
    BoolType,
    IntType,
    JsonType,
    ListType,
    OptionalType,
    ParsedType,
    RecordType,
    TextType,
    Type,
)


@dataclass(frozen=True, slots=True)
class PropertyTestsContext:
    """What `property_tests.py.j2` shows."""

    name: str
    source: str
    imports: list[str]
    strategies: list[str]
    rejects: bool
    generate_from: str
    generate_to: str
    prefix_is_conditional: bool
    unknown: int | None
    normalizes: bool
    last_id: int


class _Strategies:
    """Strategies for the declared types, and what they need imported."""

    def __init__(self) -> None:
        self.helpers: set[str] = {"request_bytes", "texts"}

    def of(self, t: Type) -> str:
        """The strategy of a type."""
        match t:
            case OptionalType(item=item):
                return f"st.none() | {self.of(item)}"
            case ListType(item=item):
                return f"st.lists({self.of(item)}, max_size=3).map(tuple)"
            case RecordType(name=name):
                return constant(record_class(name))
            case TextType(choices=None):
                return "TEXT"
            case TextType(choices=choices):
                return f"st.sampled_from({tuple_of(string(c) for c in choices or ())})"
            case BoolType():
                return "st.booleans()"
            case IntType():
                return "st.integers()"
            case ParsedType(verbatim=True):
                return self._helper("json_texts")
            case ParsedType():
                return self._helper("json_objects")
            case JsonType():
                return self._helper("json_objects" if t == OBJECT else "json_values")
            case _:
                raise AssertionError(f"no field has the type {t}")

    def _helper(self, name: str) -> str:
        self.helpers.add(name)
        return f"{name}(Control)"


def constant(class_: str) -> str:
    """A constant's name for a class: `SystemMessage` → SYSTEM_MESSAGE."""
    return "".join("_" + c if c.isupper() and i else c for i, c in enumerate(class_)).upper()


def emit_property_tests(program: Program, package: str) -> str:
    """The text of the test module."""
    strategies = _Strategies()
    request = program.request
    rejects = any(isinstance(s, t.Reject) for s in all_statements(program.template))
    if rejects:
        strategies.helpers.add("accepted_by")
    lines = Lines()
    for record in records_in_order(request):
        arguments = [record_class(record.name), *(f"{f.name}={strategies.of(f.type)}" for f in record.fields)]
        lines.statement(f"{constant(record_class(record.name))} = ", call("st.builds", arguments))
    for role in request.roles:
        name = message_class(role.name)
        arguments = [name, f"role=st.just({string(role.name)})"]
        arguments += [f"{f.name}={strategies.of(f.type)}" for f in role.fields]
        lines.statement(f"{constant(name)} = ", call("st.builds", arguments))
    lines.statement("ANY_MESSAGE = ", call("st.one_of", [constant(message_class(r.name)) for r in request.roles]))
    whole = ["Request", "messages=st.lists(ANY_MESSAGE, max_size=5).map(tuple)"]
    if request.tools is not None:
        whole.append(f"tools={strategies.of(request.tools)}")
    whole.append("add_generation_prompt=st.booleans()")
    whole += [f"{p.name}={strategies.of(p.type)}" for p in request.params]
    lines.statement("REQUEST = ", call("st.builds", whole))
    printed = always_printed(program)
    lines.add("ALWAYS_PRINTED: dict[str, tuple[str, ...]] = {")
    for role in request.roles:
        fields = [f.name for f in role.fields if f.name in printed.get(role.name, frozenset())]
        lines.add(f"    {string(role.name)}: {tuple_of(string(f) for f in fields) if fields else '()'},")
    lines.add("}")
    start, end = _generate_range(program)
    return render(
        "property_tests.py.j2",
        PropertyTestsContext(
            name=program.name,
            source=program.source.name,
            imports=_imports(program, package, strategies),
            strategies=[lines.text()],
            rejects=rejects,
            generate_from=f"({start[0]}, {start[1]})",
            generate_to=f"({end[0]}, {end[1]})",
            prefix_is_conditional=any(g.condition is not None for g in program.template.generates),
            unknown=None if program.vocabulary.unknown is None else program.vocabulary.unknown.id,
            normalizes=bool(program.tokenizer.normalizers),
            last_id=_last_id(program),
        ),
    )


def _imports(program: Program, package: str, strategies: _Strategies) -> list[str]:
    own = {
        "katapi.runtime.segments": ["Content", "ContentSegment", "ControlSegment", "LiteralSegment"],
        "katapi.testing": sorted(strategies.helpers),
        package: ["MODEL"],
        f"{package}.request": [
            "Request",
            *(record_class(r.name) for r in program.request.records),
            *(message_class(r.name) for r in program.request.roles),
        ],
        f"{package}.vocabulary": ["Control"],
    }
    return ["from hypothesis import given", "from hypothesis import strategies as st", "", *imports(own)]


def _generate_range(program: Program) -> tuple[tuple[int, int], tuple[int, int]]:
    (generate,) = program.template.generates
    return program.source.line_column(generate.span.start), program.source.line_column(generate.body.span.end)


def _last_id(program: Program) -> int:
    ids = [c.id for c in program.vocabulary.controls] + [x.id for x in program.vocabulary.texts]
    if program.vocabulary.unknown is not None:
        ids.append(program.vocabulary.unknown.id)
    return max(ids)
