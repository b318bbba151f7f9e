"""Names for values: `let`, what is lifted out of an expression, and queries as loops."""

from __future__ import annotations

from katapi.emit.code import ATOM, COMPARE, Code, ternary
from katapi.emit.expressions import Expressions
from katapi.emit.lifts import Lift, Lifting, finds, is_testable, there
from katapi.emit.python import Lines, width
from katapi.language.source import Span
from katapi.language.syntax import Quantifier
from katapi.model import template as t
from katapi.model.types import BoolType, MessageType, OptionalType, TextType, present


class Lets:
    """Emits the names of one function."""

    def __init__(self, expressions: Expressions) -> None:
        self._e = expressions
        self._lifting = Lifting()
        self.lines = Lines(1)

    def _line(self, span: Span) -> int:
        return self._e.module.site(span).line

    def condition(self, expr: t.Expr) -> Code:
        """A condition; what it asks about that needs a name gets one before."""
        test, lifts = self._lifting.out_of(expr)
        self._lift(lifts)
        return self._e.condition(test)

    def _lift(self, lifts: list[Lift]) -> None:
        for lift in lifts:
            guards = lift.guards
            both = guards[0] if len(guards) == 1 else t.And(guards, type=BoolType(), span=lift.value.span)
            guard = self._e.condition(both).text if guards else ""
            if isinstance(lift.value, t.Query):
                self._let_query(lift.variable, lift.value, guard)
            else:
                self._bind(lift.variable, lift.value, guard)

    def _let(self, let: t.Let) -> None:
        if let.variable.number in self._e.unread:
            return
        value, lifts = self._lifting.out_of_let(let.value)
        self._lift(lifts)
        if isinstance(value, t.Query):
            self._let_query(let.variable, value)
        else:
            self._bind(let.variable, value)

    def _bind(self, variable: t.Variable, value: t.Expr, guard: str = "") -> None:
        """Gives a value its name; where the guard does not hold, the name stands for nothing."""
        of = present(variable.type)
        if isinstance(of, MessageType):
            self._bind_message(variable, value, guard)
            return
        form = self._e.printed if isinstance(of, TextType) else self._e.value
        code = form(value)
        name = self._e.declare_let(variable, value)
        if isinstance(of, TextType):
            text = self._e.module.printed("PrintedText")
            annotation = f": {text} | None" if isinstance(variable.type, OptionalType) else f": {text}"
        elif guard or self._needs_annotation(value):
            annotation = f": {self._e.python_type(variable.type)}"
        else:
            annotation = ""
        if guard:
            self.lines.add(f"{name}{annotation} = None")
            annotation = ""
            if self._e.reads_path(variable):
                self.lines.add(f"{name}_path: {self._e.module.segment('Path')} = ()")
            self._enter(guard)
        self._assign(name, annotation, value, code)
        if self._e.reads_path(variable):
            self.lines.statement(f"{name}_path = ", self._e.path(value))
        self._leave(guard)

    def _enter(self, guard: str) -> None:
        if guard:
            self.lines.statement("if ", guard, ":")
            self.lines.indent()

    def _leave(self, guard: str) -> None:
        if guard:
            self.lines.dedent()

    @staticmethod
    def _needs_annotation(value: t.Expr) -> bool:
        return isinstance(value, (t.ListConst, t.ObjectExpr, t.Conditional, t.Coalesce, t.FieldOf, t.JsonFieldOf))

    def _assign(self, name: str, annotation: str, value: t.Expr, code: Code, word: str = "") -> None:
        """One line where it fits; else a choice becomes an `if`. `word` is `else` inside of another choice."""
        fits = len(name) + len(annotation) + len(code.text) + 3 + (4 if word else 0) <= self.lines.room()
        branches = None if fits else _branches(value)
        if branches is None:
            if word:
                self.lines.add("else:")
                self.lines.indent()
            self.lines.statement(f"{name}{annotation} = ", code.text)
            if word:
                self.lines.dedent()
            return
        form = self._e.printed if isinstance(present(value.type), TextType) else self._e.value
        test, then, otherwise = branches
        self.lines.statement("elif " if word else "if ", self._e.condition(test).text, ":")
        self.lines.indent()
        self._assign(name, annotation, then, form(then))
        self.lines.dedent()
        self._assign(name, "", otherwise, form(otherwise), "else")

    def _bind_message(self, variable: t.Variable, value: t.Expr, guard: str) -> None:
        code = self._e.value(value)
        name = self._e.declare(variable)
        if guard:
            self.lines.add(f"{name}: {self._e.python_type(variable.type)} = None")
            if self._e.reads_place(variable):
                self.lines.add(f"{name}_at = -1")
            self._enter(guard)
        self.lines.statement(f"{name} = ", code.text)
        if self._e.reads_place(variable):
            place = self._e.position(value)
            if isinstance(variable.type, OptionalType):
                place = ternary(Code(f"{name} is not None", COMPARE), place, Code("-1"))
            self.lines.statement(f"{name}_at = ", place.text)
        self._leave(guard)

    def _let_query(self, variable: t.Variable, query: t.Query, guard: str = "") -> None:
        """A query as a loop that stops at its answer."""
        e = self._e
        if query.variable.number in e.answers:
            self._let_answer(variable, query)
            return
        messages = isinstance(query.variable.type, MessageType)
        source = e.value(query.source)
        item = e.declare_item(query.variable, query.source)
        condition = query.condition
        if query.quantifier is Quantifier.ALL:
            condition = t.Not(condition, type=BoolType(), span=query.span)
        name = e.declare_let(variable, query)
        words = f"{query.quantifier.value} {query.variable.name} … where …"
        self.lines.add(f"# {self._e.module.cite(query.span)} {words}")
        found = self._start_query(query, variable, name, item)
        self._enter(guard)
        target = item
        if messages:
            target = f"{item}_at, {item}" if e.reads_place(query.variable) else f"_, {item}"
        elif e.reads_path(query.variable) or (finds(query) and (e.is_printed(variable) or e.reads_path(variable))):
            target = f"{item}_at, {item}"
            source = Code(f"enumerate({source.text})", ATOM)
            if query.quantifier is Quantifier.LAST:
                source = Code(f"list({source.text})", ATOM)
        order = f"reversed({source.text})" if query.quantifier is Quantifier.LAST else source.text
        self.lines.loop(target, order)
        self.lines.indent()
        if e.reads_path(query.variable):
            self.lines.statement(f"{item}_path = ", e.item_path(query.source, f"{item}_at"))
        self.lines.statement("if ", self.condition(condition).text, ":")
        self.lines.indent()
        for assignment in found:
            targets, sign, value = assignment.partition("= ")
            if ", " not in targets or width(assignment) <= self.lines.room():
                self.lines.statement(targets + sign, value)
                continue
            for target, one in zip(targets.strip().split(", "), value.split(", "), strict=True):
                self.lines.statement(f"{target} = ", one)
        if query.quantifier is not Quantifier.COUNT:
            self.lines.add("break")
        self.lines.dedent()
        self.lines.dedent()
        self._leave(guard)

    def _let_answer(self, variable: t.Variable, query: t.Query) -> None:
        """The answer that a pass before the walk has found."""
        answer = self._e.answer(query)
        name = self._e.declare_let(variable, query)
        if query.quantifier not in (Quantifier.FIRST, Quantifier.LAST):
            self.lines.add(f"{name} = {answer}")
            return
        place = f"{name}_at" if self._e.reads_place(variable) else "_"
        self.lines.add(f"{place}, {name} = {answer} or (-1, None)")

    def _start_query(self, query: t.Query, variable: t.Variable, name: str, item: str) -> list[str]:
        """Emits the answer before the search; gives back what sets it when an item fits."""
        e = self._e
        match query.quantifier:
            case Quantifier.ANY:
                self.lines.add(f"{name} = False")
                return [f"{name} = True"]
            case Quantifier.ALL:
                self.lines.add(f"{name} = True")
                return [f"{name} = False"]
            case Quantifier.COUNT:
                self.lines.add(f"{name} = 0")
                return [f"{name} += 1"]
            case Quantifier.FIRST | Quantifier.LAST:
                pass
        if isinstance(query.variable.type, MessageType):
            self.lines.add(f"{name}: {e.python_type(variable.type)} = None")
            if not e.reads_place(variable):
                return [f"{name} = {item}"]
            self.lines.add(f"{name}_at = -1")
            return [f"{name}, {name}_at = {item}, {e.place(query.variable)}"]
        if isinstance(present(variable.type), TextType):
            path = e.item_path(query.source, f"{item}_at")
            self.lines.add(f"{name}: {e.module.printed('PrintedText')} | None = None")
            found = f"{name} = {e.module.segment('Content')}({item})"
            if not e.reads_path(variable):
                return [f"{found}, {path}, 0"]
            self.lines.statement(f"{name}_path: {e.module.segment('Path')} = ", e.item_path(query.source, "-1"))
            return [f"{name}_path = {path}", f"{found}, {name}_path, 0"]
        self.lines.add(f"{name}: {e.python_type(variable.type)} = None")
        if not e.reads_path(variable):
            return [f"{name} = {item}"]
        self.lines.statement(f"{name}_path: {e.module.segment('Path')} = ", e.item_path(query.source, "-1"))
        return [f"{name} = {item}", f"{name}_path = {e.item_path(query.source, f'{item}_at')}"]


def _branches(value: t.Expr) -> tuple[t.Expr, t.Expr, t.Expr] | None:
    """A choice between two values as test, then, otherwise."""
    match value:
        case t.Conditional(test=test, then=then, otherwise=otherwise):
            return test, then, otherwise
        case t.Coalesce(options=(first, second)) if is_testable(first):
            return t.Exists(first, type=BoolType(), span=first.span), there(first), second
        case _:
            return None
