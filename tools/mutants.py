"""Plants faults in generated renderers and counts those that the comparison with the oracle finds.

usage: mutants.py [--requests N] [SPEC]...

Every `if` is turned round, every printed item left out, every constant swapped for its neighbour, every comparison and
every number changed, one at a time. A fault is found when, on one of N requests drawn at random from the request
rules, the faulty renderer prints something else than the oracle, or fails. What survives is printed with its line;
some of it means the same as the code it replaces.
"""

from __future__ import annotations

import argparse
import ast
import copy
import json
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings

from katapi.oracle.render import plain
from katapi.oracle.render import render as oracle_render
from katapi.oracle.request import canonical
from katapi.runtime.errors import KatapiError
from katapi.runtime.json_types import Json
from katapi.runtime.printed import Printed, rendering_of
from katapi.runtime.request_model import RequestModel

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.requests import Requests  # noqa: E402  # the tests' own strategies, once the root is on the path
from tests.specs import ALL, Spec, model_of, program_of  # noqa: E402

Outcome = tuple[object, ...]
Render = Callable[[RequestModel], list[Printed]]


def main() -> int:
    """Runs the faults of each spec; exit status 1 where one of them survives."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("specs", nargs="*", help="stems of specs; all if none")
    parser.add_argument("--requests", type=int, default=400)
    arguments = parser.parse_args()
    survivors = 0
    for spec in ALL:
        if arguments.specs and spec.name not in arguments.specs:
            continue
        found, alive = judge(spec, arguments.requests)
        survivors += len(alive)
        print(f"{spec.name}: {found} of {found + len(alive)} faults found")
        for line in alive:
            print(f"  survives: {line}")
    return 1 if survivors else 0


def judge(spec: Spec, count: int) -> tuple[int, list[str]]:
    """How many faults in a spec's renderer are found, and the others in words."""
    requests = drawn(spec, count)
    expected = [by_oracle(spec, value) for value in requests]
    model = model_of(*spec)
    decoded = [decode(model.decode_request, value) for value in requests]
    name = f"{model.request_type.__module__.rpartition('.')[0]}.renderer"
    source = Path(str(import_module(name).__file__)).read_text(encoding="utf-8")
    found, alive = 0, []
    for mutant, words in mutants(ast.parse(source)):
        render = compiled(mutant, name)
        if any(by_generated(render, d) != e for d, e in zip(decoded, expected, strict=True)):
            found += 1
        else:
            alive.append(words)
    return found, alive


def drawn(spec: Spec, count: int) -> list[Json]:
    """Requests for a spec, the same ones every time."""
    out: list[Json] = []

    @settings(
        max_examples=count,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(Requests(program_of(*spec)).requests())
    def collect(value: Json) -> None:
        out.append(value)

    collect()
    return out


def by_oracle(spec: Spec, value: Json) -> Outcome:
    """What the oracle prints."""
    program = program_of(*spec)
    try:
        rendering = oracle_render(program, canonical(program, value))
    except KatapiError as error:
        return error.code, error.where
    return plain(rendering), list(rendering.sampled)


def decode(decoder: Callable[[bytes], RequestModel], value: Json) -> RequestModel | Outcome:
    """The typed request, or the error that it gives."""
    try:
        return decoder(json.dumps(value).encode())
    except KatapiError as error:
        return error.code, error.where


def by_generated(render: Render, request: RequestModel | Outcome) -> Outcome:
    """What a renderer prints; any failure of its own counts as a result of its own."""
    if not isinstance(request, RequestModel):
        return request
    try:
        rendering = rendering_of(render(request))
        return plain(rendering), list(rendering.sampled)
    except KatapiError as error:
        return error.code, error.where
    except Exception as error:  # noqa: BLE001  # a faulty renderer may fail in any way
        return ("failed", type(error).__name__)


def compiled(tree: ast.Module, name: str) -> Render:
    """The `render` of a changed module."""
    module = types.ModuleType(name)
    exec(compile(ast.fix_missing_locations(tree), name, "exec"), module.__dict__)
    render: Render = module.__dict__["render"]
    return render


def mutants(tree: ast.Module) -> Iterator[tuple[ast.Module, str]]:
    """Each change of the functions of a module, one at a time, with a line in words."""
    constants = [s.targets[0].id for s in tree.body if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name)]
    functions = [n for n in tree.body if isinstance(n, ast.FunctionDef)]
    for function in functions:
        for index, node in enumerate(ast.walk(function)):
            for words, change in changes(node, constants):
                twin = copy.deepcopy(tree)
                same = next(n for n in twin.body if isinstance(n, ast.FunctionDef) and n.name == function.name)
                target = list(ast.walk(same))[index]
                change(target)
                yield twin, f"line {getattr(node, 'lineno', '?')}: {words}"


def changes(node: ast.AST, constants: Sequence[str]) -> Iterator[tuple[str, Callable[[ast.AST], None]]]:
    """The faults that can be planted in one node."""
    match node:
        case ast.If():
            yield f"not ({ast.unparse(node.test)})", _negate
        case ast.Compare(ops=[ast.Gt() | ast.Lt() | ast.Eq() | ast.NotEq()]):
            yield f"other comparison in {ast.unparse(node)}", _compare
        case ast.AugAssign(target=ast.Name(id="out"), value=ast.Tuple(elts=items)):
            for at, item in enumerate(items):
                yield f"without {ast.unparse(item)}", partial(_without, at)
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id="out"), attr="append"), args=[item])):
            yield f"without {ast.unparse(item)}", _empty
        case ast.Name(id=name) if name in constants:
            other = constants[(constants.index(name) + 1) % len(constants)]
            yield f"{other} for {name}", partial(_rename, other)
        case ast.Constant(value=bool()) | ast.Constant(value=None):
            pass
        case ast.Constant(value=int(number)):
            yield f"{number + 1} for {number}", partial(_count, number + 1)
        case _:
            pass


def _negate(node: ast.AST) -> None:
    assert isinstance(node, ast.If)
    node.test = ast.UnaryOp(ast.Not(), node.test)


_OTHER: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Gt: ast.GtE,
    ast.Lt: ast.LtE,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
}


def _compare(node: ast.AST) -> None:
    assert isinstance(node, ast.Compare)
    node.ops = [_OTHER[type(node.ops[0])]()]


def _without(at: int, node: ast.AST) -> None:
    assert isinstance(node, ast.AugAssign)
    assert isinstance(node.value, ast.Tuple)
    del node.value.elts[at]


def _empty(node: ast.AST) -> None:
    assert isinstance(node, ast.Expr)
    node.value = ast.Constant(None)


def _rename(name: str, node: ast.AST) -> None:
    assert isinstance(node, ast.Name)
    node.id = name


def _count(number: int, node: ast.AST) -> None:
    assert isinstance(node, ast.Constant)
    node.value = number


if __name__ == "__main__":
    sys.exit(main())
