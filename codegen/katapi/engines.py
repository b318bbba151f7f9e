"""`katapi.engine`: whether compiled code runs, which modules, why, and what compiled them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from katapi.runtime.compiled import Form, why_pure
from katapi.runtime.dataclass import dataclass
from katapi.runtime.tokenization.facade import TextAndIds

_RECORD = Path(__file__).with_name("native.json")


@dataclass(frozen=True)
class EngineReport:
    """Which form of the engine runs, and why."""

    form: Form
    """`compiled` or `pure`. Both give the same results."""
    modules: tuple[str, ...]
    """The compiled modules that run; none where the form is pure."""
    reason: str
    """Why it is this form: a clause in English."""
    mypyc: str | None
    """The version of mypyc that compiled the extensions of this installation; None where there are none."""
    librt: str | None
    """The version of librt that they were compiled for; None where they do without it."""

    def to_json(self) -> dict[str, str | list[str] | None]:
        """As plain data."""
        return {
            "form": self.form,
            "modules": [*self.modules],
            "reason": self.reason,
            "mypyc": self.mypyc,
            "librt": self.librt,
        }


def engine(model: str | TextAndIds | None = None) -> EngineReport:
    """What runs for a model or tokenizer, given by its name or as it was loaded; without one, what is installed.

    Nothing is derived for it. The tables of a compiled engine come with the first text, and where a vocabulary turns
    out to have none, the form is `pure` from then on.

    Raises `ArtifactError` A140 to A143 where there is no model of the name, as `katapi.load` does, and A125 where its
    vocabulary has not been fetched.
    """
    if isinstance(model, str):
        from katapi.registry import load_tokenizer

        model = load_tokenizer(model)
    built = _built()
    if model is not None:
        form = model.tokenizer.engine
        return _report(form.form, form.modules, form.reason, built)
    modules = tuple(built["modules"]) if built is not None else ()
    if not modules:
        return _report("pure", (), "no extension was built for this installation", built)
    reason = why_pure(*modules)
    if reason is not None:
        return _report("pure", (), reason, built)
    return _report("compiled", modules, "this installation has the extensions", built)


def stale() -> list[str]:
    """The modules of a source tree whose sources have changed since their extensions were built."""
    built = _built()
    digests = built["modules"] if built is not None else {}
    return [name for name, digest in digests.items() if _digest(name) not in (digest, None)]


def _digest(module: str) -> str | None:
    """That of the source beside an extension; None where there is none."""
    found = find_spec(module)
    if found is None or found.origin is None:
        return None
    extension = Path(found.origin)
    for suffix in (".py", ".c"):
        source = extension.with_name(extension.name.split(".")[0] + suffix)
        if source.is_file():
            return hashlib.sha256(source.read_bytes()).hexdigest()
    return None


def _built() -> Mapping[str, Mapping[str, str]] | None:
    """What the build wrote of the extensions: `modules`, and the version of each distribution in `by`."""
    try:
        built: dict[str, dict[str, str]] = json.loads(_RECORD.read_bytes())
    except FileNotFoundError:
        return None
    return built


def _report(
    form: Form, modules: tuple[str, ...], reason: str, built: Mapping[str, Mapping[str, str]] | None
) -> EngineReport:
    by = built["by"] if built is not None else {}
    return EngineReport(form, modules, reason, by.get("mypyc"), by.get("librt"))
