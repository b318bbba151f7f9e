"""Names of a package that are imported when they are first asked for (PEP 562)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from importlib import import_module


def late(package: str, names: Mapping[str, Sequence[str]], submodules: Collection[str] = ()) -> Callable[[str], object]:
    """The `__getattr__` of a package: `names` are those that each module gives, `submodules` those of the package.

    What was found stays in the package.
    """
    modules = {name: module for module, found in names.items() for name in found}

    def get(name: str) -> object:
        if name in submodules:
            return import_module(f"{package}.{name}")
        module = modules.get(name)
        if module is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=sys.modules[package])
        value: object = getattr(import_module(module), name)
        setattr(sys.modules[package], name, value)
        return value

    return get
