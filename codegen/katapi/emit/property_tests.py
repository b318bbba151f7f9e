"""Emits `tests/test_<spec>.py`: properties that every request must keep. Reads the program; writes one module."""

from __future__ import annotations

from dataclasses import dataclass

from katapi.artifacts.lock import Artifact
from katapi.check.traverse import all_statements, expressions, nested
from katapi.emit.environment import render
from katapi.emit.names import lender, message_class, record_class
from katapi.emit.places import placeholders_constant, prefix_constant
from katapi.emit.printed_fields import always_printed
from katapi.emit.python import Lines, call, imports, string, tuple_of
from katapi.emit.request import records_in_order
from katapi.emit.tokenizer_tests import undone, with_vocabulary
from katapi.model import template as t
from katapi.model.boundaries import guards
from katapi.model.declarations import Integers, Nan
from katapi.model.program import Program, budgets_of
from katapi.model.request import Field, Request
from katapi.model.sites import cited, site_of
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
)

#: How deep a JSON value of `katapi.testing` nests at most.
JSON_NESTING = 6


@dataclass(frozen=True, slots=True)
class PropertyTestsContext:
    """What `property_tests.py.j2` shows."""

    name: str
    source: str
    imports: list[str]
    needs: str
    choices: list[str]
    strategies: list[str]
    rejections: str
    renders: bool
    readable: bool
    depth_limit: int | None
    budgets: bool
    prefix: str | None
    placeholders: str | None
    checked_places: str
    shares: bool
    generate_from: str
    generate_to: str
    has_prefix: bool
    prefix_is_conditional: bool
    prefix_is_all: bool
    unknown: int | None
    undone: bool
    normalizes: bool
    any_other: str | None
    strips: bool


class _Strategies:
    """Strategies for the declared types, and what they need imported."""

    def __init__(self) -> None:
        self.helpers: set[str] = {"given", "known_ids", "request_bytes", "texts"}
        self.choices: dict[tuple[str, ...], str] = {}

    def of(self, t: Type) -> str:
        """The strategy of a type."""
        match t:
            case OptionalType(item=item):
                return f"st.none() | {self.of(item)}"
            case ListType(item=item):
                return f"st.lists({self.of(item)}, max_size=3).map(tuple)"
            case RecordType(name=name):
                return constant(record_class(name))
            case TaggedType():
                return f"st.one_of({', '.join(constant(record_class(name)) for name in t.records)})"
            case UnionType(text=text, list=listed):
                return f"{self.of(text)} | {self.of(listed)}"
            case TextType(choices=None):
                return "TEXT"
            case TextType(choices=choices):
                return f"st.sampled_from({self._choices(choices or ())})"
            case BoolType():
                return "st.booleans()"
            case IntType():
                return "st.integers()"
            case DateType():
                self.helpers.add("dates")
                return "dates()"
            case ParsedType(verbatim=True):
                return self._helper("json_texts")
            case ParsedType():
                return self._helper("json_objects")
            case JsonType():
                if t == NUMBER:
                    self.helpers.add("json_numbers")
                    return "json_numbers()"
                return self._helper("json_objects" if t == OBJECT else "json_values")
            case _:
                raise AssertionError(f"no field has the type {t}")

    def documents(self, t: Type) -> str:
        """The strategy of documents; those that are plain JSON may have a score."""
        match t:
            case OptionalType(item=item):
                return f"st.none() | {self.documents(item)}"
            case ListType(item=item) if item == OBJECT:
                return f"st.lists({self._helper('json_documents')}, max_size=3).map(tuple)"
            case _:
                return self.of(t)

    def of_field(self, field: Field) -> str:
        """The strategy of a field."""
        if field.separator is None:
            return self.of(field.type)
        self.helpers.add("texts_of_parts")
        content = f"texts_of_parts(Control, {string(field.separator)})"
        return f"st.none() | {content}" if field.optional else content

    def _choices(self, choices: tuple[str, ...]) -> str:
        """The values of a closed text; many of them are a constant."""
        values = tuple_of(string(c) for c in choices)
        if len(values) <= 60:
            return values
        return self.choices.setdefault(choices, f"CHOICES_{len(self.choices) + 1}")

    def _helper(self, name: str) -> str:
        self.helpers.add(name)
        return f"{name}(Control)"


_TAKEN = {
    "ALWAYS_PRINTED",
    "ANY_MESSAGE",
    "CONTROL_IDS",
    "INPUTS",
    "MODEL",
    "PLACEHOLDERS",
    "PREFIX",
    "REJECTIONS",
    "REQUEST",
    "TEXT",
}


def constant(class_: str) -> str:
    """A constant's name for a class: `SystemMessage` → SYSTEM_MESSAGE; one that the tests use otherwise gets a `_`."""
    name = "".join("_" + c if c.isupper() and i else c for i, c in enumerate(class_)).upper()
    return f"{name}_" if name in _TAKEN or name.startswith("CHOICES") else name


def emit_property_tests(program: Program, package: str, artifact: Artifact | None, *, readable: bool) -> str:
    """The text of the test module; `artifact` is that of the vocabulary, `readable` whether replies can be read."""
    needs = with_vocabulary("MODEL", artifact)
    strategies = _Strategies()
    request = program.request
    rejections = _rejections(program)
    renders = not any(isinstance(s, t.Reject) for s in program.template.body.statements)
    limited = request.depth < _deepest(request)
    strategies.helpers |= {
        name
        for name, used in {
            "accepted": rejections and renders,
            "with_vocabulary": needs,
            "nesting": limited,
            "rejection": rejections,
            "reread": renders and readable,
            "texts_at": renders,
        }.items()
        if used
    }
    lines = Lines()
    for record in records_in_order(request):
        arguments = [record_class(record.name), *(f"{f.name}={strategies.of_field(f)}" for f in record.fields)]
        lines.statement(f"{constant(record_class(record.name))} = ", call("st.builds", arguments))
    for role in request.roles:
        name = message_class(role.name)
        spelled = f"st.just({string(role.name)})"
        if role.open:
            strategies.helpers.add("other_roles")
            spelled = f"other_roles(Control, {tuple_of(map(string, request.named_roles))})"
        arguments = [name, f"role={spelled}"]
        arguments += [f"{f.name}={strategies.of_field(f)}" for f in role.fields]
        lines.statement(f"{constant(name)} = ", call("st.builds", arguments))
    lines.statement("ANY_MESSAGE = ", call("st.one_of", [constant(message_class(r.name)) for r in request.roles]))
    whole = ["Request", "messages=st.lists(ANY_MESSAGE, max_size=5).map(tuple)"]
    if request.tools is not None:
        whole.append(f"tools={strategies.of(request.tools)}")
    if request.documents is not None:
        whole.append(f"documents={strategies.documents(request.documents)}")
    whole.append("add_generation_prompt=st.booleans()")
    whole += [f"{p.name}={strategies.of(p.type)}" for p in request.params]
    lines.statement("REQUEST = ", call("st.builds", whole))
    printed = always_printed(program)
    if renders:
        lines.add("ALWAYS_PRINTED: dict[str, tuple[str, ...]] = {")
        for role in request.roles:
            _entry(lines, string(role.name), [string(place) for place in printed[role.name]])
        lines.add("}")
    budgets = renders and bool(budgets_of(program))
    prefix = prefix_constant(program) if renders else None
    placeholders = placeholders_constant(program) if budgets else None
    places = {"PREFIX": prefix, "PLACEHOLDERS": placeholders}
    prefix_is_all = not _asks_for_the_prefix(program.template)
    checks = ["Placeholder"] if placeholders is not None else []
    if prefix is not None:
        checks += ["Prefix", "sites_of" if prefix_is_all else "check_prefix"]
    start, end = _generate_range(program) if program.template.generates else ((0, 0), (0, 0))
    return render(
        "property_tests.py.j2",
        PropertyTestsContext(
            name=program.name,
            source=program.source.name,
            imports=_imports(
                program,
                package,
                strategies.helpers,
                checks,
                budgets=budgets,
                renders=renders,
                pytest=limited,
                sites=any("Site(" in constant for constant in (prefix, placeholders) if constant is not None),
            ),
            needs=needs,
            choices=_constants(strategies.choices),
            strategies=[lines.text()],
            rejections=_places(rejections),
            renders=renders,
            readable=readable,
            depth_limit=request.depth if limited else None,
            budgets=budgets,
            prefix=prefix,
            placeholders=placeholders,
            checked_places="".join(f", {one.lower()}={one}" for one, known in places.items() if known is not None),
            shares=any(site_of(d.span, program.source).file for d in program.template.definitions),
            generate_from=f"({start[0]}, {start[1]})",
            generate_to=f"({end[0]}, {end[1]})",
            has_prefix=bool(program.template.generates),
            prefix_is_conditional=any(g.condition is not None for g in program.template.generates),
            prefix_is_all=prefix_is_all,
            unknown=None if program.vocabulary.unknown is None else program.vocabulary.unknown.id,
            undone=undone(program),
            normalizes=bool(program.tokenizer.normalizers),
            any_other=None if request.open_role is None else string(request.open_role.name),
            strips=any(c.flags.lstrip or c.flags.rstrip for c in program.vocabulary.controls),
        ),
    )


def _constants(choices: dict[tuple[str, ...], str]) -> list[str]:
    out: list[str] = []
    for values, name in choices.items():
        lines = Lines()
        lines.items(f"{name} = ", [string(value) for value in values])
        out.append(lines.text())
    return out


def _entry(lines: Lines, key: str, items: list[str]) -> None:
    """A pair of a dict display, its value a tuple; one item a line where they do not fit."""
    one = f"    {key}: {tuple_of(items)},"
    if len(one) <= lines.room():
        lines.add(one)
        return
    lines.add(f"    {key}: (")
    for item in items:
        lines.add(f"        {item},")
    lines.add("    ),")


def _imports(
    program: Program,
    package: str,
    helpers: set[str],
    checks: list[str],
    *,
    budgets: bool,
    renders: bool,
    pytest: bool,
    sites: bool,
) -> list[str]:
    stands_in = "with_vocabulary" in helpers
    own = {
        "katapi.runtime.errors": ["RequestError"] if pytest else [],
        "katapi.runtime.segments": [
            "Content",
            *(("ContentSegment", "ControlSegment") if renders else ()),
            *(("LiteralSegment",) if renders and program.template.generates else ()),
            *(("Site",) if sites else ()),
        ],
        "katapi.testing": sorted(helpers),
        "katapi.testing_budgets": ["Case", "check_within", "within"] if budgets else [],
        "katapi.testing_segments": checks,
        package: ["MODEL as DECLARED" if stands_in else "MODEL"],
        f"{lender(program, package)}.tokenizer": ["CONFIGURATION"] if stands_in else [],
        f"{package}.request": [
            "Request",
            *(record_class(r.name) for r in program.request.records),
            *(message_class(r.name) for r in program.request.roles),
        ],
        f"{lender(program, package)}.vocabulary": ["Control"],
    }
    third = ["import pytest"] if pytest else []
    return [*third, "from hypothesis import strategies as st", "", *imports(own)]


def _generate_range(program: Program) -> tuple[tuple[int, int], tuple[int, int]]:
    (generate,) = program.template.generates
    return program.source.line_column(generate.span.start), program.source.line_column(generate.body.span.end)


def _places(rejections: list[str]) -> str:
    """The constant that holds what may reject a request, if anything."""
    lines = Lines()
    if rejections:
        lines.statement("REJECTIONS = ", f"{{{', '.join(map(string, rejections))}}}")
    return lines.text()


def _rejections(program: Program) -> list[str]:
    """Where each `reject` stands, as its error names it, and the codes of what boundaries and serializations refuse."""
    source = program.source
    spans = [s.span for s in all_statements(program.template) if isinstance(s, t.Reject)]
    places = dict.fromkeys(cited(span, source) for span in sorted(spans))
    used = [
        inner.serialization
        for statement in all_statements(program.template)
        for expression in expressions(statement)
        for inner in nested(expression)
        if isinstance(inner, t.Serialize)
    ]
    codes = {
        "T103": any(one.escape is None for one in guards(program.template)),
        "T140": any(s.integers is Integers.ROUNDED and s.nan is Nan.REJECT for s in used),
        "T143": any(s.integers is Integers.SAFE for s in used),
    }
    return [*places, *(code for code, refuses in codes.items() if refuses)]


def _asks_for_the_prefix(template: t.Template) -> bool:
    """Whether anything but `generate` depends on whether a prefix is asked for."""
    return any(
        isinstance(inner, t.Var) and inner.variable.binding is t.Binding.GENERATING
        for statement in all_statements(template)
        for expression in expressions(statement)
        for inner in nested(expression)
    )


def _deepest(request: Request) -> int:
    """How deep the requests of the strategies can nest."""

    def of(type_: Type) -> int:
        match type_:
            case OptionalType(item=item):
                return of(item)
            case ListType(item=item):
                return 1 + of(item)
            case RecordType(name=name):
                record = request.record(name)
                return 1 + max(map(of_field, record.fields), default=0) if record is not None else 1
            case TaggedType():
                return max(of(RecordType(name)) for name in type_.records)
            case UnionType(list=listed):
                return of(listed)
            case JsonType() | ParsedType():
                return JSON_NESTING if type_ != NUMBER else 0
            case _:
                return 0

    def of_field(field: Field) -> int:
        return of(field.type) if field.separator is None else 2  # a list of parts

    messages = 2 + max((of_field(f) for role in request.roles for f in role.fields), default=0)
    tools = 0 if request.tools is None else of(request.tools)
    documents = 0 if request.documents is None else of(request.documents)
    return 1 + max([messages, tools, documents, *(of(p.type) for p in request.params)])
