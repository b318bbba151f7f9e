"""What the functions of formulas and images take, and what they give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from katapi.language import syntax_formulas as f
from katapi.model import formulas as m
from katapi.model.formulas import Basic, Function, ListSort, Operation, Sort
from katapi.model.resolve.findings import Findings, Unresolved

_INTS, _REALS, _PICTURES = ListSort(Basic.INT), ListSort(Basic.REAL), ListSort(Basic.PICTURE)


@dataclass(frozen=True, slots=True)
class _Signature:
    """The sorts of the values, of which the last `optional` may be missing, and the sort of the result."""

    parameters: tuple[Sort, ...]
    result: Sort
    optional: int = 0


NORMALIZATIONS = (Operation.NORMALIZATION, Operation.FOLDED, Operation.BFLOAT16, Operation.REAL)
#: How an image says what its pixels become: only behind `numbers =`.
OF_NUMBERS = (Operation.RESCALING, *NORMALIZATIONS)
_FUNCTIONS = {
    Function.CEIL: _Signature((Basic.REAL,), Basic.INT),
    Function.FLOOR: _Signature((Basic.REAL,), Basic.INT),
    Function.TRUNC: _Signature((Basic.REAL,), Basic.INT),
    Function.SQRT: _Signature((Basic.REAL,), Basic.REAL),
    Function.LOG: _Signature((Basic.REAL,), Basic.REAL),
    Function.REAL32: _Signature((Basic.REAL,), Basic.REAL),
    Function.SIZE: _Signature((Basic.INT, Basic.INT), Basic.SIZE),
    Function.RANGE: _Signature((Basic.INT, Basic.INT), _INTS, optional=1),
}
_OPERATIONS = {
    Operation.RESIZE: _Signature((Basic.PICTURE, Basic.SIZE, Basic.FILTER), Basic.PICTURE),
    Operation.CROP: _Signature((Basic.PICTURE, Basic.INT, Basic.INT, Basic.SIZE), Basic.PICTURE),
    Operation.PAD: _Signature((Basic.PICTURE, Basic.SIZE, Basic.INT, Basic.INT, _INTS), Basic.PICTURE),
    Operation.TILES: _Signature((Basic.PICTURE, Basic.SIZE), _PICTURES),
    Operation.RESCALING: _Signature((Basic.REAL,), Basic.NUMBERS),
    **dict.fromkeys(NORMALIZATIONS, _Signature((Basic.REAL, _REALS, _REALS), Basic.NUMBERS)),
    Operation.PLANES: _Signature((_PICTURES,), Basic.ARRAY),
    Operation.PATCHES: _Signature((Basic.PICTURE, Basic.INT), Basic.ARRAY),
    Operation.FLAT_PATCHES: _Signature((Basic.PICTURE, Basic.INT), Basic.ARRAY),
    Operation.MERGED_PATCHES: _Signature((Basic.PICTURE, Basic.INT, Basic.INT, Basic.INT), Basic.ARRAY),
    Operation.STRIPS: _Signature((_PICTURES, Basic.INT), Basic.ARRAY),
    Operation.FILLED: _Signature((Basic.INT, _INTS), Basic.ARRAY),
    Operation.EXTENDED: _Signature((Basic.ARRAY, Basic.INT, Basic.INT), Basic.ARRAY, optional=1),
    Operation.RESIZE_BY_TORCHVISION: _Signature((Basic.PICTURE, Basic.SIZE, Basic.FILTER), Basic.PICTURE),
    Operation.VIEW_BY_TORCH: _Signature((Basic.PICTURE, Basic.SIZE), Basic.ARRAY),
    Operation.PLANES_BY_OPENCV: _Signature((Basic.PICTURE, Basic.SIZE), Basic.ARRAY),
    Operation.TILE_MASKS: _Signature((Basic.SIZE, Basic.SIZE, Basic.INT), Basic.ARRAY),
    Operation.FRAMES_AT: _Signature((Basic.FILM, _INTS), _PICTURES),
    Operation.TEMPORAL_PATCHES: _Signature((_PICTURES, Basic.INT, Basic.INT, Basic.INT), Basic.ARRAY),
    Operation.WAVEFORM: _Signature((Basic.RECORDING, Basic.INT), Basic.ARRAY),
    Operation.CHAINED: _Signature((Basic.ARRAY, Basic.ARRAY), Basic.ARRAY),
    Operation.WITHIN: _Signature((Basic.ARRAY, Basic.INT), Basic.ARRAY, optional=1),
}
FUNCTIONS = {one.value: one for one in Function}
OPERATIONS = {one.value: one for one in Operation}


def is_array(sort: Sort) -> bool:
    """Whether a value can be an array: it is one, or a whole number, or these in lists, or a size."""
    if isinstance(sort, ListSort):
        return sort.item is not None and sort.item is not Basic.ARRAY and is_array(sort.item)
    return sort in (Basic.ARRAY, Basic.INT, Basic.SIZE)


def is_real_array(sort: Sort) -> bool:
    """Whether a value can be an array of float32 without being one: a list of reals, or of such lists."""
    return isinstance(sort, ListSort) and (
        sort.item is Basic.REAL or (sort.item is not None and is_real_array(sort.item))
    )


class FunctionCalls:
    """Gives calls of functions their sorts."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings

    def operation(self, node: f.Apply, operation: Operation, arguments: Sequence[m.Term]) -> m.Term:
        """A call of an operation on pictures or arrays."""
        signature = _OPERATIONS[operation]
        self._check(node, signature, arguments)
        self._check_written(operation, arguments)
        return m.OperationOf(operation, tuple(arguments), sort=signature.result, span=node.span)

    def _check_written(self, operation: Operation, arguments: Sequence[m.Term]) -> None:
        """What must be written out: a colour, and the filters of torchvision."""
        last = arguments[-1]
        if operation is Operation.PAD and not (isinstance(last, m.ListOf) and len(last.items) == 3):
            help = "write three numbers, for red, green and blue: `[0, 0, 0]`"
            raise self._findings.fail("K811", last.span, "a colour is written out", help=help)
        if operation is Operation.RESIZE_BY_TORCHVISION:
            filters = (m.Filter.BILINEAR, m.Filter.BICUBIC)
            if not (isinstance(last, m.FilterOf) and last.filter in filters):
                help = "write `bilinear` or `bicubic`"
                raise self._findings.fail("K811", last.span, "torchvision has no such filter here", help=help)

    def function(self, node: f.Apply, function: Function, arguments: Sequence[m.Term]) -> m.Term:
        """A call of a function on numbers, lists or sizes."""
        signature = _FUNCTIONS.get(function)
        if signature is not None:
            self._check(node, signature, arguments)
            result = signature.result
        else:
            result = self._result(node, function, arguments)
        return m.FunctionOf(function, tuple(arguments), sort=result, span=node.span)

    def _result(self, node: f.Apply, function: Function, arguments: Sequence[m.Term]) -> Sort:
        match function:
            case Function.ROUND:
                self._check(node, _Signature((Basic.REAL, Basic.INT), Basic.INT, optional=1), arguments)
                return Basic.INT if len(arguments) == 1 else Basic.REAL
            case Function.ABS:
                self._check(node, _Signature((Basic.REAL,), Basic.REAL), arguments)
                return arguments[0].sort
            case Function.LENGTH:
                self._count(node, arguments, 1, 1)
                if not isinstance(arguments[0].sort, ListSort):
                    raise self._wrong(node, 0, arguments[0], "a list")
                return Basic.INT
            case Function.SUM:
                self._count(node, arguments, 1, 1)
                return self._item(node, arguments[0])
            case _:
                return self._extreme(node, arguments)

    def _extreme(self, node: f.Apply, arguments: Sequence[m.Term]) -> Sort:
        """`min` and `max`: of two numbers or more, or of a list of them."""
        if len(arguments) == 1:
            return self._item(node, arguments[0])
        self._count(node, arguments, 2, 99)
        for place, one in enumerate(arguments):
            if one.sort not in m.NUMERIC:
                raise self._wrong(node, place, one, "a number")
        return Basic.INT if all(one.sort is Basic.INT for one in arguments) else Basic.REAL

    def _item(self, node: f.Apply, argument: m.Term) -> Sort:
        match argument.sort:
            case ListSort(item=Basic.INT | Basic.REAL as item):
                return item
            case _:
                raise self._wrong(node, 0, argument, "a list of numbers")

    def _check(self, node: f.Apply, signature: _Signature, arguments: Sequence[m.Term]) -> None:
        most = len(signature.parameters)
        self._count(node, arguments, most - signature.optional, most)
        for place, (one, wanted) in enumerate(zip(arguments, signature.parameters, strict=False)):
            if wanted is Basic.ARRAY and is_array(one.sort):
                continue
            if not m.fits(one.sort, wanted):
                raise self._wrong(node, place, one, f"`{m.named(wanted)}`")

    def _count(self, node: f.Apply, arguments: Sequence[m.Term], least: int, most: int) -> None:
        if not least <= len(arguments) <= most:
            count = str(least) if least == most else f"{least} or {most}" if most < 99 else f"{least} or more"
            values = "value" if count == "1" else "values"
            message = f"`{node.name.text}` takes {count} {values}, and gets {len(arguments)}"
            raise self._findings.fail("K114", node.span, message)

    def _wrong(self, node: f.Apply, place: int, argument: m.Term, wanted: str) -> Unresolved:
        message = f"`{node.name.text}` needs {wanted} here, and this is `{m.named(argument.sort)}`"
        return self._findings.fail("K201", argument.span, message, help=_remedy(argument, wanted))


def _remedy(argument: m.Term, wanted: str) -> str:
    """What a value of another sort is most likely meant to be."""
    if wanted == "`int`" and argument.sort is Basic.REAL:
        return "say how it is rounded: `round`, `floor`, `ceil` or `trunc`"
    if wanted == "`[picture]`" and argument.sort is Basic.PICTURE:
        return "write it in brackets: a list of one picture"
    return ""
