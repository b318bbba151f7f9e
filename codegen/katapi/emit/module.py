"""What the functions of a generated module share: imports, constants, serializations."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from katapi.language.source import Source, Span
from katapi.model.declarations import Serialization
from katapi.model.types import Type


class Constant(NamedTuple):
    """A segment that never changes: a control token or a literal at one place of the template."""

    name: str
    text: str | None
    member: str | None
    line: int
    column: int


class RoleConstant(NamedTuple):
    """Literal segments for the roles that a message can have at one place of the template."""

    name: str
    roles: tuple[str, ...]
    line: int
    column: int


@dataclass
class Module:
    """What the expressions of a module need around them: imports, constants, and which companions are read."""

    source: Source
    imports: dict[str, set[str]] = field(default_factory=dict)
    constants: dict[tuple[int, int, str], Constant] = field(default_factory=dict)
    serializations: dict[str, Serialization] = field(default_factory=dict)
    roles: list[RoleConstant] = field(default_factory=list)
    signatures: dict[str, tuple[Type, ...]] = field(default_factory=dict)

    def use(self, module: str, *names: str) -> None:
        """Notes that names are imported."""
        self.imports.setdefault(module, set()).update(names)

    def segment(self, name: str) -> str:
        """A name out of `katapi.runtime.segments`."""
        self.use("katapi.runtime.segments", name)
        return name

    def helper(self, name: str) -> str:
        """A name out of `katapi.runtime.rendering`."""
        self.use("katapi.runtime.rendering", name)
        return name

    def role_constant(self, roles: tuple[str, ...], span: Span) -> str:
        """The name of a constant that holds a literal segment for each role, printed at one place."""
        line, column = self.source.line_column(span.start)
        names = {(r.line, r.column): r.name for r in self.roles}
        if (line, column) not in names:
            taken = set(names.values())
            name = f"ROLE_{line}" if f"ROLE_{line}" not in taken else f"ROLE_{line}_{column}"
            self.roles.append(RoleConstant(name, roles, line, column))
            return name
        return names[line, column]

    def constant(self, stem: str, text: str | None, member: str | None, span: Span) -> str:
        """The name of a constant segment; constants of one place and text are one."""
        line, column = self.source.line_column(span.start)
        key = (line, column, text if text is not None else member or "")
        if key not in self.constants:
            taken = {c.name for c in self.constants.values()}
            name = f"{stem}_{line}"
            if name in taken:
                name = f"{stem}_{line}_{column}"
            self.constants[key] = Constant(name, text, member, line, column)
        return self.constants[key].name
