"""Words that a Jinja template decides by, and names that it reads: what steers it, and what a spec has no room for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from jinja2 import nodes
from jinja2.meta import find_undeclared_variables

from katapi.model.request import Request

_LONGEST_WORD = 40
_GIVEN = {
    *("messages", "tools", "documents", "add_generation_prompt", "bos_token", "eos_token"),
    *("raise_exception", "strftime_now"),
}


@dataclass(frozen=True, slots=True)
class Words:
    """What a template looks for, each in order of its letters."""

    texts: tuple[str, ...]
    """Texts that it compares with, searches, cuts at or trims."""
    members: tuple[str, ...]
    """Names of members that it reads of values; those of its own namespaces and of `loop` are none."""
    roles: tuple[str, ...]
    """Texts that it compares a role with."""
    params: tuple[str, ...]
    """Variables that only its caller can have set."""


def words_of(tree: nodes.Template) -> Words:
    """The words of a template."""
    texts: set[str] = set()
    for node in tree.find_all((nodes.Compare, nodes.Call, nodes.Test, nodes.Filter)):
        texts |= {text for text in _asked(node) if 0 < len(text) <= _LONGEST_WORD}
    return Words(
        tuple(sorted(texts)),
        tuple(sorted(_members(tree))),
        tuple(sorted(_roles(tree))),
        tuple(sorted(_params(tree))),
    )


def unknown_to(request: Request, words: Words) -> dict[str, list[str]]:
    """What a template looks for and the request rules of a spec do not have, by kind.

    A member may be one of a JSON value, of which the rules say nothing: a name here is a question, not a mistake.
    """
    fields = {s for role in request.roles for field in role.fields for s in field.spellings}
    fields |= {s for record in request.records for field in record.fields for s in field.spellings}
    unknown = {
        "roles": [role for role in words.roles if request.role(role) is None],
        "parameters": [name for name in words.params if name not in {param.name for param in request.params}],
        "members": [name for name in words.members if name not in fields],
    }
    return {kind: names for kind, names in unknown.items() if names}


def _members(tree: nodes.Template) -> set[str]:
    own = {node.target.name for node in tree.find_all(nodes.Assign) if isinstance(node.target, nodes.Name)} & {
        node.name for node in tree.find_all(nodes.NSRef)
    } | {"loop"}
    methods = {id(node.node) for node in tree.find_all(nodes.Call)}
    read = {
        node.attr
        for node in tree.find_all(nodes.Getattr)
        if id(node) not in methods and not (isinstance(node.node, nodes.Name) and node.node.name in own)
    }
    read |= set(_texts(node.arg for node in tree.find_all(nodes.Getitem)))
    return read - {"role"}


def _roles(tree: nodes.Template) -> set[str]:
    """Texts beside `x.role`, `x["role"]` or a variable `role` in a comparison."""
    out: set[str] = set()
    for compare in tree.find_all(nodes.Compare):
        match compare.expr:
            case nodes.Getattr(attr="role") | nodes.Getitem(arg=nodes.Const(value="role")) | nodes.Name(name="role"):
                out |= set(_asked(compare))
            case _:
                pass
    return out


def _params(tree: nodes.Template) -> set[str]:
    stored = {node.name for node in tree.find_all(nodes.Name) if node.ctx == "store"}
    questioned = {
        test.node.name
        for test in tree.find_all(nodes.Test)
        if test.name == "defined" and isinstance(test.node, nodes.Name)
    }
    return {name for name in find_undeclared_variables(tree) if name not in stored or name in questioned} - _GIVEN


def _asked(node: nodes.Node) -> Iterator[str]:
    """The texts in one question that a template asks of a value."""
    parts: list[nodes.Node] = []
    match node:
        case nodes.Compare(expr=expr, ops=ops):
            parts = [expr, *(operand.expr for operand in ops)]
        case nodes.Call(node=nodes.Getattr(), args=args) | nodes.Test(args=args) | nodes.Filter(args=args):
            parts = [*args]
        case _:
            pass
    for part in parts:
        yield from _texts(part.items if isinstance(part, nodes.List | nodes.Tuple) else [part])


def _texts(parts: Iterable[nodes.Node]) -> Iterator[str]:
    """Those parts that are texts written in the template."""
    for part in parts:
        if isinstance(part, nodes.Const) and isinstance(part.value, str):
            yield part.value
