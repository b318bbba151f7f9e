"""A declared vocabulary against the data of an artifact: each way in which they may not fit, and the ways they do."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from katapi.artifacts.fit import DeclaredIds, DeclaredToken, DeclaredVocabulary, misfits
from katapi.runtime.artifacts.any_file import read_tokenizer_file
from katapi.runtime.tokenization.configuration import AddedToken
from katapi.runtime.tokenization.tokens import Tokens
from katapi.runtime.tokenization.vocabulary_data import VocabularyData, merge_array

FILES = Path(__file__).with_name("data")


def token(number: int, spelling: str) -> DeclaredToken:
    return DeclaredToken(number, spelling, f"x.kata:{number}")


def unused(first: int, last: int) -> DeclaredIds:
    return DeclaredIds(range(first, last + 1), "x.kata:unused")


DATA = VocabularyData(
    Tokens.by_id({0: b"a", 1: b"b", 2: b"ab", 4: b"<end>"}),
    merges=merge_array([(0, 1, 2)]),
    added=(
        AddedToken(4, "<end>", control=True),
        AddedToken(6, "<pad>", control=True),
        AddedToken(7, "\n\n", control=False),
    ),
)
DECLARED = DeclaredVocabulary(
    place="x.kata:1",
    artifact="x.json",
    control=[token(4, "<end>"), token(6, "<pad>")],
    added=[token(7, "\n\n")],
    unused=[unused(3, 3), unused(5, 5)],
    unknown=token(1, "b"),
    size=8,
)


def found(declared: DeclaredVocabulary, data: VocabularyData = DATA) -> list[tuple[str, str, str, str]]:
    return [(error.code, error.where, error.message, error.help) for error in misfits(declared, data)]


def test_what_fits() -> None:
    assert found(DECLARED) == []
    assert found(replace(DECLARED, size=None, unknown=token(4, "<end>"))) == []
    assert found(replace(DECLARED, unused=[unused(3, 3), unused(5, 5), unused(9, 10**15)], size=1 << 40)) == []


def test_what_a_bare_artifact_lists_beside_its_own_counts_for_nothing() -> None:
    another = replace(DECLARED, control=[token(4, "<x>"), token(8, "<y>")], added=[], unused=[unused(3, 3)], size=9)
    assert {code for code, *_ in found(another)} == {"A154", "A160", "A162", "A164"}
    bare = replace(another, bare=True)
    assert [finding[::2] for finding in found(bare)] == [("A160", "no token has the ids 5 to 7")]
    assert found(replace(bare, unused=[unused(3, 3), unused(5, 7)])) == []
    # What is the model's own keeps its spelling.
    assert found(replace(bare, control=[token(0, "<x>")], unused=[unused(3, 3)]))[0][0] == "A154"


def test_ranks_know_of_no_control_tokens() -> None:
    ranks = VocabularyData(Tokens.of([b"a", b"b"]))
    declared = DeclaredVocabulary("x.kata:1", "x.tiktoken", control=[token(2, "<a>"), token(10**12, "<b>")])
    help = "if none shall have, declare `unused 3 to 999999999999`"
    assert found(declared, ranks) == [("A160", "x.kata:1", "no token has the ids 3 to 999999999999", help)]
    assert found(replace(declared, unused=[unused(3, 10**12 - 1)]), ranks) == []


@pytest.mark.parametrize(
    "file", sorted(FILES.glob("*.json")) + sorted(FILES.glob("*.model")), ids=lambda file: file.name
)
def test_real_files_fit_what_they_say(file: Path) -> None:
    if file.name == "cases.json":
        return
    read = read_tokenizer_file(file.read_bytes(), where=file.name)
    control = [token(added.id, added.content) for added in read.configuration.added_tokens if added.control]
    added = [token(added.id, added.content) for added in read.configuration.added_tokens if not added.control]
    declared = DeclaredVocabulary("x.kata:1", file.name, control=control, added=added)
    assert found(declared, read.data) == []
    if control:
        assert found(replace(declared, control=control[1:]), read.data)[0][0] == "A164"


CHANGES = {
    "control id of another token": (
        replace(DECLARED, control=[token(2, "<x>"), *DECLARED.control]),
        ("A154", "x.kata:2", 'the id 2 of "<x>" is that of "ab" in x.json'),
    ),
    "control token spelled otherwise": (
        replace(DECLARED, control=[token(4, "<end>"), token(6, "<p>")]),
        ("A154", "x.kata:6", 'the id 6 of "<p>" is that of "<pad>" in x.json'),
    ),
    "control token missing": (
        replace(DECLARED, control=[*DECLARED.control, token(8, "<x>")], size=9),
        ("A162", "x.kata:8", 'x.json has no token 8, here "<x>"'),
    ),
    "unknown no token": (
        replace(DECLARED, unknown=token(9, "<unk>")),
        ("A165", "x.kata:9", 'the unknown token 9 "<unk>" is no token in x.json'),
    ),
    "unknown another": (
        replace(DECLARED, unknown=token(1, "<unk>")),
        ("A165", "x.kata:1", 'the unknown token 1 "<unk>" is "b" in x.json'),
    ),
    "token that is not declared": (
        replace(DECLARED, added=[], unused=[*DECLARED.unused, unused(7, 7)]),
        ("A164", "x.kata:1", 'x.json has the token 7 "\\n\\n", which is not declared'),
    ),
    "unused id with a token": (
        replace(DECLARED, unused=[unused(2, 3), unused(5, 5)]),
        ("A163", "x.kata:unused", "the id 2 has a token"),
    ),
    "unused id of a control token": (
        replace(DECLARED, unused=[unused(3, 3), unused(5, 6)]),
        ("A163", "x.kata:unused", "the id 6 has a token"),
    ),
    "gap": (replace(DECLARED, unused=[unused(3, 3)]), ("A160", "x.kata:1", "no token has the id 5")),
    "size too small for a declared token": (
        replace(DECLARED, size=7),
        ("A161", "x.kata:7", "the id 7 is beyond the declared size, 7"),
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_does_not_fit(name: str) -> None:
    declared, expected = CHANGES[name]
    assert [finding[:3] for finding in found(declared)] == [expected]
    assert all(finding[3] for finding in found(declared))


def test_a_size_below_the_tokens_of_the_artifact() -> None:
    small = VocabularyData(Tokens.of([b"a", b"b"]))
    declared = DeclaredVocabulary("x.kata:1", "x.tiktoken", size=1)
    assert found(declared, small)[0][:3] == ("A161", "x.kata:1", "the id 1 is beyond the declared size, 1")


def test_where_a_missing_control_token_stands_instead() -> None:
    declared = replace(DECLARED, control=[token(4, "<end>"), token(8, "<pad>")], size=9)
    help = {code: help for code, _, _, help in found(declared)}["A162"]
    assert help == '"<pad>" has the id 6 there'


def test_gaps_in_a_row_are_one_finding() -> None:
    findings = found(DeclaredVocabulary("x.kata:1", "x"), VocabularyData(Tokens.by_id({0: b"a", 1: b"b", 9: b"c"})))
    assert [finding[2:] for finding in findings] == [
        ("no token has the ids 2 to 8", "if none shall have, declare `unused 2 to 8`")
    ]


def test_two_ids_of_one_token() -> None:
    data = VocabularyData(Tokens.of([b"a", b"b", b"a"]))
    declared = DeclaredVocabulary("x.kata:1", "x")
    assert [finding[:2] for finding in found(declared, data)] == [("A104", "x, id 0")]
    assert found(replace(declared, control=[token(2, "a")]), data) == []
    assert found(declared, replace(data, unreachable=frozenset({0}))) == []


@pytest.mark.parametrize(
    ("merge", "message"),
    [
        ((3, 1, 2), "the left part of merge 2, id 3, is no token"),
        ((0, 99, 2), "the right part of merge 2, id 99, is no token"),
        ((0, 1, -1), "the result of merge 2, id -1, is no token"),
    ],
)
def test_merges_of_what_is_no_token(merge: tuple[int, int, int], message: str) -> None:
    data = replace(DATA, merges=merge_array([(0, 1, 2), merge]))
    assert [finding[:3] for finding in found(DECLARED, data)] == [("A106", "x.json, merge 2", message)]


def test_a_wrong_artifact_gives_a_few_findings_of_a_kind() -> None:
    data = VocabularyData(Tokens.of([b"a"] * 1000), added=())
    control = [token(number, f"<{number}>") for number in range(2000, 3000)]
    codes = [finding[0] for finding in found(DeclaredVocabulary("x.kata:1", "x", control=control), data)]
    assert codes == ["A162"] * 10 + ["A160"] + ["A104"] * 10
