"""Finds generated models by name: those that come with Katapi, and those of installed packages.

A package of models names itself in the entry-point group `katapi.models`; its `MODELS` gives the sub-package of each
name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from katapi.runtime.errors import ArtifactError
from katapi.runtime.model import Model

if TYPE_CHECKING:
    from katapi.runtime.request_model import RequestModel

_BUILT_IN = "katapi_models"
_GROUP = "katapi.models"


def load(name: str, package: str | None = None) -> Model[RequestModel]:
    """The generated model of a name; `package` says in which package of models to look.

    Raises ArtifactError where no package has it.
    """
    if not isinstance(name, str):
        raise TypeError(f"a model is loaded by its name in a str, not by a {type(name).__name__}")
    known: list[str] = []
    for candidate in [package] if package is not None else _packages():
        models = _models_of(candidate)
        known.extend(models)
        if name in models:
            try:
                model = getattr(import_module(f"{candidate}.{models[name]}"), "MODEL", None)
            except (ImportError, SyntaxError) as error:
                raise ArtifactError(
                    f"the package {candidate}.{models[name]} is broken: {error}", code="A143", where=name, help=_REBUILD
                ) from None
            if not isinstance(model, Model):
                raise ArtifactError(
                    f"the package {candidate}.{models[name]} holds no model", code="A142", where=name, help=_REBUILD
                )
            return model
    raise ArtifactError(
        f"there is no model {name!r}", code="A141", where=name, help=f"known: {', '.join(sorted(known)) or 'none'}"
    )


def models(package: str | None = None) -> list[str]:
    """The names that `load` takes, in order."""
    packages = [package] if package is not None else _packages()
    return sorted({name for p in packages for name in _models_of(p)})


_REBUILD = "run `katapi build`"


def _packages() -> Iterator[str]:
    yield _BUILT_IN
    for entry in entry_points(group=_GROUP):
        if entry.value != _BUILT_IN:
            yield entry.value


def _models_of(package: str) -> Mapping[str, str]:
    if not isinstance(package, str):
        raise TypeError(f"a package of models is named in a str, not in a {type(package).__name__}")
    try:
        module = import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package.split(".")[0] and error.name != package:
            raise
        raise ArtifactError(
            f"there is no package of models {package!r}", code="A140", where=package, help=_REBUILD
        ) from None
    found = getattr(module, "MODELS", {})
    return found if isinstance(found, dict) else {}
