"""Terms of formulas and images → Python expressions."""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Callable, Mapping, Sequence
from typing import assert_never

from katapi.emit.code import AND, ATOM, COMPARE, FACTOR, NOT, OR, PRODUCT, SUM, TERNARY, Code
from katapi.emit.python import tuple_of
from katapi.language.syntax_formulas import Choice, Sign
from katapi.model import formulas as m
from katapi.model.formulas import Basic, Function, ListSort, Operation, Sort
from katapi.model.images import ArrayType

_GEOMETRY = "katapi.runtime.images.geometry"
_PIXELS = "katapi.runtime.images.pixels"
_ARRAYS = "katapi.runtime.images.arrays"
_PICTURE = "katapi.runtime.images.picture"
_SELECTION = "katapi.runtime.images.selection"
_LIBRARIES = "katapi.runtime.images.libraries"
_NUMBERS = "katapi.runtime.images.numbers"
_FILM = "katapi.runtime.images.film"
_RECORDING = "katapi.runtime.audio.recording"

_SAME = {Function.ABS: "abs", Function.MAX: "max", Function.MIN: "min", Function.ROUND: "round", Function.SUM: "sum"}
_FUNCTIONS = _SAME | {Function.LENGTH: "len", Function.RANGE: "range", Function.TRUNC: "int"}
_OF_MATH = {Function.CEIL: "ceil", Function.FLOOR: "floor", Function.LOG: "log", Function.SQRT: "sqrt"}
_MODULES = {
    Operation.CROP: _GEOMETRY,
    Operation.EXTENDED: _ARRAYS,
    Operation.FILLED: _ARRAYS,
    Operation.FLAT_PATCHES: _PIXELS,
    Operation.FRAMES_AT: _FILM,
    Operation.MERGED_PATCHES: _PIXELS,
    Operation.PAD: _GEOMETRY,
    Operation.PATCHES: _PIXELS,
    Operation.PLANES: _PIXELS,
    Operation.RESIZE: _GEOMETRY,
    Operation.STRIPS: _PIXELS,
    Operation.TEMPORAL_PATCHES: _PIXELS,
    Operation.TILES: _GEOMETRY,
    Operation.WAVEFORM: _RECORDING,
    Operation.CHAINED: _ARRAYS,
    Operation.PLANES_BY_OPENCV: _LIBRARIES,
    Operation.TILE_MASKS: _LIBRARIES,
    Operation.VIEW_BY_TORCH: _LIBRARIES,
    Operation.WITHIN: _ARRAYS,
}
_CLASSES = {
    Operation.BFLOAT16: (_NUMBERS, "BfloatNormalization"),
    Operation.FOLDED: (_NUMBERS, "FoldedNormalization"),
    Operation.NORMALIZATION: (_PIXELS, "Normalization"),
    Operation.REAL: (_NUMBERS, "RealNormalization"),
}
_OF_NUMBERS = (Operation.PLANES_BY_OPENCV, Operation.VIEW_BY_TORCH)
_LISTS = {ArrayType.FLOAT32: "reals", ArrayType.INT64: "integers", ArrayType.INT32: "short_integers"}
_SIGNS = {Sign.PLUS: SUM, Sign.MINUS: SUM}
_TAKEN = (
    frozenset(keyword.kwlist)
    | frozenset(dir(builtins))
    | {operation.value for operation in Operation}
    | {
        "I",
        "O",
        "bisect",
        "control",
        "first",
        "integers",
        "l",
        "last",
        "least",
        "math",
        "most",
        "numbers",
        "real32",
        "reals",
    }
    | {"arrays", "partial", "self", "short_integers", "text"}
)


def name_of(name: str) -> str:
    """A variable's name in Python; one that has another meaning there gets an underscore."""
    return name + "_" if name in _TAKEN or name[0].isupper() else name


class TermWriter:
    """Writes terms, and notes in `modules` what they need from where.

    `places` says what stands for a variable, if not its name; `formulas` gives the expression by which one is called.
    """

    def __init__(self, formulas: Callable[[str], str]) -> None:
        self.modules: dict[str, set[str]] = {}
        self.uses_math = False
        self.places: dict[m.Quantity, str] = {}
        self._formulas = formulas
        self._type = ArrayType.INT64
        self._lists: Mapping[m.Quantity, m.Term] = {}

    def text(self, term: m.Term) -> str:
        """A term as it stands by itself."""
        return self.code(term).text

    def need(self, module: str, name: str) -> str:
        """The name of something that is imported."""
        self.modules.setdefault(module, set()).add(name)
        return name

    # ---- arrays

    def array(self, term: m.Term, of: ArrayType) -> str:
        """A term as an array."""
        self._type = of
        return self._array(term)

    def _array(self, term: m.Term) -> str:
        if term.sort is Basic.ARRAY:
            return self.text(term)
        name = _LISTS[self._type]
        return f"{self.need(_ARRAYS, name)}({self.text(term)})"

    def numbers(self, term: m.Term, params: Mapping[m.Quantity, m.Term]) -> str:
        """What pixels become, with the values of parameters in place of their names."""
        self.places |= {variable: self._within(value, ATOM) for variable, value in params.items()}
        self._lists = params
        text = self.text(term)
        for variable in params:
            del self.places[variable]
        return text

    def _triple(self, term: m.Term) -> str:
        """A list of three, which is written out, as a tuple."""
        written = self._lists.get(term.variable, term) if isinstance(term, m.VarOf) else term
        assert isinstance(written, m.ListOf), "the resolver insists on a list that is written out"
        return tuple_of(map(self.text, written.items))

    # ---- terms

    def code(self, term: m.Term) -> Code:
        """A term, and how tightly it binds."""
        match term:
            case m.Constant(value):
                return Code(repr(value), ATOM)
            case m.FilterOf(filter):
                return Code(f"{self.need(_GEOMETRY, 'Filter')}.{filter.name}", ATOM)
            case m.VarOf(variable):
                return Code(self.places.get(variable, name_of(variable.name)), ATOM)
            case m.MemberOf(base, member):
                return Code(f"{self._within(base, ATOM)}.{member.value}", ATOM)
            case m.ItemOf(base, index):
                return Code(f"{self._within(base, ATOM)}[{self.text(index)}]", ATOM)
            case m.CallOf(formula, arguments):
                return self._called(self._formulas(formula), arguments)
            case m.FunctionOf(function, arguments):
                return self._function(function, arguments)
            case m.OperationOf(operation, arguments):
                return self._operation(operation, arguments)
            case m.ListOf(items):
                return Code(f"[{', '.join(map(self.text, items))}]", ATOM)
            case m.CollectOf(item, loops, condition):
                fors = " ".join(f"for {name_of(one.variable.name)} in {self._source(one.source)}" for one in loops)
                return Code(f"[{self._item(item)} {fors}{self._if(condition)}]", ATOM)
            case m.PickOf():
                return self._pick(term)
            case m.BisectOf(variable, low, high, width, condition):
                ends = ", ".join(map(self.text, (low, high, width)))
                holds = f"lambda {name_of(variable.name)}: {self._item(condition)}"
                return Code(f"{self.need(_SELECTION, 'bisect')}({ends}, {holds})", ATOM)
            case m.ConditionalOf(test, then, otherwise):
                text = f"{self._within(then, OR)} if {self._within(test, OR)} else {self._within(otherwise, TERNARY)}"
                return Code(text, TERNARY)
            case m.AnyOf(operands):
                return Code(" or ".join(self._within(one, AND) for one in operands), OR)
            case m.AllOf(operands):
                return Code(" and ".join(self._within(one, NOT) for one in operands), AND)
            case m.NotOf(operand):
                return Code(f"not {self._within(operand, NOT)}", NOT)
            case m.CompareOf(operator, left, right):
                return Code(f"{self._within(left, SUM)} {operator.value} {self._within(right, SUM)}", COMPARE)
            case m.ArithmeticOf():
                return self._arithmetic(term)
            case m.NegativeOf(operand):
                return Code(f"-{self._within(operand, FACTOR)}", FACTOR)
            case _:
                assert_never(term)

    def _within(self, term: m.Term, level: int) -> str:
        return self.code(term).within(level)

    def _item(self, term: m.Term) -> str:
        """A term before a `for`, or behind a `lambda`."""
        return self._within(term, TERNARY)

    def _source(self, term: m.Term) -> str:
        """What a `for` goes through."""
        return self._within(term, OR)

    def _if(self, condition: m.Term | None) -> str:
        return "" if condition is None else f" if {self._within(condition, OR)}"

    def _called(self, name: str, arguments: Sequence[m.Term]) -> Code:
        return Code(f"{name}({', '.join(map(self.text, arguments))})", ATOM)

    def _function(self, function: Function, arguments: Sequence[m.Term]) -> Code:
        if function in _OF_MATH:
            self.uses_math = True
            return self._called(f"math.{_OF_MATH[function]}", arguments)
        if function is Function.SIZE:
            return self._called(self.need(_PICTURE, "Size"), arguments)
        if function is Function.REAL32:
            return self._called(self.need(_SELECTION, "real32"), arguments)
        return self._called(_FUNCTIONS[function], arguments)

    def _operation(self, operation: Operation, arguments: Sequence[m.Term]) -> Code:
        match operation:
            case Operation.RESCALING:
                return self._called(self.need(_PIXELS, "Normalization"), arguments)
            case Operation.NORMALIZATION | Operation.FOLDED | Operation.BFLOAT16 | Operation.REAL:
                scale, mean, std = arguments
                written = ", ".join([self.text(scale), self._triple(mean), self._triple(std)])
                return Code(f"{self.need(*_CLASSES[operation])}({written})", ATOM)
            case Operation.RESIZE_BY_TORCHVISION:
                picture, size, filter = arguments
                assert isinstance(filter, m.FilterOf), "the resolver insists on a filter that is written out"
                kernel = f"{self.need('katapi.runtime.images.resampling', 'Kernel')}.{filter.filter.name}"
                written = ", ".join([self.text(picture), self.text(size), kernel])
                return Code(f"{self.need(_LIBRARIES, operation.value)}({written})", ATOM)
            case Operation.CHAINED:
                written = ", ".join(map(self._array, arguments))
                return Code(f"{self.need(_ARRAYS, operation.value)}({written})", ATOM)
            case Operation.PAD:
                *others, colour = arguments
                written = ", ".join([*map(self.text, others), self._triple(colour)])
                return Code(f"{self.need(_GEOMETRY, 'pad')}({written})", ATOM)
            case Operation.EXTENDED | Operation.WITHIN:
                array, *rest = arguments
                written = ", ".join([self._array(array), *map(self.text, rest)])
                return Code(f"{self.need(_ARRAYS, operation.value)}({written})", ATOM)
            case _:
                module = _MODULES[operation]
                takes_numbers = module == _PIXELS or operation in _OF_NUMBERS
                values = [*map(self.text, arguments), *(["numbers"] if takes_numbers else [])]
                return Code(f"{self.need(module, operation.value)}({', '.join(values)})", ATOM)

    def _pick(self, term: m.PickOf) -> Code:
        name = name_of(term.variable.name)
        source = self._source(term.source)
        through = f"for {name} in {source}"
        if term.choice in (Choice.ANY, Choice.ALL):
            assert term.condition is not None, "the resolver insists on a condition"
            return Code(f"{term.choice.value}({self._item(term.condition)} {through})", ATOM)
        chosen = self.need(_SELECTION, term.choice.value)
        if not term.keys:
            items = self.text(term.source) if term.condition is None else f"{name} {through}{self._if(term.condition)}"
            return Code(f"{chosen}({items})", ATOM)
        items = self.text(term.source) if term.condition is None else f"({name} {through}{self._if(term.condition)})"
        keys = [self._item(key) for key in term.keys]
        key = keys[0] if len(keys) == 1 else tuple_of(keys)
        return Code(f"{chosen}({items}, lambda {name}: {key})", ATOM)

    def _arithmetic(self, term: m.ArithmeticOf) -> Code:
        if isinstance(term.sort, ListSort):
            return Code(f"[{', '.join(self._spread(term))}]", ATOM)
        level = _SIGNS.get(term.sign, PRODUCT)
        return Code(f"{self._within(term.left, level)} {term.sign.value} {self._within(term.right, level + 1)}", level)

    def _spread(self, term: m.Term) -> list[str]:
        """The items of lists that stand one behind the other."""
        match term:
            case m.ArithmeticOf(left=left, right=right, sort=ListSort()):
                return [*self._spread(left), *self._spread(right)]
            case m.ListOf(items):
                return [self.text(one) for one in items]
            case _:
                return [f"*{self._within(term, OR)}"]


_NAMES = {Basic.INT: "int", Basic.REAL: "float", Basic.BOOL: "bool"}


def annotation(sort: Sort, writer: TermWriter) -> str:
    """A sort as a type of Python."""
    match sort:
        case ListSort(item):
            assert item is not None, "a sort that is declared says what the items are"
            return f"{writer.need('collections.abc', 'Sequence')}[{annotation(item, writer)}]"
        case Basic.SIZE:
            return writer.need(_PICTURE, "Size")
        case _:
            return _NAMES[sort]
