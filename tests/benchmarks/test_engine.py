"""Nothing is measured by accident in pure Python."""

from __future__ import annotations

import pytest

import katapi
from katapi.engines import EngineReport
from tools import native
from tools.benchmarks import engine


def report(form: str) -> EngineReport:
    if form == "compiled":
        return EngineReport("compiled", ("m",), "this installation has the extensions", "2.4.1", None)
    return EngineReport("pure", (), "no extension was built for this installation", None, None)


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An installation without extensions and without a C compiler."""
    monkeypatch.delenv("KATAPI_ENGINE", raising=False)
    monkeypatch.setattr(katapi, "engine", lambda model=None: report("pure"))
    monkeypatch.setattr(engine, "stale", list)
    monkeypatch.setattr(native, "why_none", lambda: "there is no C compiler (cc)")
    return monkeypatch


def test_pure_python_is_told_loudly_where_nothing_can_be_compiled(here: pytest.MonkeyPatch) -> None:
    told = engine.checked()
    assert told is not None
    assert "PURE PYTHON" in told
    assert "there is no C compiler (cc)" in told
    assert engine.described() == "pure Python, since no extension was built for this installation"
    assert engine.exceptions(["qwen3"]) == []


def test_pure_python_is_refused_beside_a_compiler_unless_it_is_meant(here: pytest.MonkeyPatch) -> None:
    here.setattr(native, "why_none", lambda: None)
    with pytest.raises(engine.WrongEngine, match="no extension was built"):
        engine.checked()
    here.setenv("KATAPI_ENGINE", "pure")
    assert engine.checked() is None


def test_extensions_that_are_older_than_their_sources_are_refused(here: pytest.MonkeyPatch) -> None:
    here.setattr(katapi, "engine", lambda model=None: report("compiled"))
    assert engine.checked() is None
    assert engine.described() == "compiled by mypyc 2.4.1"
    here.setattr(engine, "stale", lambda: ["katapi.runtime.native.words"])
    with pytest.raises(engine.WrongEngine, match=r"native\.words"):
        engine.checked()


def test_a_vocabulary_that_runs_in_pure_python_is_named(here: pytest.MonkeyPatch) -> None:
    here.setattr(katapi, "engine", lambda model=None: report("pure" if model == "qwen" else "compiled"))
    assert engine.exceptions(["cl100k", "qwen3"]) == [
        "Qwen3 runs as pure Python, since no extension was built for this installation."
    ]
