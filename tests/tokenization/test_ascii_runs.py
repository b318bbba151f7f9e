"""Normalizing ASCII by a table: the same text as without it."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from katapi.runtime.tokenization import configuration as c
from katapi.runtime.tokenization.ascii_runs import AsciiRuns
from katapi.runtime.tokenization.build_stages import build_normalizer
from katapi.runtime.tokenization.stages import Normalizer
from tests.charsmaps import character_map

MAP = character_map(
    {"\t": " ", "\r": " ", "\n": " ", "\x07": "", "é": "e", "e\u0301": "é", "ﬁ": "fi", "Ａ": "A", "\u200b": ""}
)


def normalizers() -> list[AsciiRuns]:
    stages: list[c.Normalizer] = [
        c.Precompiled(),
        c.BertNormalize(clean_text=True, handle_chinese_chars=True, strip_accents=None, lowercase=True),
        c.BertNormalize(clean_text=True, handle_chinese_chars=True, strip_accents=False, lowercase=False),
        c.BertNormalize(clean_text=False, handle_chinese_chars=False, strip_accents=True, lowercase=True),
    ]
    built = [build_normalizer([stage], c.UnicodeVersions(), MAP) for stage in stages]
    return [one for one in built if isinstance(one, AsciiRuns)]


NORMALIZERS = normalizers()


def texts() -> st.SearchStrategy[str]:
    joining = st.sampled_from(
        ["e", " ", "\r", "\n", "\u0301", "\u0323", "\u200d", "\u0600", "é", "\x07", "中", "\u0e33"]
    )
    return st.lists(joining | st.characters(exclude_categories=["Cs"]), max_size=24).map("".join)


def test_the_normalizers_that_can_be_cut_between_ascii_have_it() -> None:
    assert len(NORMALIZERS) == 4


@pytest.mark.parametrize("index", range(len(NORMALIZERS)))
@given(text=texts())
@example(text="a\r\nb\r\n\u0301c")
@example(text="\u0600 a\u0600b")
@example(text="naïve Ａb é\u0301\u0323 x")
def test_as_the_normalizer_itself(index: int, text: str) -> None:
    runs = NORMALIZERS[index]
    whole: Normalizer = runs._whole
    assert runs.normalize(text) == whole.normalize(text)
    long = text * (2000 // (len(text) or 1))
    assert runs.normalize(long) == whole.normalize(long)
