"""Emits `renderer.py`: the template as functions that append segments. Reads the template; writes one module."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from katapi.check.traverse import statements as statements_of
from katapi.emit.environment import render
from katapi.emit.expressions import Expressions, carries_path
from katapi.emit.module import Constant, Module, RoleConstant
from katapi.emit.python import Lines, call, imports, string, string_lines
from katapi.emit.statements import Statements
from katapi.model import template as t
from katapi.model.declarations import Serialization
from katapi.model.program import Program
from katapi.model.types import ControlType, OptionalType, TextType, Type, present

_PASSES = 8


@dataclass(frozen=True, slots=True)
class RendererContext:
    """What `renderer.py.j2` shows."""

    source: str
    template: str
    version: str
    imports: list[str]
    serializations: list[str]
    constants: list[str]
    functions: list[str]
    line: int
    body: str


def emit_renderer(program: Program, package: str) -> str:
    """The text of `renderer.py`; `package` is the dotted name of the generated package."""
    module = Module(program.source)
    module.signatures = {d.name: tuple(p.type for p in d.parameters) for d in program.template.definitions}
    module.use("katapi.runtime.segments", "Rendering", "Segment")
    module.use(f"{package}.request", "Request")
    sampling = _sampling(program.template)
    file = program.source.name.rsplit("/", 1)[-1]
    functions = [_definition(d, module, package, file, sampling) for d in program.template.definitions]
    body = _main(program, module, package, file, sampling)
    if module.serializations:
        module.use("katapi.runtime.serialization", "Serialization")
    constants = sorted(module.constants.values(), key=lambda c: (c.line, c.column, c.name))
    if module.roles:
        for name in ("Site", "Literal", "LiteralSegment"):
            module.segment(name)
    for constant in constants:
        for name in ("Site", *(("ControlSegment",) if constant.member else ("Literal", "LiteralSegment"))):
            module.segment(name)
    return render(
        "renderer.py.j2",
        RendererContext(
            source=program.source.name,
            template=program.template.identity.name,
            version=program.template.identity.version,
            imports=_import_groups(module, package),
            serializations=[_serialization(s) for s in module.serializations.values()],
            constants=[_constant(c) for c in constants] + [_role_constant(r) for r in sorted(module.roles)],
            functions=functions,
            line=program.source.line_column(program.template.span.start)[0],
            body=body,
        ),
    )


def _import_groups(module: Module, package: str) -> list[str]:
    """Standard library, then Katapi and its generated packages, with a blank line between."""
    own = (package.split(".")[0], "katapi")
    first = {m: n for m, n in module.imports.items() if m.split(".")[0] not in own}
    second = {m: n for m, n in module.imports.items() if m.split(".")[0] in own}
    groups = [imports(first), imports(second)]
    return [line for group in groups if group for line in ([*group, ""])][:-1]


def _constant(constant: Constant) -> str:
    place = f"Site({constant.line}, {constant.column})"
    lines = Lines()
    if constant.text is None:
        lines.statement(f"{constant.name} = ", call("ControlSegment", [f"Control.{constant.member}", place]))
        return lines.text()
    whole = call("LiteralSegment", [f"Literal({string(constant.text)})", place])
    pieces = string_lines(constant.text)
    if len(string(constant.text)) + 8 <= lines.room() or len(pieces) <= 1:
        lines.statement(f"{constant.name} = ", whole)
        return lines.text()
    lines.add(f"{constant.name} = LiteralSegment(")
    lines.add("    Literal(")
    for piece in pieces:
        lines.add(f"        {piece}")
    lines.add("    ),")
    lines.add(f"    {place},")
    lines.add(")")
    return lines.text()


def _role_constant(constant: RoleConstant) -> str:
    lines = Lines()
    lines.add(f"{constant.name} = {{")
    for role in constant.roles:
        segment = call("LiteralSegment", [f"Literal({string(role)})", f"Site({constant.line}, {constant.column})"])
        lines.add(f"    {string(role)}: {segment},")
    lines.add("}")
    return lines.text()


def _serialization(s: Serialization) -> str:
    lines = Lines()
    lines.add(f"{s.identity.name.upper()} = Serialization(")
    for key, value in (
        ("order", string(s.order.value)),
        ("item_separator", string(s.item_separator)),
        ("key_separator", string(s.key_separator)),
        ("indent", str(s.indent)),
        ("escape", string(s.escape.value)),
        ("floats", '"python"'),
        ("nan", '"reject"'),
        ("absent", '"omitted"'),
    ):
        lines.add(f"    {key}={value},")
    lines.add(")")
    return lines.text()


def _settled(emit: Callable[[frozenset[str]], tuple[str, set[str]]]) -> str:
    """Emits again until it is known which companions (`m_at`, `c_path`) the code reads."""
    needed: frozenset[str] = frozenset()
    for _ in range(_PASSES):
        text, used = emit(needed)
        if used == needed:
            return text
        needed = frozenset(used)
    raise AssertionError("the companions of variables do not settle")


def _main(program: Program, module: Module, package: str, file: str, sampling: frozenset[str]) -> str:
    def emit(needed: frozenset[str]) -> tuple[str, set[str]]:
        expressions = Expressions(module, package, needed)
        statements = Statements(expressions, file, sampling)
        lines = statements.lines
        for variable in program.template.variables:
            name = expressions.declare(variable)
            if variable.binding in (t.Binding.TOOLS, t.Binding.PARAM) and expressions.reads(variable):
                lines.add(f"{name} = request.{variable.name}")
            elif variable.binding is t.Binding.GENERATING and expressions.reads(variable):
                lines.add(f"{name} = request.add_generation_prompt")
        statements.statements(program.template.body.statements)
        for generate in program.template.generates:
            line = program.source.line_column(generate.span.start)[0]
            lines.add(f"# {file}:{line} generate")
            test = "request.add_generation_prompt"
            if generate.condition is not None:
                test += f" and {expressions.condition(generate.condition).within(3)}"
            lines.statement("if ", test, ":")
            statements.block(generate.body)
        return lines.text(), expressions.used

    return _settled(emit)


def _definition(definition: t.Def, module: Module, package: str, file: str, sampling: frozenset[str]) -> str:
    def emit(needed: frozenset[str]) -> tuple[str, set[str]]:
        expressions = Expressions(module, package, needed)
        statements = Statements(expressions, file, sampling)
        parameters = ["out: list[Segment]"]
        if definition.name in sampling:
            parameters.append("sampled: list[tuple[int, int]]")
        for parameter in definition.parameters:
            parameters.extend(_parameter(parameter, expressions))
        head = Lines()
        head.statement("def ", call(f"_{definition.name}", parameters), " -> None:")
        line = program_line(module, definition)
        names = ", ".join(p.name for p in definition.parameters)
        statements.lines.add(f'"""{file}:{line} def {definition.name}({names})."""')
        statements.statements(definition.body.statements)
        return head.text() + "\n" + statements.lines.text(), expressions.used

    return _settled(emit)


def program_line(module: Module, definition: t.Def) -> int:
    """The line a def begins on."""
    return module.source.line_column(definition.span.start)[0]


def _parameter(parameter: t.Variable, expressions: Expressions) -> list[str]:
    name = expressions.declare(parameter)
    of: Type = present(parameter.type)
    if isinstance(of, ControlType):
        return [f"{name}: {expressions.module.segment('ControlSegment')}"]
    if isinstance(of, TextType):
        optional = " | None" if isinstance(parameter.type, OptionalType) else ""
        return [f"{name}: {expressions.module.segment('Text')}{optional}"]
    plain = f"{name}: {expressions.python_type(parameter.type)}"
    if carries_path(of):
        return [plain, f"{name}_path: {expressions.module.segment('Path')}"]
    return [plain]


def _sampling(template: t.Template) -> frozenset[str]:
    """The defs that mark something as sampled, themselves or through what they call."""
    marks = {d.name for d in template.definitions if any(isinstance(s, t.Sampled) for s in statements_of(d.body))}
    calls = {d.name: {s.name for s in statements_of(d.body) if isinstance(s, t.CallDef)} for d in template.definitions}
    while True:
        more = {name for name, called in calls.items() if called & marks} - marks
        if not more:
            return frozenset(marks)
        marks |= more
