"""Tests for kinds of JSON in generated code, and what they have shown told to the type checker."""

from __future__ import annotations

from katapi.emit.code import ATOM, COMPARE, OR, Code
from katapi.emit.module import Module
from katapi.model.types import JsonKind, Type, json_kinds, present


def narrowed(module: Module, code: str, of: Type) -> str:
    """What a test has shown of a computed JSON value, told to the type checker."""
    kinds = json_kinds(present(of))
    words = {
        frozenset({JsonKind.TEXT}): "as_text",
        frozenset({JsonKind.INTEGER}): "as_integer",
        frozenset({JsonKind.BOOL}): "as_bool",
        frozenset({JsonKind.LIST}): "as_list",
        frozenset({JsonKind.OBJECT}): "as_object",
    }
    word = words.get(kinds) if kinds is not None else None
    return code if word is None else f"{module.helper(word)}({code})"


def is_kind(module: Module, value: Code, kinds: frozenset[JsonKind]) -> Code:
    """A test for some kinds of JSON."""
    tests: list[str] = []
    left = set(kinds)
    if {JsonKind.INTEGER, JsonKind.FRACTION} <= left:
        tests.append(f"{module.helper('is_number')}({value.text})")
        left -= {JsonKind.INTEGER, JsonKind.FRACTION}
    words = {
        JsonKind.TEXT: "isinstance({}, str)",
        JsonKind.BOOL: "isinstance({}, bool)",
        JsonKind.NULL: "{} is None",
    }
    helpers = {
        JsonKind.INTEGER: "is_integer",
        JsonKind.FRACTION: "is_fraction",
        JsonKind.LIST: "is_list",
        JsonKind.OBJECT: "is_object",
    }
    for kind in JsonKind:
        if kind not in left:
            continue
        if kind in words:
            tests.append(words[kind].format(value.within(ATOM)))
        else:
            tests.append(f"{module.helper(helpers[kind])}({value.text})")
    return Code(" or ".join(tests), OR if len(tests) > 1 else COMPARE)
