"""Emits `reach.py`: how far a template looks. Reads the derived reach; writes one module."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from katapi.derive.reach import DerivedQuestion, DerivedReach
from katapi.emit.environment import render
from katapi.emit.expressions import Expressions
from katapi.emit.module import Module
from katapi.emit.names import lender, numbered
from katapi.emit.python import Lines, call, string, tuple_of
from katapi.emit.renderer import import_groups, settled
from katapi.emit.statements import Statements
from katapi.model import template as t
from katapi.model.program import Program
from katapi.runtime.budget.reach import Counted


@dataclass(frozen=True, slots=True)
class ReachContext:
    """What `reach.py.j2` shows."""

    source: str
    template: str
    version: str
    imports: list[str]
    functions: list[str]
    reach: str


def emit_reach(program: Program, package: str, reach: DerivedReach) -> str:
    """The text of `reach.py`; `package` is the dotted name of the generated package."""
    module = Module(program.source, lender(program, package))
    module.use("katapi.runtime.budget.reach", "Reach")
    module.use(f"{package}.request", "Request")
    functions: list[str] = []
    questions: list[str] = []
    names: set[str] = set()
    for question in reach.questions:
        base, number = f"_asked_{module.site(question.span).line}", 2
        name = base
        while name in names:
            name, number = numbered(base, number), number + 1
        names.add(name)
        functions.append(_function(name, question, program, module, package))
        module.use("katapi.runtime.budget.reach", "Among", "Finds", "Question")
        among, finds = f"Among.{question.among.name}", f"Finds.{question.finds.name}"
        questions.append(call("Question", [among, finds, name]))
    parts = [f"questions={tuple_of(questions)}"] if questions else []
    flags = {
        "neighbours": reach.neighbours,
        "first": reach.first,
        "late_first": reach.late_first,
        "late_last": reach.late_last,
        "elsewhere": reach.elsewhere,
    }
    parts += [f"{name}=True" for name, holds in flags.items() if holds]
    by_field = {
        "runs": reach.runs,
        "everywhere": reach.everywhere,
        "parting": reach.parting,
        "opening": reach.opening if reach.counted else frozenset(),
    }
    for field, roles in by_field.items():
        if roles:
            parts.append(f"{field}={_roles(roles)}")
    if reach.taken:
        parts.append(f"taken={tuple_of(map(_roles, reach.taken))}")
    if reach.counted:
        module.use("katapi.runtime.budget.reach", "Counted")
        parts.append(f"counted={_counted(reach.counted)}")
        if reach.advancing is not None:
            parts.append(f"advancing={_counted(reach.advancing)}")
    lines = Lines()
    lines.statement("REACH: Reach[Request] = ", call("Reach", parts))
    return render(
        "reach.py.j2",
        ReachContext(
            source=program.source.name,
            template=program.template.identity.name,
            version=program.template.identity.version,
            imports=import_groups(module, package),
            functions=functions,
            reach=lines.text(),
        ),
    )


def _counted(messages: Iterable[Counted]) -> str:
    rows = sorted((one.role, one.items or "") for one in messages)
    calls = [call("Counted", [string(role), string(items) if items else "None"]) for role, items in rows]
    return f"frozenset({{{', '.join(calls)}}})" if calls else "frozenset()"


def _roles(roles: Iterable[str]) -> str:
    return f"frozenset({{{', '.join(map(string, sorted(roles)))}}})"


def _function(name: str, question: DerivedQuestion, program: Program, module: Module, package: str) -> str:
    """The function that says of one message whether it is asked for."""

    def emit(needed: frozenset[str], unread: frozenset[int]) -> tuple[str, Expressions]:
        expressions = Expressions(module, package, needed, unread)
        statements = Statements(expressions)
        lines = statements.lines
        lines.add(f'"""{module.cite(question.span)} {question.words}"""')
        for variable in program.template.variables:
            own = expressions.declare(variable)
            if variable.binding is not t.Binding.MESSAGES and expressions.reads(variable):
                lines.add(f"{own} = request.{variable.name}")
        message = expressions.declare(question.variable)
        lines.add(f"{message} = request.messages[at]")
        if expressions.reads_place(question.variable):
            lines.add(f"{message}_at = at")
        test = statements.condition(question.condition)
        lines.statement("return ", test.text if expressions.gives_bool(question.condition) else f"bool({test.text})")
        return f"def {name}(request: Request, at: int) -> bool:\n" + lines.text(), expressions

    return settled(module, emit)
