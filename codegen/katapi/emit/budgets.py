"""Emits the budgets of a file that has nothing else for a package: `__init__.py`, with a constant for each."""

from __future__ import annotations

import re
from dataclasses import dataclass

from katapi.emit.environment import render
from katapi.emit.python import Lines, imports, string
from katapi.emit.values import Values
from katapi.model.declarations import Budget
from katapi.model.program import Library, budgets_of


@dataclass(frozen=True, slots=True)
class BudgetRow:
    """A budget as a constant: its lines, its name and version, and its line in the spec."""

    lines: str
    name: str
    version: str
    line: int


@dataclass(frozen=True, slots=True)
class BudgetsContext:
    """What `budgets.py.j2` shows."""

    name: str
    source: str
    imports: list[str]
    budgets: list[BudgetRow]


def emit_budgets(library: Library) -> str:
    """The text of the module of a file of budgets."""
    values = Values({})
    rows: list[BudgetRow] = []
    for budget, constant in zip(library.budgets, budget_constants(library).values(), strict=True):
        lines = Lines()
        lines.statement(f"{constant} = ", budget_expression(budget, values))
        line = library.source.line_column(budget.span.start)[0]
        rows.append(BudgetRow(lines.text(), budget.identity.name, budget.identity.version, line))
    return render(
        "budgets.py.j2",
        BudgetsContext(name=library.name, source=library.source.name, imports=imports(values.modules), budgets=rows),
    )


def budget_expression(budget: Budget, values: Values) -> str:
    """The expression that makes a budget."""
    policy = budget.policy
    written = {"window": str(policy.window), "reserve": str(policy.reserve)}
    return values.expression(policy, written)


def budget_constants(library: Library) -> dict[str, str]:
    """The constants of the budgets of a file, by their names: `agent32k` → AGENT32K."""
    names: dict[str, str] = {}
    for budget in library.budgets:
        constant = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", budget.identity.name).upper()
        while constant in names.values():
            constant += "_"
        names[budget.identity.name] = constant
    return names


def model_budgets(program: Library, values: Values, models: str) -> tuple[str, dict[str, set[str]]]:
    """The budgets of a model as a dictionary: its own, and the constants of others; and where these come from.

    `models` is the dotted name of the package of all models.
    """
    modules: dict[str, set[str]] = {}
    entries: list[str] = []
    taken: set[str] = set()
    for name, (library, budget) in budgets_of(program).items():
        if library is program:
            entries.append(f"{string(name)}: {budget_expression(budget, values)}")
            continue
        constant = budget_constants(library)[name]
        module = f"{models}.{library.package}"
        imported = constant
        if constant in taken:
            imported = f"{library.package.upper()}_{constant}"
        taken.add(imported)
        modules.setdefault(module, set()).add(constant if imported == constant else f"{constant} as {imported}")
        entries.append(f"{string(name)}: {imported}")
    return f"{{{', '.join(entries)}}}", modules
