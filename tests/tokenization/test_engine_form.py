"""`katapi.engine`: which form runs, and why."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

import katapi
from katapi import engines
from katapi.runtime import compiled
from katapi.runtime.compiled import why_pure
from tests.command import katapi as command


def test_the_installation_says_what_runs() -> None:
    report = katapi.engine()
    built = (Path(katapi.__file__).parent / "native.json").is_file()
    if not built:
        assert report == katapi.EngineReport("pure", (), "no extension was built for this installation", None, None)
    else:
        assert report.mypyc is not None
        assert (report.form == "compiled") is (why_pure(*report.modules) is None)


def test_the_variable_asks_for_the_pure_form(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KATAPI_ENGINE", "pure")
    assert katapi.engine().form == "pure"
    assert why_pure() == "KATAPI_ENGINE=pure asks for it"
    monkeypatch.delenv("KATAPI_ENGINE")
    assert why_pure() is None


def test_a_module_runs_compiled_where_it_is_an_extension(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KATAPI_ENGINE", raising=False)
    assert why_pure("numpy._core._multiarray_umath") is None
    assert why_pure("json") == "json has no extension here"
    assert why_pure("no_such_package.module") == "no_such_package.module has no extension here"


@pytest.mark.parametrize("library", ["librt", "mypy_extensions"])
def test_extensions_do_not_run_without_what_they_import(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in an environment of a source tree whose extensions were built for another one."""
    monkeypatch.delenv("KATAPI_ENGINE", raising=False)
    monkeypatch.setattr(compiled, "find_spec", lambda name: None if name == library else find_spec(name))
    reason = f"{library}, which the extensions import, is not installed"
    assert why_pure("numpy._core._multiarray_umath") == reason
    assert why_pure() is None


def test_a_record_of_extensions_that_are_not_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As when some of them were removed: the pure form runs, and the first that is missing is named."""
    record = tmp_path / "native.json"
    record.write_text(json.dumps({"by": {"mypyc": "2.4.1"}, "modules": {"katapi.files": "0" * 64}}), "utf-8")
    monkeypatch.setattr(engines, "_RECORD", record)
    monkeypatch.delenv("KATAPI_ENGINE", raising=False)
    report = katapi.engine()
    assert report == katapi.EngineReport("pure", (), "katapi.files has no extension here", "2.4.1", None)
    assert engines.stale() == ["katapi.files"]


@pytest.mark.skipif(why_pure("katapi.runtime.native.kernel") is not None, reason="nothing is compiled here")
def test_a_changed_source_in_c_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    record = tmp_path / "native.json"
    modules = {"katapi.runtime.native.kernel": "0" * 64}
    record.write_text(json.dumps({"by": {"mypyc": "2.4.1"}, "modules": modules}), "utf-8")
    monkeypatch.setattr(engines, "_RECORD", record)
    assert engines.stale() == [*modules]


def test_a_model_says_what_runs_for_it() -> None:
    report = katapi.engine("book")
    assert report.form == "pure"
    assert report == katapi.engine(katapi.load("book"))
    assert report.reason
    with pytest.raises(katapi.ArtifactError, match="there is no model 'boook'"):
        katapi.engine("boook")


def test_the_command_shows_it() -> None:
    listed = command("models", "book", "--format", "json")
    row = json.loads(listed.out)
    assert row["engine"] == katapi.engine("book").to_json()
    lines = [line.split() for line in command("models", "book").out.splitlines()]
    assert any(line[:2] == ["engine", "pure:"] for line in lines)
