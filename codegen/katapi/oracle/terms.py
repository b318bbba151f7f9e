"""Terms of formulas and images, evaluated as they are written: numbers are Python's, in the declared order."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, assert_never

import numpy as np

from katapi.language.syntax_expressions import Operator
from katapi.language.syntax_formulas import Choice, Sign
from katapi.model import formulas as m
from katapi.model.formulas import Function, Member, Operation, Quantity
from katapi.oracle.rasters import Array, Raster
from katapi.oracle.reels import Reel
from katapi.oracle.sounds import Sound
from katapi.runtime.errors import MediaError


class Extent(NamedTuple):
    """A size: its height, then its width."""

    height: int
    width: int


@dataclass(frozen=True, slots=True)
class Numbers:
    """What an 8-bit value becomes, in which order of the arithmetic, and with which mean and deviation."""

    order: Operation
    scale: float
    mean: tuple[float, ...] | None = None
    std: tuple[float, ...] | None = None


Value: TypeAlias = "int | float | bool | Extent | Raster | Reel | Sound | Array | Numbers | m.Filter | list[Value]"
Names: TypeAlias = Mapping[Quantity, Value]
Operate: TypeAlias = Callable[[Operation, list[Value]], Value]


class TermOracle:
    """Evaluates terms; `operate` does what is done with pictures and arrays."""

    def __init__(self, formulas: Sequence[m.Formula], operate: Operate) -> None:
        self._formulas = {formula.name: formula for formula in formulas}
        self._operate = operate

    def number(self, term: m.Term, names: Names) -> float:
        """A number."""
        value = self.value(term, names)
        assert isinstance(value, int | float)
        return value

    def whole(self, term: m.Term, names: Names) -> int:
        """A whole number."""
        value = self.value(term, names)
        assert isinstance(value, int)
        return value

    def truth(self, term: m.Term, names: Names) -> bool:
        """Whether a condition holds."""
        value = self.value(term, names)
        assert isinstance(value, bool)
        return value

    def items(self, term: m.Term, names: Names) -> list[Value]:
        """The items of a list."""
        value = self.value(term, names)
        assert isinstance(value, list)
        return value

    def steps(self, steps: Sequence[m.Step], names: dict[Quantity, Value]) -> Value | None:
        """Does the steps of a formula or an image, and gives the value of the first `give` that holds."""
        for step in steps:
            match step:
                case m.LetStep(variable, term):
                    names[variable] = self.value(term, names)
                case m.RefuseStep(message, condition):
                    if self.truth(condition, names):
                        raise MediaError(message, code="M109")
                case m.GiveStep(term, condition):
                    if condition is None or self.truth(condition, names):
                        return self.value(term, names)
        return None

    def value(self, term: m.Term, names: Names) -> Value:
        """What a term comes to."""
        match term:
            case m.Constant(constant):
                return constant
            case m.FilterOf(filter):
                return filter
            case m.VarOf(variable):
                return names[variable]
            case m.MemberOf(base, member):
                return _member(self.value(base, names), member)
            case m.ItemOf(base, index):
                return self.items(base, names)[self.whole(index, names)]
            case m.CallOf(name, arguments):
                formula = self._formulas[name]
                given = [self.value(one, names) for one in arguments]
                found = self.steps(formula.steps, dict(zip(formula.parameters, given, strict=True)))
                assert found is not None, "the last step of a formula gives its value"
                return found
            case m.FunctionOf(function, arguments):
                return _function(function, [self.value(one, names) for one in arguments])
            case m.OperationOf(operation, arguments):
                return self._operate(operation, [self.value(one, names) for one in arguments])
            case m.ListOf(items):
                return [self.value(one, names) for one in items]
            case m.CollectOf(item, loops, condition):
                return [self.value(item, found) for found in self._through(loops, condition, names)]
            case m.PickOf():
                return self._pick(term, names)
            case m.BisectOf():
                return self._bisect(term, names)
            case m.ConditionalOf(test, then, otherwise):
                return self.value(then if self.truth(test, names) else otherwise, names)
            case m.AnyOf(operands):
                return any(self.truth(one, names) for one in operands)
            case m.AllOf(operands):
                return all(self.truth(one, names) for one in operands)
            case m.NotOf(operand):
                return not self.truth(operand, names)
            case m.CompareOf(operator, left, right):
                return _compare(operator, self.value(left, names), self.value(right, names))
            case m.ArithmeticOf(sign, left, right):
                return _arithmetic(sign, self.value(left, names), self.value(right, names))
            case m.NegativeOf(operand):
                return -self.number(operand, names)
            case _:
                assert_never(term)

    def _through(self, loops: Sequence[m.LoopOf], condition: m.Term | None, names: Names) -> list[Names]:
        """The names in force each time that all loops have a value and the condition holds."""
        found: list[Names] = [names]
        for loop in loops:
            found = [{**one, loop.variable: item} for one in found for item in self.items(loop.source, one)]
        return [one for one in found if condition is None or self.truth(condition, one)]

    def _pick(self, term: m.PickOf, names: Names) -> Value:
        everything = [{**names, term.variable: item} for item in self.items(term.source, names)]
        if term.choice in (Choice.ANY, Choice.ALL):
            assert term.condition is not None
            truths = [self.truth(term.condition, one) for one in everything]
            return True in truths if term.choice is Choice.ANY else False not in truths
        rest = [one for one in everything if term.condition is None or self.truth(term.condition, one)]
        if not rest:
            raise MediaError("nothing is left to choose from", code="M109")
        if term.choice is Choice.LAST:
            rest.reverse()
        best = rest[0]
        for one in rest[1:] if term.keys else []:
            keys, best_keys = ([self.number(key, of) for key in term.keys] for of in (one, best))
            if keys < best_keys if term.choice is Choice.LEAST else keys > best_keys:
                best = one
        return best[term.variable]

    def _bisect(self, term: m.BisectOf, names: Names) -> float:
        low, high, width = (self.number(one, names) for one in (term.low, term.high, term.width))
        while not high - low < width:
            middle = (low + high) / 2
            holds = self.truth(term.condition, {**names, term.variable: middle})
            low, high = (middle, high) if holds else (low, middle)
        return low


def _member(value: Value, member: Member) -> Value:
    if isinstance(value, Sound):
        return {Member.SAMPLES: value.samples, Member.RATE: value.rate, Member.CHANNELS: value.channels}[member]
    assert isinstance(value, Extent | Raster | Reel)
    match member:
        case Member.HEIGHT:
            return value.height
        case Member.WIDTH:
            return value.width
        case Member.SIZE:
            return Extent(value.height, value.width)
        case _:
            pass
    assert isinstance(value, Reel)
    match member:
        case Member.FRAMES:
            return len(value.times)
        case Member.FPS:
            return value.fps
        case Member.TIMES:
            return [*value.times]
        case _:
            raise AssertionError(member)


def _function(function: Function, values: list[Value]) -> Value:
    if function is Function.LENGTH:
        (items,) = values
        assert isinstance(items, list)
        return len(items)
    given = values[0] if len(values) == 1 and isinstance(values[0], list) else values
    numbers = [value for value in given if isinstance(value, int | float)]
    assert len(numbers) == len(given)
    match function:
        case Function.ABS:
            return -numbers[0] if numbers[0] < 0 else numbers[0]
        case Function.CEIL:
            return math.ceil(numbers[0])
        case Function.FLOOR:
            return math.floor(numbers[0])
        case Function.TRUNC:
            return math.trunc(numbers[0])
        case Function.LOG:
            return math.log(numbers[0])
        case Function.SQRT:
            return math.sqrt(numbers[0])
        case Function.REAL32:
            return np.float32(numbers[0]).item()
        case Function.ROUND:
            return round(numbers[0]) if len(numbers) == 1 else round(numbers[0], int(numbers[1]))
        case Function.MAX:
            return sorted(numbers)[-1]  # noqa: FURB192  # the run time has max
        case Function.MIN:
            return sorted(numbers)[0]  # noqa: FURB192  # the run time has min
        case Function.SUM:
            total: float = 0
            for number in numbers:
                total += number
            return total
        case Function.SIZE:
            return Extent(int(numbers[0]), int(numbers[1]))
        case Function.RANGE:
            first, behind = (0, numbers[0]) if len(numbers) == 1 else (numbers[0], numbers[1])
            return list(range(int(first), int(behind)))
        case _:
            assert_never(function)


def _compare(operator: Operator, left: Value, right: Value) -> bool:
    match operator:
        case Operator.EQUAL:
            return bool(left == right)
        case Operator.NOT_EQUAL:
            return bool(left != right)
        case _:
            pass
    assert isinstance(left, int | float)
    assert isinstance(right, int | float)
    match operator:
        case Operator.LESS:
            return left < right
        case Operator.GREATER:
            return left > right
        case Operator.LESS_EQUAL:
            return left <= right
        case Operator.GREATER_EQUAL:
            return left >= right
        case _:
            assert_never(operator)


def _arithmetic(sign: Sign, left: Value, right: Value) -> Value:
    if isinstance(left, list) and isinstance(right, list):
        return left + right
    assert isinstance(left, int | float)
    assert isinstance(right, int | float)
    match sign:
        case Sign.PLUS:
            return left + right
        case Sign.MINUS:
            return left - right
        case Sign.TIMES:
            return left * right
        case Sign.OVER:
            return left / right
        case Sign.WHOLE:
            return left // right
        case Sign.REST:
            return left % right
        case _:
            assert_never(sign)
