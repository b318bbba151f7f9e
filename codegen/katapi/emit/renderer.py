"""Emits `renderer.py`: the template as functions that print. Reads the template; writes one module."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, replace
from textwrap import dedent

from katapi.check.traverse import statements
from katapi.emit.code import NOT
from katapi.emit.constants import constant_source
from katapi.emit.counters import counters_of_defs
from katapi.emit.environment import render
from katapi.emit.expressions import Expressions
from katapi.emit.module import Constant, Module
from katapi.emit.names import lender
from katapi.emit.paths import carries_path
from katapi.emit.python import Lines, call, imports, string, tuple_of
from katapi.emit.statements import Statements
from katapi.emit.tool_loops import with_tool_defs
from katapi.model import template as t
from katapi.model.boundaries import guards
from katapi.model.declarations import Serialization
from katapi.model.flow import always_rejects
from katapi.model.program import Program
from katapi.model.sites import cited
from katapi.model.types import ANY_JSON, OBJECT, ControlType, ListType, OptionalType, TextType, Type, present

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
    begin: list[str]
    body: str


def emit_renderer(program: Program, package: str) -> str:
    """The text of `renderer.py`; `package` is the dotted name of the generated package."""
    module = Module(program.source, lender(program, package))
    loops = with_tool_defs(program.template, lambda each: f"tools_{module.site(each.span).line}")
    program = replace(program, template=loops)
    module.signatures = {d.name: tuple(p.type for p in d.parameters) for d in program.template.definitions}
    module.counters = counters_of_defs(program.template)
    module.printed("Printed")
    module.use(f"{package}.request", "Request")
    known = _known(program.template)
    functions = [_definition(d, module, package, known=d.name in known) for d in program.template.definitions]
    body = _main(program, module, package)
    for serialization in module.serializations.values():
        if serialization.python is None:
            module.use("katapi.runtime.serialization", "Serialization")
        else:
            module.use("katapi.runtime.python_notation", "PythonNotation")
    constants = sorted(module.constants.values(), key=_in_order)
    return render(
        "renderer.py.j2",
        RendererContext(
            source=program.source.name,
            template=program.template.identity.name,
            version=program.template.identity.version,
            imports=[*import_groups(module, package), *([""] if module.serializations or constants else [])],
            serializations=[serialization_source(s) for s in module.serializations.values()],
            constants=[*(constant_source(c) for c in constants), *_boundaries(program)],
            functions=functions,
            line=program.source.line_column(program.template.span.start)[0],
            begin=_begin(body),
            body=body,
        ),
    )


def _in_order(constant: Constant) -> tuple[str, int, int, str]:
    """What constants are sorted by: their places, those in the template's own file first."""
    line, column, file = constant.pieces[0].site
    return file or "", line, column, constant.name


def _begin(body: str) -> list[str]:
    """What a template begins with, as far as its body goes on with it."""
    names = {node.id for node in ast.walk(ast.parse(dedent(body))) if isinstance(node, ast.Name)}
    lines = {"out": "out: list[Printed] = []", "messages": "messages = list(enumerate(request.messages))"}
    return [line for name, line in lines.items() if name in names]


def import_groups(module: Module, package: str) -> list[str]:
    """Standard library, then Katapi and its generated packages, with a blank line between."""
    own = (package.split(".")[0], "katapi")
    first = {m: n for m, n in module.imports.items() if m.split(".")[0] not in own}
    second = {m: n for m, n in module.imports.items() if m.split(".")[0] in own}
    groups = [imports(first), imports(second)]
    return [line for group in groups if group for line in ([*group, ""])][:-1]


def serialization_source(s: Serialization) -> str:
    """The constant of a serialization."""
    lines = Lines()
    if s.python is not None:
        values = (("unicode", s.python), ("order", s.order.value), ("absent", s.absent.value))
        settings = [f"{key}={string(value)}" for key, value in values]
        lines.statement(f"{s.identity.name.upper()} = ", call("PythonNotation", settings))
        return lines.text()
    lines.add(f"{s.identity.name.upper()} = Serialization(")
    for key, value in (
        ("order", string(s.order.value)),
        ("item_separator", string(s.item_separator)),
        ("key_separator", string(s.key_separator)),
        ("indent", "None" if s.indent is None else f"({s.indent.spaces}, {string(s.indent.line_end.value)})"),
        ("escape", tuple_of(string(escape.value) for escape in s.escape)),
        ("floats", string(s.floats.value)),
        ("integers", string(s.integers.value)),
        ("nan", string(s.nan.value)),
        ("absent", string(s.absent.value)),
    ):
        lines.add(f"    {key}={value},")
    lines.add(")")
    return lines.text()


def _boundaries(program: Program) -> list[str]:
    """The constant that says what becomes of contents that spell what parts messages, if the spec says it."""
    boundaries = guards(program.template)
    if not boundaries:
        return []
    lines = Lines()
    calls: list[str] = []
    for one in boundaries:
        escape = "None" if one.escape is None else string(one.escape)
        rule = string(cited(one.span, program.source))
        calls.append(call("Boundary", [string(one.text), f"escape={escape}", f"rule={rule}"]))
    lines.items("BOUNDARIES = ", calls)
    lines.add('"""The texts that part messages, and what becomes of contents that spell them."""')
    return [lines.text()]


def settled(module: Module, emit: Callable[[frozenset[str], frozenset[int]], tuple[str, Expressions]]) -> str:
    """Emits again until it is known which names and companions of names (`m_at`, `c_path`) the code reads."""
    begin = module.as_it_is()
    needed: frozenset[str] = frozenset()
    unread: frozenset[int] = frozenset()
    passes = 0
    while passes < _PASSES:
        begin()
        text, expressions = emit(needed, unread)
        settled = expressions.used == needed
        if settled and not expressions.never_read:
            return text
        needed = frozenset(expressions.used)
        if settled:
            unread |= expressions.never_read
        passes = 0 if settled else passes + 1
    raise AssertionError("the companions of variables do not settle")


def _main(program: Program, module: Module, package: str) -> str:
    def emit(needed: frozenset[str], unread: frozenset[int]) -> tuple[str, Expressions]:
        expressions = Expressions(module, package, needed, unread)
        statements = Statements(expressions)
        lines = statements.lines
        for variable in program.template.variables:
            name = expressions.declare(variable)
            if variable.binding in (t.Binding.TOOLS, t.Binding.PARAM) and expressions.reads(variable):
                lines.add(f"{name} = request.{variable.name}")
            elif variable.binding is t.Binding.DOCUMENTS and expressions.reads(variable):
                lines.add(f"{name} = {_documents(variable.type, module)}")
            elif variable.binding is t.Binding.GENERATING and expressions.reads(variable):
                lines.add(f"{name} = request.add_generation_prompt")
        for counter in program.template.counters:
            lines.add(f"{expressions.declare(counter)} = 0")
        statements.body(program.template.body)
        if always_rejects(program.template.body):
            return lines.text(), expressions
        for generate in program.template.generates:
            lines.add(f"# {module.cite(generate.span)} generate")
            test = "request.add_generation_prompt"
            if generate.condition is not None:
                test += f" and {statements.condition(generate.condition).within(NOT)}"
            lines.statement("if ", test, ":")
            statements.block(generate.body)
        boundaries = guards(program.template)
        if boundaries:
            module.use("katapi.runtime.boundaries", "Boundary", "guarded")
        lines.add("return guarded(out, BOUNDARIES)" if boundaries else "return out")
        return lines.text(), expressions

    return settled(module, emit)


def _documents(of: Type, module: Module) -> str:
    """The documents as a template sees them: those that are plain JSON without their scores."""
    listed = present(of)
    if not isinstance(listed, ListType) or listed.item != OBJECT:
        return "request.documents"
    module.use("katapi.runtime.documents", "unscored")
    optional = isinstance(of, OptionalType)
    return f"unscored(request.documents){' if request.documents is not None else None' if optional else ''}"


def _known(template: t.Template) -> set[str]:
    """The defs that print a JSON value for the template itself, such as tools: the same comes with the next request.

    Those that other defs call print parts of values, which are sooner printed than looked up.
    """
    within = {call.name for d in template.definitions for call in statements(d.body) if isinstance(call, t.CallDef)}
    return {
        d.name
        for d in template.definitions
        if d.name not in within
        and [p.type for p in d.parameters] in ([ANY_JSON], [OBJECT], [ListType(OBJECT)])
        and len(tuple(statements(d.body))) > 1
    }


def _definition(definition: t.Def, module: Module, package: str, *, known: bool) -> str:
    counters = module.counters[definition.name]
    known = known and not counters.needed and not counters.advanced
    if known:
        module.use("katapi.runtime.known_prints", "known_prints")

    def emit(needed: frozenset[str], unread: frozenset[int]) -> tuple[str, Expressions]:
        expressions = Expressions(module, package, needed, unread)
        statements = Statements(expressions)
        parameters = ["out: list[Printed]"]
        for parameter in definition.parameters:
            parameters.extend(_parameter(parameter, expressions))
        parameters.extend(f"{expressions.declare(counter)}: int" for counter in counters.needed)
        advanced = [expressions.name(counter) for counter in counters.advanced]
        gives = (
            "None" if not advanced else "int" if len(advanced) == 1 else f"tuple[{', '.join(['int'] * len(advanced))}]"
        )
        head = Lines()
        if known:
            head.add("@known_prints")
        head.statement("def ", call(f"_{definition.name}", parameters), f" -> {gives}:")
        statements.lines.add(f'"""{module.cite(definition.span)} {_words(definition)}."""')
        statements.body(definition.body)
        if advanced and not always_rejects(definition.body):
            statements.lines.add(f"return {', '.join(advanced)}")
        return head.text() + "\n" + statements.lines.text(), expressions

    return settled(module, emit)


def _words(definition: t.Def) -> str:
    """How the spec begins what became a function: a def, or a loop over tools."""
    match definition.body.statements:
        case (t.Each(item=item, span=span),) if span == definition.span:
            return f"each {item.name} in tools"
        case _:
            return f"def {definition.name}({', '.join(p.name for p in definition.parameters)})"


def _parameter(parameter: t.Variable, expressions: Expressions) -> list[str]:
    name = expressions.declare_parameter(parameter)
    of: Type = present(parameter.type)
    if isinstance(of, ControlType):
        return [f"{name}: {expressions.module.printed('Fixed')}"]
    if isinstance(of, TextType):
        optional = " | None" if isinstance(parameter.type, OptionalType) else ""
        return [f"{name}: {expressions.module.printed('PrintedText')}{optional}"]
    plain = f"{name}: {expressions.python_type(parameter.type)}"
    if carries_path(of):
        return [plain, f"{name}_path: {expressions.module.segment('Path')}"]
    return [plain]
