"""Where the text of two messages meets: whether a control token always stands between them.

Text between two control tokens is tokenized as one run, so a run that goes on from one message into the next may give
other ids than its beginning gave alone.
"""

from __future__ import annotations

from katapi.derive.fold import Facts, Folder
from katapi.derive.residue import Residue, Residues
from katapi.language.syntax import End
from katapi.model import template as t
from katapi.model.program import Program
from katapi.model.types import ControlType


class Seams:
    """Looks at how residues begin and end."""

    def __init__(self, program: Program, facts: Facts) -> None:
        self._definitions = {definition.name: definition for definition in program.template.definitions}
        self._facts = facts
        self._open: set[str] = set()
        self._first: set[t.Variable] = set()

    def begins(self, residue: Residue) -> frozenset[str]:
        """What a residue may print first: `control`, `stripping control`, `text`, or `nothing` at all."""
        return self._ends(residue, first=True)

    def ends(self, residue: Residue) -> frozenset[str]:
        """What a residue may print last, as `begins` says it."""
        return self._ends(residue, first=False)

    def _ends(self, residue: Residue, *, first: bool) -> frozenset[str]:
        found: set[str] = set()
        for statement in residue if first else reversed(residue):
            one = self._of(statement, first=first)
            found |= one - {"nothing"}
            if "nothing" not in one:
                return frozenset(found)
        return frozenset(found | {"nothing"})

    def _of(self, statement: t.Statement, *, first: bool) -> frozenset[str]:
        nothing = frozenset({"nothing"})
        match statement:
            case t.Print(value=t.ControlConst(token=token)):
                strips = token.flags.lstrip if first else token.flags.rstrip
                return frozenset({"stripping control" if strips else "control"})
            case t.Print(value=t.TextConst()):
                return frozenset({"text"})
            case t.Print(value=value):
                return frozenset({"control"}) if isinstance(value.type, ControlType) else frozenset({"text", "nothing"})
            case t.CallDef(name=name):
                return self._call(name, first=first)
            case t.If(test=t.IsEnd(variable=variable, end=End.FIRST), then=then) if first and variable in self._first:
                return self._ends(then.statements, first=first)
            case t.If(then=then, otherwise=otherwise):
                other = nothing if otherwise is None else self._ends(otherwise.statements, first=first)
                return self._ends(then.statements, first=first) | other
            case t.Each(item=item, key=key, body=body):
                self._first |= {item} | ({key} if key is not None else set())
                return self._ends(body.statements, first=first) | nothing
            case t.Joined(body=body):
                return self._ends(body.statements, first=first) | nothing
            case t.Match(arms=arms):
                found = [self._ends(arm.body.statements, first=first) for arm in arms]
                return frozenset().union(*found) if found else nothing
            case _:
                return nothing

    def _call(self, name: str, *, first: bool) -> frozenset[str]:
        if name in self._open:
            return frozenset({"text", "nothing"})
        self._open.add(name)
        residue = Residues(Folder(self._facts)).of(self._definitions[name].body.statements)
        found = self._ends(residue or (), first=first)
        self._open.remove(name)
        return found
