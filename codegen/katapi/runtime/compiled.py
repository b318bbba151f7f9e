"""Which modules run compiled, and why another does not.

Their sources stand beside the extensions and are not run: they count on integers of 64 bits that wrap around, which
those of Python do not. So who has a compiled form and a pure one asks here first. Both give the same results.
"""

from __future__ import annotations

import os
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES, PathFinder
from importlib.util import find_spec
from typing import Final, Literal, TypeAlias

from katapi.runtime.dataclass import dataclass

Form: TypeAlias = Literal["compiled", "pure"]
"""How an engine runs."""

VARIABLE: Final = "KATAPI_ENGINE"
"""The environment variable that asks for the pure form by the value `pure`; it is read when a tokenizer is built."""
_LIBRARIES: Final = ("librt", "mypy_extensions")


@dataclass(frozen=True, slots=True)
class EngineForm:
    """Which form of an engine runs, and why."""

    form: Form
    """`compiled` or `pure`."""
    modules: tuple[str, ...]
    """The compiled modules that run; none where the form is pure."""
    reason: str
    """Why it is this form: a clause in English."""


def why_pure(*modules: str) -> str | None:
    """Why modules cannot run compiled; None where all of them can. They are not imported, their packages are."""
    if os.environ.get(VARIABLE) == "pure":
        return f"{VARIABLE}=pure asks for it"
    for name in modules:
        if not _is_extension(name):
            return f"{name} has no extension here"
    lacking = next((name for name in _LIBRARIES if modules and find_spec(name) is None), None)
    return None if lacking is None else f"{lacking}, which the extensions import, is not installed"


def _is_extension(module: str) -> bool:
    package, _, _ = module.rpartition(".")
    try:
        folders = import_module(package).__path__ if package else None
    except ModuleNotFoundError:
        return False
    found = PathFinder.find_spec(module, folders)
    return found is not None and found.origin is not None and found.origin.endswith(tuple(EXTENSION_SUFFIXES))
