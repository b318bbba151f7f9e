"""docs/artifacts.md says of artifacts and official tokenizers what the lock and the vectors say."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest

from katapi.artifacts.lock import read_lock
from katapi.runtime.tokenization.table import artifact_of

ROOT = Path(__file__).parents[2]
FREE = ("Apache-2.0", "MIT", "LicenseRef-GPT-2-Modified-MIT", "LicenseRef-Kimi-K2-Modified-MIT")
LOCK = read_lock(ROOT / "spec" / "artifacts.lock")
TEXT = (ROOT / "docs" / "artifacts.md").read_text(encoding="utf-8")
SHARED = ROOT.parent / "shared" / "vectors" / "text"
NOTICE = (ROOT / "NOTICE").read_text(encoding="utf-8")


def rows(heading: str) -> list[list[str]]:
    """The cells of the table below a row of headings."""
    lines = TEXT[TEXT.index(heading) :].splitlines()[2:]
    table = lines[: next((i for i, line in enumerate(lines) if not line.startswith("|")), len(lines))]
    return [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in table]


def test_every_artifact_is_listed_with_its_licence() -> None:
    listed = rows("| artifact | licence | known by |")
    assert [(name, licence) for name, licence, _ in listed] == [(a.name, a.licence) for a in LOCK.artifacts.values()]
    for _, licence, basis in listed:
        assert basis == "author" or basis.startswith("package: ") or basis == "not found out"
        assert (basis == "not found out") == licence.endswith("-unclear")


def test_the_lock_has_what_the_table_of_models_says() -> None:
    digests = {artifact.sha256[:16]: artifact.name for artifact in LOCK.artifacts.values()}
    models = rows("| model | sha256 | in the lock |")
    for model, digest, place in models:
        exact = place.partition("`")[0].strip()
        assert exact.partition(";")[0] == digests.get(digest, "none"), model
    found = sum(not place.startswith("none") for _, _, place in models)
    assert f"of {len(models)} models by sha256; the lock has exactly that file for {found} of them" in TEXT


@pytest.mark.parametrize("folder", [Path(__file__).parents[1] / "vectors" / "text", SHARED], ids=["own", "shared"])
def test_the_digests_are_those_of_the_vectors(folder: Path) -> None:
    if not folder.exists():
        pytest.skip(f"{folder} is not there")
    listed = {model: digest for model, digest, _ in rows("| model | sha256 | in the lock |")}
    heads = [json.loads(gzip.decompress(file.read_bytes()).partition(b"\n")[0]) for file in folder.glob("*.jsonl.gz")]
    assert heads
    assert {head["model"]: head["tokenizer_sha256"][:16] for head in heads}.items() <= listed.items()
    if folder == SHARED:
        assert {head["model"] for head in heads} == listed.keys()


def test_the_notice_names_only_what_may_be_checked_in() -> None:
    named = set(re.findall(r"[0-9a-f]{64}", NOTICE))
    assert named
    assert named <= {a.sha256 for a in LOCK.artifacts.values() if a.licence in FREE}


def test_only_what_is_free_and_named_is_checked_in() -> None:
    assert all(a.cached or a.licence in FREE for a in LOCK.artifacts.values())
    tables = [path.read_bytes() for path in (ROOT / "generated").rglob("tables/*.bin")]
    assert len(tables) > 3
    assert {artifact_of(table) for table in tables} <= set(re.findall(r"[0-9a-f]{64}", NOTICE))
