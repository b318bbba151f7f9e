"""What is left of a block under facts: statements that print, their conditions not decided by what is known.

Names that a `let` gives are replaced by their values. A branch that refuses the request is left out, since only
requests that are accepted count; a block that always refuses has no residue.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from katapi.derive.fold import ABSENT, Folder, constant_of
from katapi.model import template as t

Residue: TypeAlias = tuple[t.Statement, ...]


class Residues:
    """Works out residues; what captures hold is kept, since a test of a captured text depends on it."""

    def __init__(
        self, folder: Folder, captures: Mapping[int, Residue] | None = None, *, keep_sampled: bool = False
    ) -> None:
        """`keep_sampled`: what the model itself generates stays marked."""
        self.folder = folder
        self._keep_sampled = keep_sampled
        self.captures: dict[int, Residue] = dict(captures or {})

    def of(self, statements: Sequence[t.Statement]) -> Residue | None:
        """The residue of statements in order, or None where they always refuse the request."""
        out: list[t.Statement] = []
        for statement in statements:
            left = self._statement(statement)
            if left is None:
                return None
            out.extend(left)
        return tuple(out)

    def _statement(self, statement: t.Statement) -> Residue | None:
        fold = self.folder.fold
        match statement:
            case t.Sampled(body=body) if self._keep_sampled:
                inner = self.of(body.statements)
                return None if inner is None else (replace(statement, body=replace(body, statements=inner)),)
            case (
                t.Block(statements=statements)
                | t.Sampled(body=t.Block(statements=statements))
                | t.ImageOf(body=t.Block(statements=statements))
            ):
                return self.of(statements)
            case t.Print(value=value):
                return self._print(statement, fold(value))
            case t.CallDef(arguments=arguments):
                return (replace(statement, arguments=tuple(map(fold, arguments))),)
            case t.Let(variable=variable, value=value):
                self.folder.lets[variable.number] = fold(value)
                return ()
            case t.Capture(variable=variable, body=body):
                captured = self.of(body.statements)
                if captured is None:
                    return None
                self.captures[variable.number] = captured
                return (replace(statement, body=replace(body, statements=captured)),)
            case t.If():
                return self._if(statement)
            case t.Each():
                return self._each(statement)
            case t.Match():
                return self._match(statement)
            case t.Joined(body=body):
                inner = self.of(body.statements)
                if inner is None:
                    return None
                return (replace(statement, body=replace(body, statements=inner)),) if inner else ()
            case t.Take(otherwise=otherwise):
                return (
                    (replace(statement, otherwise=None),) if otherwise is None or rejects(otherwise) else (statement,)
                )
            case t.Begin(value=value):
                return (replace(statement, value=fold(value)),)
            case t.Advance() | t.Walk():
                return (statement,)
            case t.Drop():
                return ()
            case t.Reject():
                return None

    def _print(self, statement: t.Print, value: t.Expr) -> Residue:
        if value == ABSENT or constant_of(value) == "":
            return ()
        if isinstance(value, t.Var) and value.variable.number in self.captures:
            return self.captures[value.variable.number]
        return (replace(statement, value=value),)

    def _if(self, statement: t.If) -> Residue | None:
        truth = self.folder.truth(statement.test)
        if truth is True:
            return self.of(statement.then.statements)
        if truth is False:
            return () if statement.otherwise is None else self.of(statement.otherwise.statements)
        then = self.of(statement.then.statements)
        otherwise = () if statement.otherwise is None else self.of(statement.otherwise.statements)
        if then is None or otherwise is None or then == otherwise:
            return otherwise if then is None else then
        whole = replace(
            statement,
            test=self.folder.fold(statement.test),
            then=replace(statement.then, statements=then),
            otherwise=t.Block(otherwise, span=statement.span) if otherwise else None,
        )
        return (whole,)

    def _each(self, statement: t.Each) -> Residue | None:
        source = self.folder.fold(statement.source)
        if isinstance(source, t.ListConst) and not source.items:
            return ()
        condition = None if statement.condition is None else self.folder.fold(statement.condition)
        if isinstance(condition, t.BoolConst) and not condition.value:
            return ()
        body = self.of(statement.body.statements)
        if body is None or not (body or statement.join):
            return ()  # where it refuses an item, there is none in a request that counts
        inner = replace(statement.body, statements=body)
        return (replace(statement, source=source, condition=condition, body=inner),)

    def _match(self, statement: t.Match) -> Residue | None:
        subject = self.folder.fold(statement.subject)
        known = constant_of(subject)
        arms: list[t.MatchArm] = []
        for arm in statement.arms:
            condition = None if arm.condition is None else self.folder.fold(arm.condition)
            if isinstance(condition, t.BoolConst) and not condition.value:
                continue
            if isinstance(known, str) and not arm.other and arm.texts and known not in arm.texts:
                continue
            if isinstance(condition, t.BoolConst):
                condition = None
            if isinstance(known, str) and (arm.other or known in arm.texts) and condition is None and not arms:
                return self.of(arm.body.statements)
            body = self.of(arm.body.statements)
            if body is not None:
                arms.append(replace(arm, condition=condition, body=replace(arm.body, statements=body)))
        if not arms:
            return None if all(rejects(arm.body) for arm in statement.arms) else ()
        if all(not arm.body.statements for arm in arms):
            return ()
        return (replace(statement, subject=subject, arms=tuple(arms)),)


def rejects(block: t.Block) -> bool:
    """Whether a block refuses the request at its beginning."""
    return any(isinstance(statement, t.Reject) for statement in block.statements)
