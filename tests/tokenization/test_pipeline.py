"""The tokenizer as a whole, over a vocabulary of the 256 bytes and a few words, with NFC in front."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from katapi.runtime.errors import TokenizerError
from katapi.runtime.tokenization.byte_pairs import BytePairs
from katapi.runtime.tokenization.decoding import ByteDecoding
from katapi.runtime.tokenization.encoding import Encoding
from katapi.runtime.tokenization.engine import PieceEngine
from katapi.runtime.tokenization.interface import Tokenizer
from katapi.runtime.tokenization.normal_forms import Nfc
from katapi.runtime.tokenization.pipeline import PipelineTokenizer
from katapi.runtime.tokenization.post_processors import Framed
from katapi.runtime.tokenization.pretokenizers import Whole
from katapi.runtime.tokenization.tokens import Tokens
from katapi.runtime.tokenization.vocabulary import Vocabulary
from katapi.runtime.tokenization.vocabulary_data import VocabularyData
from katapi.runtime.unicode import tables

WORDS = [b"ab", "é".encode(), b"aa", b"aaaa", "中".encode()[:2], "中".encode()]
TOKENS = [*(bytes([byte]) for byte in range(256)), *WORDS]
CONTROL = {300: "<end>", 301: "<ab>"}


def tokenizer() -> Tokenizer:
    vocabulary = Vocabulary(table=Tokens.of(TOKENS), control=CONTROL)
    engine = PieceEngine(Whole(), BytePairs(VocabularyData(Tokens.of(TOKENS))))
    normalizer = Nfc(tables.normalization("9.0"))
    return PipelineTokenizer(
        form=engine.form,
        encoding=lambda: Encoding(engine, normalizer, normalizer),
        post_processor=Framed([300], [301, 301]),
        decoding=ByteDecoding(vocabulary),
        vocabulary=vocabulary,
    )


TOKENIZER = tokenizer()
TEXTS = st.text(st.sampled_from("abé中<end>e\u0301\u0323😀") | st.characters(codec="utf-8"), max_size=30)
IDS = st.lists(st.integers(0, len(TOKENS) - 1) | st.sampled_from(list(CONTROL)))


@given(TEXTS)
def test_content_never_gives_a_control_id(text: str) -> None:
    assert not CONTROL.keys() & set(TOKENIZER.encode(text))


@pytest.mark.parametrize("spelling", CONTROL.values())
def test_the_spelling_of_a_control_token_is_text(spelling: str) -> None:
    ids = TOKENIZER.encode(spelling)
    assert max(ids) < 300
    assert TOKENIZER.decode(ids) == spelling.encode()


@given(TEXTS)
def test_decoding_gives_back_the_normalized_text(text: str) -> None:
    assert TOKENIZER.decode_text(TOKENIZER.encode(text)) == Nfc(tables.normalization("9.0")).normalize(text)


@given(TEXTS)
def test_spans_cover_the_text_in_order(text: str) -> None:
    ids = TOKENIZER.encode(text)
    spans = TOKENIZER.spans(text, ids)
    assert spans.shape == (len(ids), 2)
    assert spans.dtype == "int64"
    if ids:
        assert (spans[0, 0], spans[-1, 1]) == (0, len(text.encode()))
        assert (spans[:, 0] < spans[:, 1]).all()
        assert (spans[1:] >= spans[:-1]).all()
        assert (spans[1:, 0] <= spans[:-1, 1]).all()
    for start, end in spans.tolist():
        text.encode()[start:end].decode()


def test_spans_of_known_texts() -> None:
    assert TOKENIZER.spans("ab中", TOKENIZER.encode("ab中")).tolist() == [[0, 2], [2, 5]]
    assert TOKENIZER.spans("ae\u0301b", TOKENIZER.encode("ae\u0301b")).tolist() == [[0, 1], [1, 4], [4, 5]]
    # ẹ is three single bytes here, all of them made from e and the dot below.
    assert TOKENIZER.spans("e\u0323", TOKENIZER.encode("e\u0323")).tolist() == [[0, 3]] * 3
    assert TOKENIZER.spans("😀", TOKENIZER.encode("😀")).tolist() == [[0, 4]] * 4  # four bytes of one character
    assert TOKENIZER.spans("", []).shape == (0, 2)


@pytest.mark.parametrize(
    ("text", "ids"), [("ab", [97]), ("ab", [97, 98, 98]), ("", [97]), ("a", [300]), ("a", [-1]), ("a", [])]
)
def test_spans_of_ids_of_another_text(text: str, ids: list[int]) -> None:
    with pytest.raises(TokenizerError, match="V103"):
        TOKENIZER.spans(text, ids)


def test_what_the_post_processor_adds() -> None:
    assert TOKENIZER.post_process([97]) == [300, 97, 301, 301]


@given(IDS)
def test_pushes_and_finish_give_what_decode_gives(ids: list[int]) -> None:
    decoder = TOKENIZER.decoder()
    assert b"".join([*map(decoder.push, ids), decoder.finish()]) == TOKENIZER.decode(ids)


def test_decoding_keeps_control_tokens_and_marks_broken_characters() -> None:
    assert TOKENIZER.decode([97, 300]) == b"a<end>"
    assert TOKENIZER.decode_text([0xE4, 0xB8, 97, 0xFF, 301]) == "\ufffda\ufffd<ab>"


@pytest.mark.parametrize("token", [-1, len(TOKENS), 299, 302, 10**12])
def test_an_unknown_id(token: int) -> None:
    with pytest.raises(TokenizerError, match=f"V102.*{token}(.|\n)*301"):
        TOKENIZER.decode([97, token])
    with pytest.raises(TokenizerError, match=f"V102.*{token}(.|\n)*301"):
        TOKENIZER.decoder().push(token)


def test_a_decoder_that_has_finished() -> None:
    decoder = TOKENIZER.decoder()
    decoder.finish()
    with pytest.raises(TokenizerError, match="V104"):
        decoder.push(97)


@pytest.mark.parametrize("text", ["a\ud800", "a\udfffb", "a\ud83d\ude00"])
def test_a_lone_surrogate(text: str) -> None:
    with pytest.raises(TokenizerError, match="V101 at character 1"):
        TOKENIZER.encode(text)
    with pytest.raises(TokenizerError, match="V101 at character 1"):
        TOKENIZER.spans(text, [])


def test_the_size_counts_ids_that_no_token_has() -> None:
    assert TOKENIZER.vocabulary_size == 302


@pytest.mark.parametrize(("control", "texts"), [({5: "x"}, {}), ({300: "x"}, {300: "y"}), ({300: "x"}, {5: "y"})])
def test_two_tokens_of_one_id(control: dict[int, str], texts: dict[int, str]) -> None:
    with pytest.raises(ValueError, match="two tokens have the id"):
        Vocabulary(table=Tokens.of(TOKENS), control=control, texts=texts)
