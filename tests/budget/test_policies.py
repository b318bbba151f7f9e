"""Budgets as they are declared: what they mean, which models take them, and what is generated of them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import katapi
from katapi.analyse import analyse, load_beside
from katapi.compile import ProjectError, compile_project
from katapi.language.printer import format_source
from katapi.language.source import Source
from katapi.model.program import budgets_of
from katapi.project import Project
from katapi.runtime.budget.policy import (
    Allotment,
    Budget,
    CutLeft,
    Grouping,
    Misfit,
    Order,
    Percent,
    Reject,
    Section,
    Structure,
    Tokens,
)
from katapi.runtime.errors import ArtifactError
from katapi_models import standard
from tests.command import ROOT, here

POLICIES = Path(__file__).parent / "policies.kata"
BOOK = (ROOT / "spec" / "book.kata").read_text(encoding="utf-8")
MINE = """
budget mine version "3" {
  window: 64
  reserve: 8
  overflow: cut left, breaks messages, breaks characters
}

budget Mine version "1" {
  window: 60
  reserve: 10
  overflow: reject
}
"""
RAW = b'{"messages": [{"role": "user", "content": "\xe5\xa4\xa9\xe7\xa9\xba"}]}'


def budgets(text: str, name: str = "text.kata") -> dict[str, Budget]:
    """The budgets of a file that has nothing else."""
    (library,) = analyse("text", Source(name, text))
    return {budget.identity.name: budget.policy for budget in library.budgets}


# ---- what they mean


def test_a_budget_says_all_of_a_policy() -> None:
    found = budgets(POLICIES.read_text(encoding="utf-8"))
    assert {name: (one.id, one.window, one.reserve, one.room) for name, one in found.items()} == {
        "all_required": ("all_required@1", 8192, 1024, 7168),
        "sections": ("sections@1.2", 8192, 1024, 7168),
        "cut": ("cut@1", 8192, 1024, 7168),
    }
    assert found["all_required"].optional == found["cut"].optional == ()
    assert found["sections"].optional == (
        Allotment(Section.DOCUMENTS, Order.AS_GIVEN, Misfit.SKIP, at_least=Tokens(1000), at_most=Percent(60)),
        Allotment(Section.HISTORY, Order.OLDEST_FIRST, Misfit.STOP, Grouping.BY_MESSAGE, at_most=Tokens(4000)),
        Allotment(Section.TOOLS, Order.AS_GIVEN, Misfit.SKIP, at_least=Percent(5)),
    )
    assert {name: one.overflow for name, one in found.items()} == {
        "all_required": Reject(),
        "sections": CutLeft(frozenset()),
        "cut": CutLeft(frozenset(Structure)),
    }


@pytest.mark.parametrize("path", [POLICIES, ROOT / "spec" / "policies" / "standard.kata"], ids=lambda path: path.name)
def test_budgets_are_in_canonical_form(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert format_source(Source(path.name, text)) == text


def test_the_digest_is_that_of_the_meaning() -> None:
    (before,) = budgets(MINE.split("budget Mine")[0]).values()
    (commented,) = budgets("# a comment\n" + MINE.split("budget Mine")[0].replace("64", "64 # tokens")).values()
    (changed,) = budgets(MINE.split("budget Mine")[0].replace("reserve: 8", "reserve: 9")).values()
    assert before.digest.startswith("sha256:")
    assert len(before.digest) == 71
    assert commented == before
    assert changed.digest != before.digest


def test_shares_are_of_the_room_and_may_fill_it() -> None:
    text = POLICIES.read_text(encoding="utf-8").replace("at least 5 percent", "at least 86 percent")
    assert budgets(text)["sections"].optional[-1].at_least == Percent(86)  # 6164 tokens, and 1000, of 7168


def test_options_give_numbers() -> None:
    source = ROOT / "tests" / "language" / "pass" / "family.kata"
    programs = analyse(source.stem, Source(source.name, source.read_text(encoding="utf-8")))
    policies = [budget.policy for program in programs for _, budget in budgets_of(program).values()]
    assert [policy.window for policy in policies] == [4096, 8192, 4096]
    assert [policy.optional[1].at_most for policy in policies] == [Percent(50)] * 3


# ---- which models take them


def test_every_model_takes_the_standard_policies() -> None:
    for name in set(katapi.models()) - {"book"}:
        model = katapi.load(name)
        if not model.template.id.startswith("text"):
            assert model.budgets["agent32k"] is standard.AGENT32K, name
            assert {"chat8k", "rag16k", "tail4k"} < set(model.budgets)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    (tmp_path / "pyproject.toml").write_text('[tool.katapi]\nspec = "spec"\ngenerated = "gen"\npackage = "budgeted"\n')
    write(tmp_path, "policies/mine.kata", MINE)
    write(tmp_path, "one.kata", f'use "policies/mine.kata"\n\n{BOOK}')
    (tmp_path / "gen").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path / "gen"))
    yield Project(tmp_path, tmp_path / "spec", tmp_path / "gen", "budgeted")
    for name in [name for name in sys.modules if name.split(".")[0] == "budgeted"]:
        del sys.modules[name]


def write(root: Path, name: str, text: str) -> None:
    path = root / "spec" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def findings(project: Project) -> list[str]:
    with pytest.raises(ProjectError) as caught:
        compile_project(project)
    return [found.message for failure in caught.value.failures for found in failure.diagnostics]


def test_a_project_has_policies_of_its_own(project: Project) -> None:
    assert here("build", cwd=project.root).status == 0
    assert here("build", "--check", cwd=project.root).status == 0
    one = katapi.load("one", "budgeted")
    assert [*one.budgets] == ["Book", "mine", "Mine"]
    assert one.budgets["mine"].id == "mine@3"
    assert one.budgets["Mine"].window == 60
    assert one.budgets["Book"] == katapi.load("book").budgets["Book"]
    decision = one.assemble(RAW, "mine").record.decision
    assert decision is not None
    assert (decision.policy, decision.window, decision.reserve) == ("mine@3", 64, 8)


def test_a_policy_is_no_part_of_the_digest_of_a_template(project: Project) -> None:
    assert here("build", cwd=project.root).status == 0
    one, book = katapi.load("one", "budgeted"), katapi.load("book")
    assert (one.template.digest, one.tokenizer_identity) == (book.template.digest, book.tokenizer_identity)


def test_two_budgets_whose_constants_would_be_one_have_two(project: Project) -> None:
    write(project.root, "policies/yours.kata", MINE.replace("mine", "MINE").replace("Mine", "yours"))
    write(project.root, "one.kata", f'use "policies/mine.kata"\nuse "policies/yours.kata"\n\n{BOOK}')
    assert here("build", cwd=project.root).status == 0
    one = katapi.load("one", "budgeted")
    assert [budget.id for budget in one.budgets.values()] == ["Book@1", "mine@3", "Mine@1", "MINE@3", "yours@1"]


def test_a_budget_comes_from_one_place(project: Project) -> None:
    write(project.root, "one.kata", f'use "policies/mine.kata"\n\n{BOOK}\n{MINE.split("budget Mine")[0]}')
    assert findings(project) == ["the budget `mine` comes from another file already"]
    write(project.root, "policies/yours.kata", MINE.split("budget Mine")[0].replace("64", "65"))
    write(project.root, "one.kata", f'use "policies/mine.kata"\nuse "policies/yours.kata"\n\n{BOOK}')
    assert findings(project) == ["the budget `mine` comes from another file already"]


def test_a_file_may_be_used_by_two_ways(project: Project) -> None:
    write(project.root, "policies/yours.kata", 'use "mine.kata"\n' + MINE.replace("mine", "my").replace("Mine", "My"))
    write(project.root, "one.kata", f'use "policies/mine.kata"\nuse "policies/yours.kata"\n\n{BOOK}')
    files = compile_project(project)
    assert b"from budgeted.mine import MINE, MINE_\n" in files[Path("budgeted/one/__init__.py")]
    assert b"from budgeted.yours import MY, MY_\n" in files[Path("budgeted/one/__init__.py")]


def test_policies_from_outside_of_the_project(project: Project) -> None:
    (project.root / "elsewhere.kata").write_text(MINE, encoding="utf-8")
    write(project.root, "one.kata", f'use "../elsewhere.kata"\n\n{BOOK}')
    with pytest.raises(ArtifactError) as caught:
        compile_project(project)
    assert caught.value.code == "A157"


def test_a_file_of_budgets_has_a_package_that_no_model_has(project: Project) -> None:
    write(project.root, "policies/one.kata", MINE)
    with pytest.raises(ArtifactError) as caught:
        compile_project(project)
    assert caught.value.code == "A155"


def test_a_file_of_budgets_is_checked_alone(project: Project) -> None:
    done = here("check", "spec/policies/mine.kata", cwd=project.root)
    assert (done.status, done.out) == (0, "spec/policies/mine.kata: mine is fine\n")
    assert here("fmt", "--check", cwd=project.root).status == 1  # it begins with an empty line


def test_a_mistake_in_a_policy_is_told_of_its_file(project: Project) -> None:
    write(project.root, "policies/mine.kata", MINE.replace("reserve: 8\n", "reserve: 64\n"))
    assert findings(project) == [
        "`policies/mine.kata` cannot be used: it has 1 error",
        "a reserve of 64 leaves nothing of a window of 64",
    ]


def test_what_is_left_of_a_line_with_a_mistake_follows_from_it() -> None:
    path = ROOT / "spec" / "policies" / "standard.kata"
    text = path.read_text(encoding="utf-8").replace(
        "documents: priority 1, by score", "documents: priority 1,, by score"
    )
    with pytest.raises(Exception, match="K001") as caught:
        analyse("standard", Source("standard.kata", text), load_beside(path, lambda p: Source(p.name, p.read_text())))
    assert str(caught.value).count("error[") == 1


def test_models_shows_what_a_budget_says() -> None:
    shown = here("models", "qwen3").out
    for line in (
        "budget agent32k            window 32768, reserve 4096",
        "1. history: newest first, by turn, skip, at most 80 percent",
        "2. documents: by score, skip, at least 10 percent, at most 8192 tokens",
        "cut left, breaks messages, breaks calls, breaks instructions",
    ):
        assert line in shown
