"""Small cases that tell readings of a rule apart: the official library, the runtime and the oracle give the same."""

from __future__ import annotations

import sentencepiece
import tokenizers

from katapi.oracle import tokenizer as oracle
from katapi.runtime.artifacts.sentencepiece_model import read_sentencepiece
from katapi.runtime.tokenization import configuration as c
from katapi.runtime.tokenization.build import build_tokenizer
from katapi.runtime.tokenization.tokens import Tokens
from katapi.runtime.tokenization.vocabulary_data import VocabularyData, score_array
from tests.artifacts.test_sentencepiece_model import BPE, HEAD, field, piece
from tests.charsmaps import character_map

BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


def ids(configuration: c.TokenizerConfiguration, data: VocabularyData, text: str) -> list[int]:
    """Those of the runtime, which are those of the oracle, spans as well."""
    expected = oracle.encoded(text, configuration, data)
    tokenizer = build_tokenizer(configuration, data)
    found = tokenizer.encode(text)
    assert found == [token.id for token in expected]
    assert tokenizer.spans(text, found).tolist() == [[token.start, token.end] for token in expected]
    return found


def rules_of(segmentation: c.Segmentation, unknown: int | None, *controls: tuple[int, str]) -> c.TokenizerConfiguration:
    """A tokenizer that does nothing but segment."""
    added = tuple(c.AddedToken(number, text, control=True) for number, text in controls)
    return c.TokenizerConfiguration((), (), segmentation, c.Frame(), (), unknown, added)


def check_with_sentencepiece(model: bytes, text: str) -> None:
    """The library gives the same ids for a text."""
    file = read_sentencepiece(model, where="x.model")
    official = sentencepiece.SentencePieceProcessor(model_proto=model).encode(text)
    assert ids(file.configuration, file.data, text) == official


def test_a_byte_that_is_no_token_falls_back_on_the_bytes_of_its_letter() -> None:
    tokens = ["a", "<unk>", *BYTES]
    numbers = {token: number for number, token in enumerate(tokens)}
    official = tokenizers.Tokenizer(tokenizers.models.BPE(numbers, [], unk_token="<unk>", byte_fallback=True))
    official.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(False, True, False)
    rules = rules_of(c.BytePairMerges(over_bytes=True, byte_fallback=True), 1)
    found = ids(rules, VocabularyData(Tokens.of(token.encode() for token in tokens)), "a\ré")
    assert found == official.encode("a\ré").ids
    assert [tokens[number] for number in found[:3]] == ["a", "<0xC4>", "<0x8D>"]  # U+010D is the letter of 0x0D


def test_of_pairs_alike_in_score_the_leftmost_merges_first() -> None:
    pieces = [piece("bc", -1.0), piece("ab", -1.0), piece("a", -2.0), piece("b", -3.0), piece("c", -4.0)]
    model = HEAD + b"".join(pieces) + field(2, field(3, BPE)) + field(3, field(3, 0) + field(4, 0))
    for text in ("abc", "bcabc", "abcabcbcab"):
        check_with_sentencepiece(model, text)


def test_a_text_of_which_a_character_map_leaves_nothing_has_its_dummy_space() -> None:
    pieces = HEAD + piece("▁", -1.0) + piece("a", -2.0)
    charsmap = field(2, character_map({"z": "", "x": " "}))
    for extra in (0, 1):
        model = pieces + field(3, charsmap + field(3, 1) + field(4, extra))
        for text in ("z", "zz", "zx", "za", "a", "x", ""):
            check_with_sentencepiece(model, text)


def test_a_control_token_stands_for_no_byte() -> None:
    tokens = ["<unk>", "a", *BYTES]
    data = VocabularyData(
        Tokens.of(token.encode() for token in tokens),
        scores=score_array([-1.0] * len(tokens)),
        lowest=-1.0,
        unreachable=frozenset(range(2, 258)),
    )
    control = tokens.index("<0xA9>")
    for segmentation in (
        c.BytePairScores(byte_fallback=True),
        c.Unigram(byte_fallback=True, binary32=True),
        c.Unigram(byte_fallback=True, binary32=False),
    ):
        assert ids(rules_of(segmentation, 0), data, "aé") == [1, 2 + 0xC3, 2 + 0xA9]
        assert ids(rules_of(segmentation, 0, (control, "<0xA9>")), data, "aé") == [1, 0]


def test_an_empty_suffix_takes_nothing_off_the_whole() -> None:
    stages = (c.Fuse(), c.DecodeSuffix(""))
    rules = c.TokenizerConfiguration((), (), c.LongestMatch(), c.Frame(), stages, 0)
    data = VocabularyData(Tokens.of([b"<unk>", b"ab", b"c"]))
    official = tokenizers.decoders.Sequence([tokenizers.decoders.Fuse(), tokenizers.decoders.BPEDecoder("")])
    assert build_tokenizer(rules, data).decode_text([1, 2]) == official.decode(["ab", "c"]) == "abc"
    assert oracle.shown([1, 2], rules, data) == "abc"
