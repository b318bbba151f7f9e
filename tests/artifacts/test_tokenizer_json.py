"""Reading tokenizer.json: every stage, the spellings of old files, and the place of what is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from katapi.runtime.artifacts.tokenizer_file import TokenizerFile
from katapi.runtime.artifacts.tokenizer_json import read_tokenizer_json
from katapi.runtime.errors import ArtifactError
from katapi.runtime.json_types import Json
from katapi.runtime.tokenization import configuration as c
from katapi.runtime.tokenization.build import build_tokenizer
from katapi.runtime.tokenization.pipeline import PipelineTokenizer
from tests.artifacts.mutations import damaged_bytes, damaged_json, survives

DATA = Path(__file__).with_name("data")
FILES = sorted(DATA.glob("*.tokenizer.json"))

Document = dict[str, Json]


def document(**members: Json) -> Document:
    """A small file of the model "BPE"; `members` take the place of those at its top."""
    model: Json = {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}
    empty: Document = dict.fromkeys(("normalizer", "pre_tokenizer", "post_processor", "decoder"))
    return {"version": "1.0", "added_tokens": [], **empty, "model": model, **members}


def bpe(**members: Json) -> Document:
    """The model of `document`; `members` take the place of its own."""
    return {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]], **members}


def added(token: int, content: str, **members: Json) -> Document:
    """An added token."""
    flags: Document = dict.fromkeys(("special", "normalized", "lstrip", "rstrip", "single_word"), False)
    return {"id": token, "content": content, **flags, **members}


def read(content: Document) -> TokenizerFile:
    return read_tokenizer_json(json.dumps(content).encode(), where="t.json")


def built(content: Document) -> PipelineTokenizer:
    file = read(content)
    return build_tokenizer(file.configuration, file.data)


@pytest.mark.parametrize(
    ("stage", "expected"),
    [
        (None, ()),
        ({"type": "NFC"}, (c.Normalize(c.NormalForm.NFC),)),
        ({"type": "NFKD"}, (c.Normalize(c.NormalForm.NFKD),)),
        ({"type": "Lowercase"}, (c.Lowercase(),)),
        ({"type": "StripAccents"}, (c.StripAccents(),)),
        ({"type": "Nmt"}, (c.Nmt(),)),
        ({"type": "Prepend", "prepend": "▁"}, (c.Prepend("▁"),)),
        ({"type": "Strip", "strip_left": True, "strip_right": False}, (c.Strip(left=True, right=False),)),
        (
            {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
            (c.Replace(c.Verbatim(" "), "▁"),),
        ),
        ({"type": "Precompiled", "precompiled_charsmap": "AAEC"}, (c.Precompiled(),)),
        (
            {
                "type": "BertNormalizer",
                "clean_text": True,
                "handle_chinese_chars": True,
                "strip_accents": None,
                "lowercase": False,
            },
            (c.BertNormalize(clean_text=True, handle_chinese_chars=True, strip_accents=None, lowercase=False),),
        ),
        (
            {
                "type": "Sequence",
                "normalizers": [{"type": "NFD"}, {"type": "Sequence", "normalizers": [{"type": "NFKC"}]}],
            },
            (c.Normalize(c.NormalForm.NFD), c.Normalize(c.NormalForm.NFKC)),
        ),
    ],
)
def test_normalizers(stage: Json, expected: tuple[c.Normalizer, ...]) -> None:
    assert read(document(normalizer=stage)).configuration.normalizers == expected


@pytest.mark.parametrize(
    ("stage", "expected"),
    [
        ({"type": "ByteLevel", "add_prefix_space": True}, c.ByteLevel(add_prefix_space=True, use_regex=True)),
        ({"type": "Digits", "individual_digits": True}, c.Digits(individual=True)),
        ({"type": "Punctuation"}, c.Punctuation(c.Behaviour.ISOLATED)),
        ({"type": "Whitespace"}, c.Whitespace()),
        ({"type": "WhitespaceSplit"}, c.WhitespaceSplit()),
        ({"type": "BertPreTokenizer"}, c.BertPreTokenize()),
        (
            {"type": "CharDelimiterSplit", "delimiter": "x"},
            c.Split(c.Verbatim("x"), c.Behaviour.REMOVED, invert=False),
        ),
        (
            {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithNext", "invert": True},
            c.Split(c.Verbatim(" "), c.Behaviour.MERGED_WITH_NEXT, invert=True),
        ),
        (  # as files before tokenizers 0.15 write it
            {"type": "Metaspace", "replacement": "▁", "str_rep": "▁", "add_prefix_space": True},
            c.Metaspace("▁", c.PrependScheme.ALWAYS, split=True),
        ),
        (
            {"type": "Metaspace", "replacement": "▁", "add_prefix_space": False},
            c.Metaspace("▁", c.PrependScheme.NEVER, split=True),
        ),
        (
            {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": False},
            c.Metaspace("▁", c.PrependScheme.FIRST, split=False),
        ),
    ],
)
def test_pretokenizers(stage: Json, expected: c.PreTokenizer) -> None:
    assert read(document(pre_tokenizer=stage)).configuration.pretokenizers == (expected,)


def test_post_processors_add_up_from_within() -> None:
    inner: Json = {
        "type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": "x", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
        "special_tokens": {"x": {"id": "x", "ids": [7, 8], "tokens": ["x", "x"]}},
    }
    outer: Json = {"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 0]}
    stages: Json = {"type": "Sequence", "processors": [{"type": "ByteLevel"}, inner, outer]}
    assert read(document(post_processor=stages)).configuration.frame == c.Frame(before=(0, 7, 8), behind=(2,))


def test_no_decoder_joins_with_spaces() -> None:
    assert built(document()).decode_text([0, 2]) == "a ab"


@pytest.mark.parametrize(
    "model",
    [
        {"vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]},
        {"vocab": {"a": 0, "b": 1, "ab": 2}, "unk_token": "a", "max_input_chars_per_word": 9},
        {"vocab": [["a", -1.0], ["b", -2], ["ab", -1.5]], "unk_id": 0},
    ],
)
def test_a_model_without_type_is_known_by_its_members(model: Json) -> None:
    assert built(document(model=model)).encode("ab") == [2]


def test_byte_letters_become_bytes() -> None:
    stage: Json = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}
    data = read(
        document(pre_tokenizer=stage, model=bpe(vocab={"Ã": 0, "©": 1, "Ã©": 2, "né ": 3}, merges=["Ã ©"]))
    ).data
    assert [*data.tokens] == [b"\xc3", b"\xa9", "é".encode(), "né ".encode()]
    assert data.unreachable == {3}  # no bytes are written like this
    assert data.merges.tolist() == [[0, 1, 2]]


def test_no_text_yields_an_added_token() -> None:
    special = added(2, "ab", special=True)
    assert built(document(added_tokens=[special])).encode("ab") == [0, 1]
    assert built(document(added_tokens=[added(3, "aab")])).encode("aab") == [0, 2]


def test_added_white_space_is_text() -> None:
    model = bpe(vocab={"\n": 0, "\n\n": 1, "a": 2}, merges=[["\n", "\n"]])
    tokens: Json = [added(0, "\n"), added(1, "\n\n")]
    assert built(document(added_tokens=tokens, model=model)).encode("a\n\na") == [2, 1, 2]


def test_an_id_between_vocabulary_and_added_tokens_may_be_missing() -> None:
    tokenizer = built(document(added_tokens=[added(9, "<x>")]))
    assert tokenizer.vocabulary_size == 10
    assert tokenizer.decode([9]) == b"<x>"


SPLIT = {"type": "Split", "pattern": {"Regex": "a"}, "behavior": "Isolated", "invert": False}


@pytest.mark.parametrize(
    ("changed", "place", "message"),
    [
        ({"normalizer": {"type": "Upper"}}, "normalizer.type", "unknown type"),
        ({"normalizer": {}}, "normalizer.type", "expected text"),
        ({"normalizer": {"type": "Sequence"}}, "normalizer.normalizers", "expected a list"),
        ({"normalizer": {"type": "Strip", "strip_left": 1}}, "normalizer.strip_left", "expected true or false"),
        ({"normalizer": {"type": "Precompiled", "precompiled_charsmap": "?"}}, "precompiled_charsmap", "base64"),
        ({"pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Digits"}]}}, "[0].individual_digits", ""),
        ({"pre_tokenizer": {**SPLIT, "behavior": "Glued"}}, "pre_tokenizer.behavior", "Glued"),
        ({"pre_tokenizer": {**SPLIT, "pattern": {}}}, "pre_tokenizer.pattern", "expected a pattern"),
        ({"pre_tokenizer": {**SPLIT, "pattern": {"String": ""}}}, "pre_tokenizer.pattern.String", "empty"),
        ({"pre_tokenizer": {"type": "Metaspace", "replacement": "▁▁"}}, "replacement", "one character"),
        (
            {
                "pre_tokenizer": {
                    "type": "Metaspace",
                    "replacement": "▁",
                    "add_prefix_space": False,
                    "prepend_scheme": "first",
                }
            },
            "pre_tokenizer.prepend_scheme",
            "add_prefix_space is false",
        ),
        ({"decoder": {"type": "CTC"}}, "decoder.type", "unknown type"),
        (
            {"post_processor": {"type": "TemplateProcessing", "single": [], "special_tokens": {}}},
            "post_processor.single",
            "the sequence A once",
        ),
        ({"added_tokens": [added(3, "x"), added(3, "y")]}, "added_tokens[1].id", "another added token"),
        ({"added_tokens": [added(3, "x"), added(4, "x")]}, "added_tokens[1].content", "comes twice"),
        ({"added_tokens": [added(5, "a")]}, "model.vocab.a", "the id 0 here and 5 in added_tokens"),
        ({"added_tokens": [added(0, "x")]}, "model.vocab.a", 'added_tokens gives the id 0 to "x"'),
        ({"added_tokens": [added(-1, "x")]}, "added_tokens[0].id", "from 0 to 4294967295"),
        ({"model": bpe(type="Hashing")}, "model.type", "known: BPE, Unigram, WordPiece"),
        ({"model": {}}, "model", "type of the model is missing"),
        ({"model": bpe(vocab={})}, "model.vocab", "empty"),
        ({"model": bpe(vocab={"a": 0, "b": 0, "ab": 1})}, "model.vocab.b", 'the id 0 is that of "a" as well'),
        ({"model": bpe(vocab={"a": 0, "b": 1, "ab": 3})}, "model.vocab", "no token has the id 2"),
        ({"model": bpe(vocab={"a": 0, "b": True, "ab": 2})}, "model.vocab.b", "expected an id"),
        ({"model": bpe(merges=["a b", "a  b"])}, "model.merges[1]", "one space between"),
        ({"model": bpe(merges=["a b", ["a", "b"]])}, "model.merges[1]", "everywhere a list"),
        ({"model": bpe(merges=[["a", "b"], ["a", 1]])}, "model.merges[1]", "everywhere a list"),
        ({"model": bpe(merges=[["a", "b"], ["a", "x"]])}, "model.merges[1]", 'the part "x" is no token'),
        ({"model": bpe(dropout=0.1)}, "model.dropout", "random"),
        ({"model": bpe(unk_token="u")}, "model.unk_token", "is no token of the vocabulary"),
        ({"model": {"type": "Unigram", "vocab": [["a", 1], ["a", 2]]}}, "model.vocab[1]", "the same token as id 0"),
        ({"model": {"type": "Unigram", "vocab": [["a", "1"]]}}, "model.vocab[0]", "a finite number"),
        ({"model": {"type": "Unigram", "vocab": [["a", 1]], "unk_id": 1}}, "model.unk_id", "from 0 to 0"),
        ({"model": {"type": "WordPiece", "vocab": {"a": 0}}}, "model.unk_token", '"[UNK]"'),
    ],
)
def test_the_place_that_is_wrong(changed: Document, place: str, message: str) -> None:
    with pytest.raises(ArtifactError) as caught:
        read(document(**changed))
    assert caught.value.where.startswith("t.json: ")
    assert caught.value.where.endswith(place)
    assert message in f"{caught.value.message} {caught.value.help}"


def test_a_merge_whose_result_is_no_token() -> None:
    with pytest.raises(ArtifactError, match=r"A106.*'ba' is no token"):
        read(document(model=bpe(merges=["b a"])))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"\xff{}", "not UTF-8"),
        (b'{"model": NaN}', "NaN"),
        (b'{"model": {"a": 1, "a": 2}}', 'the key "a" comes twice'),
        (b"[" * 1_000_000, "nests too deep"),
        (b'{"a": ' + b"9" * 10_000 + b"}", "number too long"),
    ],
)
def test_what_is_no_json(data: bytes, message: str) -> None:
    with pytest.raises(ArtifactError, match=f"A133 at t.json.*{message}"):
        read_tokenizer_json(data, where="t.json")


@given(st.data(), st.sampled_from(FILES))
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_damaged_values(data: st.DataObject, file: Path) -> None:
    survives(data.draw(damaged_json(file.read_bytes())))


@given(st.data(), st.sampled_from(FILES))
def test_damaged_bytes(data: st.DataObject, file: Path) -> None:
    survives(data.draw(damaged_bytes(file.read_bytes())))
