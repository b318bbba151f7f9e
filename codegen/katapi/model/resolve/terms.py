"""Terms of formulas and images → model: names, sorts and calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import assert_never

from katapi.language import syntax_formulas as f
from katapi.language.source import Span
from katapi.language.syntax_expressions import Name, Operator
from katapi.model import formulas as m
from katapi.model.formulas import Basic, Binding, ListSort, Quantity, Sort
from katapi.model.resolve.findings import Findings, Unresolved, nearest
from katapi.model.resolve.term_functions import FUNCTIONS, OF_NUMBERS, OPERATIONS, FunctionCalls

_MEMBERS = {one.value: one for one in m.Member}
_FILTERS = {one.value: one for one in m.Filter}
_SIDES = (m.Member.HEIGHT, m.Member.WIDTH)
_HAS = {
    Basic.SIZE: _SIDES,
    Basic.PICTURE: (*_SIDES, m.Member.SIZE),
    Basic.FILM: (*_SIDES, m.Member.SIZE, m.Member.FRAMES, m.Member.FPS, m.Member.TIMES),
    Basic.RECORDING: (m.Member.SAMPLES, m.Member.RATE, m.Member.CHANNELS),
}
_MEMBER_SORTS: Mapping[m.Member, Sort] = {
    m.Member.SIZE: Basic.SIZE,
    m.Member.FPS: Basic.REAL,
    m.Member.TIMES: ListSort(Basic.REAL),
}
_EQUALITIES = (Operator.EQUAL, Operator.NOT_EQUAL)
#: Names with a meaning of their own, which nothing else can have.
OWN_NAMES = frozenset({*FUNCTIONS, *OPERATIONS, *_FILTERS, "source"})


class Signature:
    """What a formula takes and gives, as far as that is known: None where its declaration has a mistake."""

    def __init__(self, name: str, parameters: Sequence[Sort | None], result: Sort | None) -> None:
        self.name = name
        self.parameters = tuple(parameters)
        self.result = result


class TermScope:
    """The names in force at a place, and which of all names have been used."""

    def __init__(self, names: Mapping[str, Quantity | None], used: set[Quantity] | None = None) -> None:
        self.names = dict(names)
        self.used: set[Quantity] = set() if used is None else used

    def inner(self) -> TermScope:
        """A scope for names that end with a term or a block."""
        return TermScope(self.names, self.used)


class Terms:
    """Resolves terms; `in_image` says whether they may have pictures."""

    def __init__(self, findings: Findings, formulas: Mapping[str, Signature], *, in_image: bool) -> None:
        self._findings = findings
        self._formulas = formulas
        self._functions = FunctionCalls(findings)
        self._in_image = in_image
        self._within_numbers = False

    # ---- names

    def bind(self, name: Name, sort: Sort | None, binding: Binding, scope: TermScope) -> Quantity | None:
        """Gives a name a value of a sort from here on; None where that is not known."""
        known = scope.names.get(name.text)
        own = name.text in (OWN_NAMES if self._in_image else FUNCTIONS)
        if own or name.text in scope.names or name.text in self._formulas:
            first = None if known is None or own else known.span
            whose = "is one of the language" if own else "is that of a formula" if known is None else "is taken already"
            self._findings.add("K107", name.span, f"the name `{name.text}` {whose}", first=first)
        variable = None if sort is None else Quantity(name.text, sort, binding, name.span)
        scope.names[name.text] = variable
        return variable

    # ---- terms with what is wanted of them

    def wanted(self, node: f.Term, scope: TermScope, wanted: Sort, what: str) -> m.Term:
        """A term of a sort; `what` says where it stands."""
        term = self.term(node, scope)
        if not m.fits(term.sort, wanted):
            help = ""
            if wanted is Basic.INT and term.sort is Basic.REAL:
                help = "say how it is rounded: `round`, `floor`, `ceil` or `trunc`"
            message = f"{what} is `{m.named(wanted)}`, and this is `{m.named(term.sort)}`"
            raise self._findings.fail("K201", node.span, message, help=help)
        return term

    def numbers(self, node: f.Term, scope: TermScope) -> m.Term:
        """What pixels become, as it stands behind `numbers =`."""
        self._within_numbers = True
        try:
            return self.wanted(node, scope, Basic.NUMBERS, "what stands behind `numbers =`")
        finally:
            self._within_numbers = False

    def condition(self, node: f.Term, scope: TermScope) -> m.Term:
        """A term that is true or false."""
        term = self.term(node, scope)
        if term.sort is not Basic.BOOL:
            message = f"a condition is true or false, and this is `{m.named(term.sort)}`"
            raise self._findings.fail("K205", node.span, message, help="compare it: `a > 0`")
        return term

    def term(self, node: f.Term, scope: TermScope) -> m.Term:
        """A term. Raises `Unresolved` behind a finding."""
        match node:
            case f.Number(value):
                return m.Constant(value, sort=Basic.INT if isinstance(value, int) else Basic.REAL, span=node.span)
            case f.Truth(value):
                return m.Constant(value, sort=Basic.BOOL, span=node.span)
            case f.Ref(name):
                return self._ref(name, scope)
            case f.Member():
                return self._member(node, scope)
            case f.Item():
                return self._item(node, scope)
            case f.Apply():
                return self._apply(node, scope)
            case f.Listed(items):
                return self._listed(node, [self.term(one, scope) for one in items])
            case f.Collected():
                return self._collected(node, scope)
            case f.Pick():
                return self._pick(node, scope)
            case f.Bisect():
                return self._bisect(node, scope)
            case f.When():
                return self._when(node, scope)
            case f.AnyOf(operands):
                tests = tuple(self.condition(one, scope) for one in operands)
                return m.AnyOf(tests, sort=Basic.BOOL, span=node.span)
            case f.AllOf(operands):
                tests = tuple(self.condition(one, scope) for one in operands)
                return m.AllOf(tests, sort=Basic.BOOL, span=node.span)
            case f.NotOf(operand):
                return m.NotOf(self.condition(operand, scope), sort=Basic.BOOL, span=node.span)
            case f.Comparison():
                return self._comparison(node, scope)
            case f.Binary():
                return self._binary(node, scope)
            case f.Negative(operand):
                term = self._number(operand, scope, "`-`")
                return m.NegativeOf(term, sort=term.sort, span=node.span)
            case _:
                assert_never(node)

    def _ref(self, name: Name, scope: TermScope) -> m.Term:
        if name.text in scope.names:
            variable = scope.names[name.text]
            if variable is None:
                raise Unresolved
            scope.used.add(variable)
            return m.VarOf(variable, sort=variable.sort, span=name.span)
        if name.text in _FILTERS and self._in_image:
            return m.FilterOf(_FILTERS[name.text], sort=Basic.FILTER, span=name.span)
        if name.text in self._findings.untyped:
            raise Unresolved
        known = [*scope.names, *(_FILTERS if self._in_image else ())]
        if name.text in FUNCTIONS or name.text in OPERATIONS or name.text in self._formulas:
            help = f"it is called with its values: `{name.text}(…)`"
        else:
            help = nearest(name.text, known)
        raise self._findings.fail("K101", name.span, f"there is no value `{name.text}` here", help=help)

    def _member(self, node: f.Member, scope: TermScope) -> m.Term:
        base = self.term(node.base, scope)
        member = _MEMBERS.get(node.name.text)
        known = _HAS.get(base.sort, ()) if isinstance(base.sort, Basic) else ()
        if member not in known:
            message = f"`{m.named(base.sort)}` has no `{node.name.text}`"
            help = nearest(node.name.text, [one.value for one in known])
            raise self._findings.fail("K104", node.name.span, message, help=help)
        return m.MemberOf(base, member, sort=_MEMBER_SORTS.get(member, Basic.INT), span=node.span)

    def _item(self, node: f.Item, scope: TermScope) -> m.Term:
        base = self._list(node.base, scope, "what an item is taken of")
        index = self.wanted(node.index, scope, Basic.INT, "an index")
        return m.ItemOf(base, index, sort=_item_sort(base), span=node.span)

    def _apply(self, node: f.Apply, scope: TermScope) -> m.Term:
        name = node.name.text
        arguments = [self.term(one, scope) for one in node.arguments]
        if name in FUNCTIONS:
            return self._functions.function(node, FUNCTIONS[name], arguments)
        operation = OPERATIONS.get(name)
        if operation is not None and self._in_image:
            if operation in OF_NUMBERS and not self._within_numbers:
                message = f"`{name}` stands only behind `numbers =`"
                help = "it says what becomes of the pixels in every array of the image"
                raise self._findings.fail("K804", node.name.span, message, help=help)
            return self._functions.operation(node, operation, arguments)
        formula = self._formulas.get(name)
        if formula is None:
            if name in self._findings.untyped:
                raise Unresolved
            message, help = f"there is no formula `{name}`", ""
            if operation is not None:
                message, help = f"`{name}` works on pictures, and a formula has none", "write it in the image"
            else:
                own = OPERATIONS if self._in_image else {}
                help = nearest(name, [*self._formulas, *FUNCTIONS, *own])
            raise self._findings.fail("K115", node.name.span, message, help=help)
        return self._call(node, formula, arguments)

    def _call(self, node: f.Apply, formula: Signature, arguments: Sequence[m.Term]) -> m.Term:
        if len(arguments) != len(formula.parameters):
            count = len(formula.parameters)
            values = "value" if count == 1 else "values"
            message = f"`{formula.name}` takes {count} {values}, and gets {len(arguments)}"
            raise self._findings.fail("K114", node.span, message)
        for one, wanted in zip(arguments, formula.parameters, strict=True):
            if wanted is not None and not m.fits(one.sort, wanted):
                message = f"`{formula.name}` needs `{m.named(wanted)}` here, and this is `{m.named(one.sort)}`"
                real = wanted is Basic.INT and one.sort is Basic.REAL
                help = "say how it is rounded: `round`, `floor`, `ceil` or `trunc`" if real else ""
                raise self._findings.fail("K201", one.span, message, help=help)
        if formula.result is None:
            raise Unresolved
        return m.CallOf(formula.name, tuple(arguments), sort=formula.result, span=node.span)

    # ---- lists

    def _list(self, node: f.Term, scope: TermScope, what: str) -> m.Term:
        term = self.term(node, scope)
        if not isinstance(term.sort, ListSort):
            message = f"{what} is a list, and this is `{m.named(term.sort)}`"
            help = "count up to it: `range(n)`" if term.sort is Basic.INT else ""
            raise self._findings.fail("K201", node.span, message, help=help)
        if term.sort.item is None:
            raise self._findings.fail("K201", node.span, f"{what} is empty", help="leave it out")
        return term

    def _listed(self, node: f.Listed, items: list[m.Term]) -> m.Term:
        sort: Sort | None = items[0].sort if items else None
        for one in items[1:]:
            both = None if sort is None else m.common(sort, one.sort)
            if both is None:
                first = "" if sort is None else m.named(sort)
                message = f"the items of a list are of one sort: `{first}`, and this is `{m.named(one.sort)}`"
                raise self._findings.fail("K201", one.span, message)
            sort = both
        return m.ListOf(tuple(items), sort=ListSort(sort), span=node.span)

    def _loop(self, name: Name, source: f.Term, scope: TermScope, what: str) -> tuple[Quantity, m.Term]:
        term = self._list(source, scope, what)
        variable = self.bind(name, _item_sort(term), Binding.LOOP, scope)
        assert variable is not None, "its sort is known"
        return variable, term

    def _collected(self, node: f.Collected, scope: TermScope) -> m.Term:
        inner = scope.inner()
        what = "what is gone through"
        loops = [m.LoopOf(*self._loop(loop.name, loop.source, inner, what)) for loop in node.loops]
        condition = None if node.condition is None else self.condition(node.condition, inner)
        item = self.term(node.item, inner)
        return m.CollectOf(item, tuple(loops), condition, sort=ListSort(item.sort), span=node.span)

    def _pick(self, node: f.Pick, scope: TermScope) -> m.Term:
        inner = scope.inner()
        variable, source = self._loop(node.name, node.source, inner, "what is chosen from")
        word, key = node.choice.value, node.key
        compares = node.choice in (f.Choice.LEAST, f.Choice.MOST)
        asks = node.choice in (f.Choice.ANY, f.Choice.ALL)
        if compares and key is None:
            help = f"write `{word} {variable.name} in … by …`"
            raise self._findings.fail("K805", node.span, f"`{word}` does not say by what", help=help)
        if not compares and key is not None:
            raise self._findings.fail("K805", key.span, f"`{word}` compares nothing", help="leave out the `by`")
        if asks and node.condition is None:
            help = f"write `{word} {variable.name} in … where …`"
            raise self._findings.fail("K805", node.span, f"`{word}` does not say what holds", help=help)
        condition = None if node.condition is None else self.condition(node.condition, inner)
        keys = key.items if isinstance(key, f.Listed) else () if key is None else (key,)
        resolved = tuple(self._number(one, inner, "what is compared") for one in keys)
        sort = Basic.BOOL if asks else variable.sort
        return m.PickOf(node.choice, variable, source, condition, resolved, sort=sort, span=node.span)

    def _bisect(self, node: f.Bisect, scope: TermScope) -> m.Term:
        low, high, width = (
            self.wanted(one, scope, Basic.REAL, "an end of a range, or its width")
            for one in (node.low, node.high, node.width)
        )
        inner = scope.inner()
        variable = self.bind(node.name, Basic.REAL, Binding.LOOP, inner)
        assert variable is not None, "its sort is known"
        condition = self.condition(node.condition, inner)
        return m.BisectOf(variable, low, high, width, condition, sort=Basic.REAL, span=node.span)

    # ---- choices and arithmetic

    def _when(self, node: f.When, scope: TermScope) -> m.Term:
        test = self.condition(node.test, scope)
        then, otherwise = self.term(node.then, scope), self.term(node.otherwise, scope)
        sort = m.common(then.sort, otherwise.sort)
        if sort is None:
            message = f"one way gives `{m.named(then.sort)}`, and this one `{m.named(otherwise.sort)}`"
            raise self._findings.fail("K201", node.otherwise.span, message)
        return m.ConditionalOf(test, then, otherwise, sort=sort, span=node.span)

    def _comparison(self, node: f.Comparison, scope: TermScope) -> m.Term:
        left, right = self.term(node.left, scope), self.term(node.right, scope)
        numbers = left.sort in m.NUMERIC and right.sort in m.NUMERIC
        alike = left.sort == right.sort and left.sort in (Basic.SIZE, Basic.BOOL) and node.operator in _EQUALITIES
        if not numbers and not alike:
            message = f"`{m.named(left.sort)}` and `{m.named(right.sort)}` are not compared by `{node.operator.value}`"
            raise self._findings.fail("K201", node.span, message)
        return m.CompareOf(node.operator, left, right, sort=Basic.BOOL, span=node.span)

    def _binary(self, node: f.Binary, scope: TermScope) -> m.Term:
        left, right = self.term(node.left, scope), self.term(node.right, scope)
        if node.sign is f.Sign.PLUS and isinstance(left.sort, ListSort) and isinstance(right.sort, ListSort):
            sort = m.common(left.sort, right.sort)
            if sort is None:
                message = f"`{m.named(left.sort)}` and `{m.named(right.sort)}` are no one list"
                raise self._findings.fail("K201", node.span, message)
            return m.ArithmeticOf(node.sign, left, right, sort=sort, span=node.span)
        for term in (left, right):
            if term.sort not in m.NUMERIC:
                message = f"`{node.sign.value}` needs numbers, and this is `{m.named(term.sort)}`"
                raise self._findings.fail("K201", term.span, message)
        whole = left.sort is Basic.INT and right.sort is Basic.INT
        if node.sign in (f.Sign.WHOLE, f.Sign.REST) and not whole:
            message = f"`{node.sign.value}` divides whole numbers"
            help = "write `floor(a / b)`" if node.sign is f.Sign.WHOLE else ""
            raise self._findings.fail("K201", node.span, message, help=help)
        if node.sign in (f.Sign.OVER, f.Sign.WHOLE, f.Sign.REST):
            self._not_zero(right, node.right.span)
        sort = Basic.INT if whole and node.sign is not f.Sign.OVER else Basic.REAL
        return m.ArithmeticOf(node.sign, left, right, sort=sort, span=node.span)

    def _not_zero(self, divisor: m.Term, span: Span) -> None:
        if isinstance(divisor, m.Constant) and divisor.value == 0:
            raise self._findings.fail("K803", span, "this divides by 0", help="divide by something else")

    def _number(self, node: f.Term, scope: TermScope, what: str) -> m.Term:
        term = self.term(node, scope)
        if term.sort not in m.NUMERIC:
            message = f"{what} needs a number, and this is `{m.named(term.sort)}`"
            raise self._findings.fail("K201", node.span, message)
        return term


def _item_sort(term: m.Term) -> Sort:
    assert isinstance(term.sort, ListSort), "the caller insists on a list"
    assert term.sort.item is not None, "the caller insists on items"
    return term.sort.item
