"""Which of Katapi's engines is measured, and that it is the one which is meant."""

from __future__ import annotations

import os
from collections.abc import Iterable

import katapi
from katapi.engines import stale
from katapi.runtime.compiled import VARIABLE
from tools import native
from tools.benchmarks.vocabularies import DECLARED


class WrongEngine(Exception):
    """The compiled engine could run here, and does not as its sources have it."""


def checked() -> str | None:
    """A warning where Katapi runs as pure Python since nothing can be compiled here; None where all is as it should be.

    Raises WrongEngine. Who sets KATAPI_ENGINE=pure means the pure form.
    """
    if os.environ.get(VARIABLE) == "pure":
        return None
    old = stale()
    if old:
        raise WrongEngine(f"the extensions are older than their sources, as that of {old[0]}; `make native` compiles")
    told = katapi.engine()
    if told.form == "compiled":
        return None
    reason = native.why_none()
    if reason is None:
        raise WrongEngine(
            f"Katapi runs as pure Python, since {told.reason}, though there is a C compiler. `make bench` compiles it "
            f"and installs what it imports; {VARIABLE}=pure measures the pure form"
        )
    return f"Katapi runs as PURE PYTHON, since {told.reason}: {reason}"


def described() -> str:
    """The engine that runs in this installation, in words."""
    told = katapi.engine()
    return f"compiled by mypyc {told.mypyc}" if told.form == "compiled" else f"pure Python, since {told.reason}"


def exceptions(vocabularies: Iterable[str]) -> list[str]:
    """Where the compiled engine runs, the vocabularies for which it does not, and why."""
    if katapi.engine().form == "pure":
        return []
    found: list[str] = []
    for name in vocabularies:
        try:
            told = katapi.engine(DECLARED[name].katapi)
        except katapi.ArtifactError:
            continue  # the tables name it as one that is left out
        if told.form == "pure":
            found.append(f"{DECLARED[name].title} runs as pure Python, since {told.reason}.")
    return found
