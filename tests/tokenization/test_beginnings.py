"""What is put in front of text at the beginning of the input, and where such tokens come from."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from katapi.runtime.assembly import assemble_ids
from katapi.runtime.errors import TokenizerError
from katapi.runtime.origins import token_segments
from katapi.runtime.printed import Printed, fixed, rendering_of
from katapi.runtime.segments import (
    Content,
    ContentSegment,
    ControlSegment,
    ControlToken,
    Literal,
    LiteralSegment,
    Site,
)
from katapi.runtime.tokenization.character_splits import white_space_split
from katapi.runtime.tokenization.configuration import PrependScheme
from katapi.runtime.tokenization.decoder_stages import metaspace_decoder
from katapi.runtime.tokenization.encoding import Encoding
from katapi.runtime.tokenization.engine import PieceEngine
from katapi.runtime.tokenization.longest_match import LongestMatch
from katapi.runtime.tokenization.normal_forms import Nfkd
from katapi.runtime.tokenization.normalizers import InTurn, ReplaceText, Strip, Unchanged
from katapi.runtime.tokenization.pipeline import PipelineTokenizer
from katapi.runtime.tokenization.post_processors import Bare
from katapi.runtime.tokenization.pretokenizers import Chained, Metaspace
from katapi.runtime.tokenization.stages import Normalizer, PreTokenizer
from katapi.runtime.tokenization.text_decoding import TextDecoding
from katapi.runtime.tokenization.vocabulary import Vocabulary
from katapi.runtime.tokenization.vocabulary_data import VocabularyData
from katapi.runtime.unicode.tables import WHITE_SPACE, compatibility

LETTERS = "?▁abfiلاهصى"
VOCABULARY = Vocabulary(control={}, texts=dict(enumerate(LETTERS)))
FIRST = Metaspace("▁", PrependScheme.FIRST, split=True)


def tokenizer(normalizer: Normalizer, pretokenizer: PreTokenizer) -> PipelineTokenizer:
    engine = PieceEngine(pretokenizer, LongestMatch(VocabularyData.of_texts(dict(enumerate(LETTERS))), unknown=0))
    return PipelineTokenizer(
        form=engine.form,
        encoding=lambda: Encoding(engine, normalizer, normalizer),
        post_processor=Bare(),
        decoding=TextDecoding(VOCABULARY, metaspace_decoder("▁", PrependScheme.FIRST)),
        vocabulary=VOCABULARY,
    )


def letters(ids: list[int]) -> str:
    return "".join(LETTERS[token] for token in ids)


PLAIN = tokenizer(Unchanged(), FIRST)
WORDS = Chained(white_space_split(WHITE_SPACE), FIRST)
DROPPING = InTurn(Strip(" ", left=True, right=False), ReplaceText("b", ""))


@pytest.mark.parametrize(
    ("normalizer", "pretokenizer", "text", "first", "elsewhere"),
    [
        (Unchanged(), FIRST, "a a", "▁a▁a", "a▁a"),
        (Unchanged(), WORDS, "a a", "▁aa", "aa"),
        (Unchanged(), WORDS, " a", "a", "a"),
        # What stood at the very beginning is gone, so nothing else stands there.
        (DROPPING, FIRST, "ab", "▁a", "a"),
        (DROPPING, FIRST, " a", "a", "a"),
        (DROPPING, WORDS, "ba", "a", "a"),
        # All that one character becomes stands where that character stood.
        (Nfkd(compatibility("9.0")), WORDS, "ﬁ a", "▁fia", "fia"),
        (Nfkd(compatibility("9.0")), WORDS, "\ufdfa", "▁صلى▁الله▁?ل?ه▁??ل?", "صلىالله?ل?ه??ل?"),
    ],
)
def test_text_at_the_beginning_and_elsewhere(
    normalizer: Normalizer, pretokenizer: PreTokenizer, text: str, first: str, elsewhere: str
) -> None:
    made = tokenizer(normalizer, pretokenizer)
    assert letters(made.encode(text)) == letters(made.encode(text, first=True)) == first
    assert letters(made.encode(text, first=False)) == elsewhere


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("normalizer", [Unchanged(), DROPPING, Nfkd(compatibility("9.0"))])
@pytest.mark.parametrize("pretokenizer", [FIRST, WORDS])
@given(text=st.text(st.sampled_from(" abﬁ\ufdfaé")))
def test_spans_go_with_ids(first: bool, normalizer: Normalizer, pretokenizer: PreTokenizer, text: str) -> None:
    made = tokenizer(normalizer, pretokenizer)
    ids = made.encode(text, first)
    spans = made.spans(text, ids, first)
    assert spans.shape == (len(ids), 2)
    assert (spans[1:] >= spans[:-1]).all()
    assert (spans[:, 0] <= spans[:, 1]).all()


def test_spans_ask_for_the_same_place() -> None:
    ids = PLAIN.encode("a", first=True)
    assert PLAIN.spans("a", ids).tolist() == [[0, 0], [0, 1]]
    with pytest.raises(TokenizerError, match="V103"):
        PLAIN.spans("a", ids, first=False)


class Control(ControlToken):
    """The control token of these tests."""

    END = (99, "<end>")


SITE = Site(1, 1)


def test_only_the_run_at_the_beginning_of_a_payload_is_first() -> None:
    end = ControlSegment(Control.END, SITE)
    literal = LiteralSegment(Literal("a"), SITE)
    text = (Content("b a"), ("x",), 0)
    content = ContentSegment(*text)
    empty = LiteralSegment(Literal(""), SITE)
    parts: list[Printed] = [fixed(empty, literal), text, fixed(end, literal), text]
    segments = rendering_of(parts).segments
    assert segments == [empty, literal, content, end, literal, content]
    ids, run_ends = assemble_ids(parts, PLAIN)
    texts = [letters([token]) if token != 99 else "<end>" for token in ids]
    assert texts == ["▁", "a", "b", "▁", "a", "<end>", "a", "b", "▁", "a"]
    # The mark in front belongs to the segment that it was put in front of.
    ranges = token_segments(segments, run_ends, ids, PLAIN)
    assert ranges[:, 0].tolist() == [1, 1, 2, 2, 2, 3, 4, 5, 5, 5]
    assert (ranges[:, 1] - ranges[:, 0] == 1).all()
    ids, _ = assemble_ids([fixed(end), text], PLAIN)
    assert letters(ids[1:]) == "b▁a"
