"""Names of control tokens, and the tables of a vocabulary: rows, ranges, gaps, the unknown token."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from katapi.importing.names import control_names
from katapi.importing.tokenizer import declarations
from katapi.language.parser import parse
from katapi.language.printer import canonical
from katapi.language.source import Source
from katapi.language.syntax import Vocabulary as VocabularyNode
from katapi.model import declarations as d
from katapi.model.resolve.findings import Findings
from katapi.model.resolve.vocabularies import resolve_vocabulary
from katapi.runtime.artifacts.tokenizer_file import TokenizerFile
from katapi.runtime.errors import ArtifactError
from katapi.runtime.tokenization.configuration import AddedToken, BytePairRanks, Frame, TokenizerConfiguration
from katapi.runtime.tokenization.tokens import Tokens
from katapi.runtime.tokenization.vocabulary_data import VocabularyData

NO_FRAME = Frame()


def written(
    added: Sequence[AddedToken], tokens: Sequence[bytes] = (), *, frame: Frame = NO_FRAME, unknown: int | None = None
) -> str:
    """The vocabulary as text."""
    configuration = TokenizerConfiguration(
        (), (), BytePairRanks(), frame, (), unknown=unknown, added_tokens=tuple(added)
    )
    file = TokenizerFile(configuration, VocabularyData(Tokens.of(tokens)))
    vocabulary, _ = declarations(file, name="X", artifact="x", sha256="0" * 64)
    return canonical(vocabulary)


def rows(*texts: str) -> str:
    """A vocabulary with these lines behind the artifact."""
    head = f'vocabulary X version "1" {{\n  artifact "x" sha256 "{"0" * 64}"\n'
    return head + "".join(f"  {text}\n" for text in texts) + "}\n"


def resolved(text: str) -> d.Vocabulary:
    """What a text declares."""
    file, diagnostics = parse(Source("x.kata", text))
    assert not diagnostics
    [node] = file.declarations
    assert isinstance(node, VocabularyNode)
    findings = Findings()
    vocabulary = resolve_vocabulary(node, findings)
    assert not findings.diagnostics
    return vocabulary


# ---- names


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("<|im_start|>", "im_start"),
        ("</think>", "/think"),
        ("[INST]", "inst"),
        ("[/INST]", "/inst"),
        ("<|/tool|>", "/tool"),
        ("<br/>", "br"),
        ("/nothink", "nothink"),
        ("<｜begin▁of▁sentence｜>", "begin_of_sentence"),
        ("<|end-of text|>", "end_of_text"),
        ("|||IP_ADDRESS|||", "ip_address"),
        ("<tool|>", "tool"),
        ("<|0.02|>", "token_9"),
        ("<|Größe|>", "gr_e"),
        ("天", "token_9"),
        ('<|"|>', "token_9"),
    ],
)
def test_names(spelling: str, name: str) -> None:
    assert control_names([AddedToken.of_file(9, spelling, special=True)]) == {9: name}


def test_a_name_belongs_to_the_first_token_that_it_fits() -> None:
    spellings = ["<s>", "</s>", "[s]", "<end_s>", "<|tool>", "<tool|>", "<|tool|>", "<s_2>", "<token_8>", "天"]
    names = ["s", "/s", "s_2_", "end_s_3", "tool", "/tool", "tool_6", "s_2", "token_8", "token_9"]
    tokens = [AddedToken.of_file(number, text, special=True) for number, text in enumerate(spellings)]
    assert control_names(tokens) == dict(enumerate(names))


ODD = st.sampled_from(r"sS012{}_/<>|[]\ '") | st.characters(exclude_categories=["Cs"])
SPELLINGS = st.text(ODD, min_size=1)


FLAGS = st.fixed_dictionaries(
    dict.fromkeys(["special", "normalized", "lstrip", "rstrip", "single_word"], st.booleans())
)


@st.composite
def added_tokens(draw: st.DrawFn) -> list[AddedToken]:
    """Tokens with ids from 10 on, some of which count up; a few ids are left out."""
    spellings = draw(st.lists(SPELLINGS, max_size=8, unique=True))
    prefix, start, width = draw(SPELLINGS), draw(st.integers(0, 120)), draw(st.integers(0, 3))
    counted = [f"{prefix}{number:0{width}d}>" for number in range(start, start + draw(st.integers(0, 10)))]
    at = draw(st.integers(0, len(spellings)))
    every = [*dict.fromkeys([*spellings[:at], *counted, *spellings[at:]])]
    common = draw(FLAGS)
    rarely = st.integers(0, 9).map(lambda number: number == 9)
    return [
        AddedToken.of_file(number, text, **(draw(FLAGS) if draw(rarely) else common))
        for number, text in enumerate(every, start=10)
        if not draw(rarely)
    ]


@given(added_tokens(), st.data())
def test_what_is_declared_is_what_was_there(added: list[AddedToken], data: st.DataObject) -> None:
    controls = [token for token in added if token.control]
    placed = data.draw(st.lists(st.sampled_from([token.id for token in controls]), max_size=2)) if controls else []
    unknown = data.draw(st.none() | st.sampled_from([3, *(token.id for token in added)]))
    vocabulary = resolved(written(added, [b"%d" % n for n in range(8)], frame=Frame(tuple(placed)), unknown=unknown))

    flags = {control.id: control.flags for control in vocabulary.controls}
    for row in vocabulary.reserved:
        flags |= dict.fromkeys(row.spellings(), row.flags)
    assert vocabulary.control_spellings() == {token.id: token.content for token in controls}
    assert flags == {t.id: d.TokenFlags(t.special, t.normalized, t.lstrip, t.rstrip, t.single_word) for t in controls}
    texts = {token.id: token.content for token in added if not token.control} | ({3: "3"} if unknown == 3 else {})
    assert vocabulary.added_texts() == texts
    assert {*placed} <= {control.id for control in vocabulary.controls}
    assert (None if vocabulary.unknown is None else vocabulary.unknown.id) == unknown
    size = max([8, *(token.id + 1 for token in added)])
    assert vocabulary.size == size
    assert {token for row in vocabulary.unused for token in range(row.first, row.last + 1)} == {*range(8, size)} - {
        token.id for token in added
    }


# ---- rows


def reserved(first: int, *numbers: str, pattern: str = "<r_{}>", special: bool = True) -> list[AddedToken]:
    """Tokens whose spellings have these numbers."""
    return [AddedToken.of_file(first + n, pattern.format(text), special=special) for n, text in enumerate(numbers)]


@pytest.mark.parametrize(
    ("numbers", "pattern"),
    [(["0", "1", "2", "3"], "{0}"), (["8", "9", "10", "11"], "{8}"), (["008", "009", "010", "011"], "{008}")],
)
def test_four_that_count_up_share_a_row(numbers: list[str], pattern: str) -> None:
    assert written(reserved(0, *numbers)) == rows("size 4", "control {", f'  0 to 3 "<r_{pattern}>"', "}")


@pytest.mark.parametrize("numbers", ["0 1 2", "3 1 0 2", "0 2 4 6", "1 02 3 4", "08 9 10 11"])
def test_others_do_not(numbers: str) -> None:
    assert " to " not in written(reserved(0, *numbers.split()))


def test_a_gap_another_flag_and_a_token_with_a_part_of_its_own_end_a_range() -> None:
    first = reserved(0, "0", "1", "2", "3")
    assert " 0 to 3 " in written([*first, *reserved(5, "4")])
    assert " 0 to 3 " in written([*first, *reserved(5, "5")])
    assert " 0 to 3 " in written([*first, *reserved(4, "4", special=False)])
    assert " 0 to 3 " in written([*first, *reserved(4, "4")], frame=Frame(behind=(4,)))
    assert " 0 to 3 " in written([*first, *reserved(4, "4")], unknown=4)
    assert " 0 to 4 " in written([*first, *reserved(4, "4")])


def test_of_two_numbers_the_one_that_counts_further_is_counted() -> None:
    added = reserved(0, "1", "2", "3", "4", pattern="<{}_1>")
    assert '0 to 3 "<{1}_1>"' in written(added)
    assert " to " not in written(reserved(0, "1", "2", "3", "4", pattern="{{7}}{}"))


def test_the_whole() -> None:
    added = [
        AddedToken.of_file(3, "<unk>", special=True),
        AddedToken.of_file(4, "\n", special=False, normalized=True),
        AddedToken.of_file(9, "<mask>", special=False, lstrip=True, single_word=True),
        AddedToken.of_file(7, "</s>", special=True, rstrip=True),
    ]
    assert written(added, [b"a", b"b"], unknown=3) == rows(
        "size 10",
        "control {",
        '  3 @unk "<unk>"',
        '  7 @/s "</s>" rstrip',
        '  9 @mask "<mask>" nonspecial lstrip single_word',
        "}",
        "added {",
        '  4 "\\n" normalized',
        "}",
        "unknown @unk",
        "unused 2",
        "unused 5 to 6",
        "unused 8",
    )


def test_an_unknown_token_that_text_can_spell() -> None:
    assert written([], [b"a", b"<unk>"], unknown=1) == rows("size 2", 'unknown 1 "<unk>"')
    assert written([AddedToken.of_file(1, "?", special=False)], [b"a"], unknown=1) == rows("size 2", 'unknown 1 "?"')


def test_an_unknown_token_that_is_no_text() -> None:
    with pytest.raises(ArtifactError) as caught:
        written([], [b"a", b"\xff"], unknown=1)
    assert caught.value.code == "A167"
