"""`katapi record` and `katapi replay`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from katapi.packs.reading import read_pack
from katapi.packs.replay import FIXTURE
from katapi.runtime.stages import Stage
from tests.command import here

PACKS = Path(__file__).parents[1] / "packs" / "data"


def recorded(folder: Path, *arguments: str, stdin: bytes = FIXTURE.encode()) -> Path:
    file = folder / "x.pack"
    done = here("record", "book", "-o", str(file), *arguments, stdin=stdin)
    assert (done.status, done.out, done.err) == (0, "", "")
    return file


def test_a_request_is_recorded_and_replayed(tmp_path: Path) -> None:
    done = here("replay", str(recorded(tmp_path, "--policy", "Book")))
    assert (done.status, done.err) == (0, "")
    first, heading, *rows, last = done.out.splitlines()
    assert (first, last) == ("this installation: the fixture of the model `book` gives its ids", "all stages agree")
    assert heading.split() == ["stage", "recorded", "now", "why"]
    assert [row.split()[:2] for row in rows] == [[stage.value, "agrees"] for stage in Stage]


def test_what_is_written_is_what_the_checked_in_pack_has(tmp_path: Path) -> None:
    """But for the versions, which are those of this machine."""
    now, then = read_pack(recorded(tmp_path, "--policy", "Book")), read_pack(PACKS / "fixture-1.pack")
    assert (now.stages, now.raw, now.policy) == (then.stages, then.raw, then.policy)


def test_parameters_redaction_and_artifacts(tmp_path: Path) -> None:
    pack = read_pack(recorded(tmp_path, "--param", "add_generation_prompt=false"))
    assert pack.stages[Stage.BYTES]["params"] == {"add_generation_prompt": False}
    assert pack.stages[Stage.TENSORS]["length"] == 11
    assert read_pack(recorded(tmp_path, "--redact", "digests")).redaction == "digests"
    assert read_pack(recorded(tmp_path, "--redact")).redaction == "digests"
    assert read_pack(recorded(tmp_path, "--redact", "--policy", "Book")).redaction == "digests"
    assert read_pack(recorded(tmp_path, "--redact", "placeholder")).redaction == "placeholders"
    hidden = recorded(tmp_path, "--redact", "placeholders")
    assert "天空" not in hidden.read_bytes().decode("latin-1").encode("latin-1").decode("utf-8", "replace")
    done = here("replay", str(hidden))
    assert (done.status, done.err) == (0, "")
    assert done.out.splitlines()[-1] == "nothing that can be checked differs; what cannot be: bytes"
    assert [row.split() for row in done.out.splitlines() if row.startswith("request")] == [
        ["request", "agrees", "all", "but", "contents"]
    ]
    embedded = read_pack(recorded(tmp_path, "--embed-artifacts"))
    assert {a.kind: a.data is not None for a in embedded.artifacts} == {
        "controls": True,
        "tokens": True,
        "configuration": True,
    }


def test_an_execution_that_fails_is_recorded_too(tmp_path: Path) -> None:
    file = tmp_path / "x.pack"
    done = here("record", "book", "-o", str(file), stdin=b'{"messages": [{"role": "wizard"}]}')
    assert (done.status, done.out) == (1, "")
    assert done.err.splitlines() == [
        f'katapi: {file} holds all up to the request error R110 at messages[0].role: unknown role "wizard"',
        "  help: the roles are system, user, assistant",
    ]
    done = here("replay", str(file))
    assert (done.status, done.err) == (0, "")
    row, last = done.out.splitlines()[-2:]
    assert (row.split()[:3], last) == (["request", "agrees", "R110,"], "all stages agree, up to the same error")


def test_a_replay_that_parts_says_where_and_ends_with_status_1(tmp_path: Path, book_project: Path) -> None:
    file = tmp_path / "x.pack"
    raw = json.dumps({"messages": [{"role": "user", "content": "天空"}]}).encode()
    assert here("record", "tale", "-o", str(file), stdin=raw, cwd=book_project).status == 0
    spec = book_project / "spec" / "tale.kata"
    text = spec.read_text("utf-8")
    assert '"天空"' in text
    spec.write_text(text.replace('template Book version "1"', 'template Book version "2"'), "utf-8")
    from tests.command import katapi

    built = katapi("build", cwd=book_project)
    assert built.status == 0, built.err
    done = katapi("replay", str(file), cwd=book_project)
    assert done.status == 1
    assert done.err.startswith("katapi: the replay parts from the pack at the stage template: other: id, digest; ")


@pytest.mark.parametrize(
    ("data", "code"),
    [(b"", "Y100"), (b"PK\x03\x04", "Y100"), ((PACKS / "fixture-1.pack").read_bytes()[:-1], "Y101")],
)
def test_what_is_no_pack(tmp_path: Path, data: bytes, code: str) -> None:
    file = tmp_path / "x.pack"
    file.write_bytes(data)
    done = here("replay", str(file))
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith(f"katapi: replay error {code} at {file}, byte ")
    assert "  help: " in done.err


def test_a_pack_that_is_not_there() -> None:
    done = here("replay", "/no/such/file")
    assert done.status == 1
    said, help = done.err.splitlines()
    assert said == "katapi: replay error Y100 at /no/such/file: it cannot be read: No such file or directory"
    assert help.startswith("  help: ")


@pytest.mark.parametrize(
    ("arguments", "said"), [([], "Missing option '--output'"), (["-o", "x", "--redact=all"], "neither digests nor")]
)
def test_wrong_arguments(arguments: list[str], said: str) -> None:
    done = here("record", "book", *arguments, stdin=FIXTURE.encode())
    assert done.status == 2
    assert said in done.err
