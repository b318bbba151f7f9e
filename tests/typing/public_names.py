"""What the docstring of a public name lacks: a check of source text, for `test_public_names.py`.

Public is every name that does not begin with an underscore and stands in a module, or in a public class of it: classes,
functions, methods, properties, constants, type aliases, fields, members of an enum, and attributes that a method sets
on `self`. A type variable is a part of signatures and no name of its own. What is defined within a function is not
public.

- A module, a class and a function have a docstring.
- A constant has one behind it. A field has one behind it, or its class names it in backticks.
- Where an annotation has an array of numpy, the docstring gives its shape, `[n, 2]`, and its type, `int64`. For the
  arguments of `__init__` and for fields the docstring of the class counts as well.
- Where the code of the module itself, called from a function, makes a typed error, the docstring names its class and
  its code, `A105` or `R100 to R109`. For methods that of the class counts as well.
- A docstring that names the class of a typed error names a code of it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from katapi.runtime import errors

LETTERS = {
    "RequestError": "R",
    "TemplateError": "T",
    "TokenizerError": "V",
    "BudgetError": "B",
    "ExtensionError": "X",
    "ReplyError": "P",
    "MediaError": "M",
    "ArtifactError": "A",
    "ReplayError": "Y",
}
"""The letter of the codes of each typed error that is raised so far."""

assert LETTERS.keys() | {"KatapiError"} == {name for name in vars(errors) if name.endswith("Error")}

_CODES = re.compile(r"\b([RTVBXPMAY])(\d{3})\b(?: to \1(\d{3})\b)?")
_CLASS = re.compile(rf"\b({'|'.join(LETTERS)})\b")
_SHAPE = re.compile(r"\[(?:\w+|len\(\w+\)|\w+ \+ \d+)(?:, \w+)*\]")

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Name:
    """A public name, its place in the source, and what is said of it."""

    name: str
    node: ast.AST
    text: str
    """Its own docstring."""
    around: str = ""
    """That of its class."""

    @property
    def all(self) -> str:
        return f"{self.text}\n{self.around}"


def public_names(tree: ast.Module) -> Iterator[Name]:
    """The public names of a module."""
    yield from _of_body(tree.body, "", "")


def lacking(source: str) -> list[str]:
    """What the docstrings of a module lack, each with its line."""
    tree = ast.parse(source)
    raised = _raised(tree)
    found = [] if ast.get_docstring(tree) else ["1: the module has no docstring"]
    for name in public_names(tree):
        found += [f"{getattr(name.node, 'lineno', 0)}: {name.name} {what}" for what in _lacks(name, raised)]
    return found


def codes_of(text: str) -> set[str]:
    """The codes that a text names; `R100 to R103` names four."""
    codes: set[str] = set()
    for letter, first, last in _CODES.findall(text):
        codes |= {f"{letter}{number}" for number in range(int(first), int(last or first) + 1)}
    return codes


# ---- names


def _of_body(body: list[ast.stmt], prefix: str, around: str) -> Iterator[Name]:
    for index, node in enumerate(body):
        behind = _text_of(body[index + 1]) if index + 1 < len(body) else ""
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() if _is_public(node.name) and not _is_overload(node):
                yield Name(prefix + node.name, node, ast.get_docstring(node) or "", around)
            case ast.ClassDef() if _is_public(node.name):
                text = ast.get_docstring(node) or ""
                yield Name(prefix + node.name, node, text)
                yield from _of_body(node.body, f"{prefix}{node.name}.", text)
                yield from _attributes(node, f"{prefix}{node.name}.", text)
            case ast.Assign() | ast.AnnAssign() if not _is_type_variable(node):
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    for part in target.elts if isinstance(target, ast.Tuple) else [target]:
                        if isinstance(part, ast.Name) and _is_public(part.id):
                            yield Name(prefix + part.id, node, behind, around)
            case ast.If():  # one name for the type checker, and one at run time
                yield from _of_body(node.orelse, prefix, around)
            case _:
                pass


def _attributes(owner: ast.ClassDef, prefix: str, around: str) -> Iterator[Name]:
    """What the methods of a class set on `self`, each once."""
    seen = {
        part.target.id for part in owner.body if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)
    }
    for method in owner.body:
        if not isinstance(method, Function):
            continue
        for block in _blocks(method):
            for index, node in enumerate(block):
                behind = _text_of(block[index + 1]) if index + 1 < len(block) else ""
                for attribute in _set_on_self(node):
                    if _is_public(attribute) and attribute not in seen:
                        seen.add(attribute)
                        yield Name(prefix + attribute, node, behind, around)


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for inner in ast.walk(node):
        for _, value in ast.iter_fields(inner):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                yield value


def _set_on_self(node: ast.stmt) -> Iterator[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    for target in targets:
        for part in target.elts if isinstance(target, ast.Tuple) else [target]:
            if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id == "self":
                yield part.attr


def _text_of(node: ast.stmt) -> str:
    """The text of a statement that is nothing but a text."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
        return node.value.value
    return ""


def _is_public(name: str) -> bool:
    return not name.startswith("_")


def _is_overload(node: Function) -> bool:
    return any(isinstance(decorator, ast.Name) and decorator.id == "overload" for decorator in node.decorator_list)


def _is_type_variable(node: ast.Assign | ast.AnnAssign) -> bool:
    call = node.value
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "TypeVar"


# ---- what a name lacks


def _lacks(name: Name, raised: Mapping[str, set[tuple[str, str]]]) -> Iterator[str]:
    node = name.node
    is_definition = isinstance(node, Function | ast.ClassDef)
    if not name.text and (is_definition or f"`{name.name.rpartition('.')[2]}`" not in name.around):
        yield "has no docstring" if is_definition else "is not described"
        return
    text = name.text if is_definition else name.all
    kinds = {kind for annotation in _annotations(node) for kind in _array_kinds(annotation)}
    if kinds and not _SHAPE.search(text):
        yield "gives no shape of an array"
    yield from (
        f"does not say that an array is {kind}" for kind in sorted(kinds) if not re.search(rf"\b{kind}\b", text)
    )
    said = name.all if isinstance(node, Function) else name.text
    for error, code in sorted(raised.get(name.name, ())):
        if code not in codes_of(said) or error not in said:
            yield f"does not name {error} {code}"
    for error in sorted(set(_CLASS.findall(name.text))):
        if not any(code.startswith(LETTERS[error]) for code in codes_of(name.text)):
            yield f"names no code of {error}"


def _annotations(node: ast.AST) -> Iterator[ast.expr]:
    match node:
        case ast.FunctionDef(args=arguments, returns=returns):
            yield from ([] if returns is None else [returns])
            for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
                yield from ([] if argument.annotation is None else [argument.annotation])
        case ast.ClassDef(body=body):
            for part in body:
                if isinstance(part, ast.FunctionDef) and part.name == "__init__":
                    yield from _annotations(part)
        case ast.AnnAssign(annotation=annotation):
            yield annotation
        case _:
            pass


def _array_kinds(annotation: ast.expr) -> Iterator[str]:
    """The types of the arrays in an annotation: `int64` of `NDArray[np.int64]`."""
    for node in ast.walk(annotation):
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == "NDArray":
            yield ast.unparse(node.slice).removeprefix("np.").rstrip("_")


# ---- typed errors


def _raised(tree: ast.Module) -> dict[str, set[tuple[str, str]]]:
    """The typed errors, class and code, that each function makes, itself or by a call within the module.

    What a class makes when it is called stands under the name of the class.
    """
    nodes: dict[str, ast.AST] = {}
    for node in tree.body:
        match node:
            case ast.FunctionDef():
                nodes[node.name] = node
            case ast.ClassDef():
                for part in node.body:
                    if isinstance(part, ast.FunctionDef):
                        made = part.name in ("__init__", "__post_init__")
                        nodes[node.name if made else f"{node.name}.{part.name}"] = part
            case ast.Assign(targets=[ast.Name(id=constant)], value=value) if (
                not constant.isupper() or constant[0] == "_"
            ):
                nodes[constant] = value
            case _:
                pass
    own = {name: {*_made(node)} for name, node in nodes.items()}
    calls = {name: {*_called(node, name.rpartition(".")[0] or name)} & nodes.keys() for name, node in nodes.items()}
    return {name: set().union(*(own[reached] for reached in _reached(name, calls))) for name in nodes}


def _reached(name: str, calls: Mapping[str, set[str]]) -> set[str]:
    reached, pending = {name}, [name]
    while pending:
        pending += (new := calls[pending.pop()] - reached)
        reached |= new
    return reached


def _made(node: ast.AST) -> Iterator[tuple[str, str]]:
    for inner in _uncaught(node):
        if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name) and inner.func.id in LETTERS:
            for keyword in inner.keywords:
                if keyword.arg == "code" and isinstance(keyword.value, ast.Constant):
                    yield inner.func.id, str(keyword.value.value)


def _called(node: ast.AST, owner: str) -> Iterator[str]:
    """The names that may be called, methods by their class."""
    for inner in _uncaught(node):
        if isinstance(inner, ast.Name):
            yield inner.id
        elif isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name):
            yield f"{owner if inner.value.id in ('self', 'cls') else inner.value.id}.{inner.attr}"


def _uncaught(node: ast.AST) -> Iterator[ast.AST]:
    """All that is in a node, but for what stands where a typed error is caught."""
    yield node
    for field, value in ast.iter_fields(node):
        if field == "body" and isinstance(node, ast.Try | ast.With) and _catches(node):
            continue
        for inner in value if isinstance(value, list) else [value]:
            if isinstance(inner, ast.AST):
                yield from _uncaught(inner)


def _catches(node: ast.Try | ast.With) -> bool:
    parts: list[ast.AST] = [*node.handlers] if isinstance(node, ast.Try) else [item.context_expr for item in node.items]
    heads = [part.type if isinstance(part, ast.ExceptHandler) else part for part in parts]
    return any(
        isinstance(inner, ast.Name) and inner.id in LETTERS for head in heads if head for inner in ast.walk(head)
    )
