"""Where official libraries disagree: every row of the table in `docs/tokenizers.md` is what they give, and Katapi."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import sentencepiece
import tokenizers
from tokenizers import Regex, models, normalizers, pre_tokenizers
from tokenizers.decoders import DecodeStream

import katapi
from katapi.runtime.json_types import Json
from tests.differential.small_files import SMALL, charsmap
from tools import tokenizer_cases as cases

PAGE = (Path(__file__).parents[2] / "docs" / "tokenizers.md").read_text(encoding="utf-8")
TABLE = PAGE.split("## Where official libraries disagree")[1]


@dataclass(frozen=True)
class Row:
    """What stands in one row, but for the reason."""

    what: str
    input: Json
    one: str
    other: str
    katapi: str

    @property
    def line(self) -> str:
        cells = (f"`{json.dumps(self.input)}`", self.one, self.other, self.katapi)
        return f"| {self.what} | {' | '.join(cells)} |"


def ours(data: bytes) -> katapi.FileTokenizer:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        path.write_bytes(data)
        return katapi.tokenizer_from_file(path)


def split_by(pretokenizer: pre_tokenizers.PreTokenizer, text: str) -> str:
    return shown([piece for piece, _ in pretokenizer.pre_tokenize_str(text)])


def shown(value: Json) -> str:
    return f"`{json.dumps(value)}`"


def characters(pretokenizer: pre_tokenizers.PreTokenizer, text: str) -> katapi.FileTokenizer:
    """A tokenizer of these characters, so that its pieces show as WordPiece tokens: one for each piece."""
    pieces = [piece for piece, _ in pretokenizer.pre_tokenize_str(text)]
    vocabulary = {piece: number for number, piece in enumerate(dict.fromkeys(["[UNK]", *pieces, *text, text]))}
    tokenizer = tokenizers.Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pretokenizer
    return ours(tokenizer.to_str().encode())


def katapi_split(pretokenizer: pre_tokenizers.PreTokenizer, text: str) -> str:
    tokenizer = characters(pretokenizer, text)
    return shown([tokenizer.decode([token]).decode() for token in tokenizer.encode(text)])


def classes(what: str, text: str, one: pre_tokenizers.PreTokenizer, other: pre_tokenizers.PreTokenizer) -> Row:
    """One class of characters in two stages of tokenizers; Katapi does as each of them."""
    katapis = {katapi_split(one, text): "first", katapi_split(other, text): "second"}
    assert [*katapis] == [split_by(one, text), split_by(other, text)]
    return Row(what, text, split_by(one, text), split_by(other, text), "as each")


def punctuation() -> Row:
    pattern = pre_tokenizers.Split(Regex(r"\p{P}"), "isolated")
    return classes("Punctuation, and `\\p{P}` in Split", "a\u061d", pre_tokenizers.Punctuation(), pattern)


def digits() -> Row:
    pattern = pre_tokenizers.Split(Regex(r"\p{N}"), "isolated")
    return classes("Digits, and `\\p{N}` in Split", "a\U00011de0", pre_tokenizers.Digits(True), pattern)


def words() -> Row:
    pattern = pre_tokenizers.Split(Regex(r"\w+|[^\w\s]+"), "removed", True)
    return classes(
        "Whitespace, and its pattern `\\w+\\|[^\\w\\s]+` in Split", "a²", pre_tokenizers.Whitespace(), pattern
    )


def clusters() -> Row:
    file = SMALL["unigram like t5, .model"]()
    processor = sentencepiece.SentencePieceProcessor(model_proto=file.data)
    text = "ª\u0301"
    one = processor.normalize(text).removeprefix("▁")
    other = normalizers.Precompiled(charsmap()).normalize_str(text)
    model = ours(file.data)
    assert model.encode(text) == processor.encode(text) != processor.encode(other)
    whole = SMALL["unigram like t5, tokenizer.json"]().data
    assert ours(whole).encode(text) == ours(whole).encode(other)
    return Row("map nmt_nfkc: sentencepiece, tokenizers", text, shown(one), shown(other), "as each, by the file")


def next_line() -> Row:
    """U+0085 is white space for WhitespaceSplit; the map nmt_nfkc keeps it."""
    file = SMALL["unigram like t5, .model"]()
    processor = sentencepiece.SentencePieceProcessor(model_proto=file.data)
    one = processor.normalize("a\x85b").removeprefix("▁")
    other = [piece for piece, _ in pre_tokenizers.WhitespaceSplit().pre_tokenize_str("a\x85b")]
    assert ours(file.data).encode("a\x85b") == processor.encode("a\x85b")
    return Row("T5: sentencepiece, tokenizers", "a\x85b", shown(one), shown(other), "as each, by the file")


def first_space() -> Row:
    file = SMALL["bpe like llama2, .model"]()
    processor = sentencepiece.SentencePieceProcessor(model_proto=file.data)
    metaspace = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    one, other = processor.normalize(" a"), metaspace.pre_tokenize_str(" a")[0][0]
    assert ours(file.data).encode(" a") == processor.encode(" a")
    return Row(
        "a first space: sentencepiece, Metaspace of tokenizers", " a", shown(one), shown(other), "as each, by the file"
    )


def unknown_order() -> Row:
    model = models.BPE({"<unk>": 0, "<0xC3>": 1, "<0xA9>": 2}, [], unk_token="<unk>", byte_fallback=True)
    tokenizer = tokenizers.Tokenizer(model)
    ids = tokenizer.encode("bé").ids
    katapis = ours(tokenizer.to_str().encode()).encode("bé")
    assert ids == katapis
    return Row(
        "BPE with byte fallback, `b` unknown: tokens, their order in the text",
        "bé",
        str(ids),
        "[0, 1, 2]",
        str(katapis),
    )


def gap() -> Row:
    document = json.loads(tokenizers.Tokenizer(models.BPE({"a": 0, "b": 1}, [])).to_str())
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    document["added_tokens"] = [{"id": 2, "content": "<x>", "special": True, **flags}]
    document["added_tokens"].append({"id": 5, "content": "<y>", "special": True, **flags})
    official = tokenizers.Tokenizer.from_str(json.dumps(document)).token_to_id("<y>")
    (katapis,) = [token.id for token in ours(json.dumps(document).encode()).configuration.added_tokens[1:]]
    return Row(
        "an added token with id 5 behind a gap: tokenizers, the file", "<y>", str([official]), "[5]", str([katapis])
    )


def unfinished() -> Row:
    data = SMALL["bytes like gpt2, tokenizer.json"]().data
    tokenizer = tokenizers.Tokenizer.from_str(data.decode())
    token = tokenizer.token_to_id("Ã")
    assert token is not None
    step = DecodeStream(skip_special_tokens=False).step(tokenizer, token)
    assert step is None
    decoder = ours(data).decoder()
    assert decoder.push(token) + decoder.finish() == b"\xc3"
    return Row(
        "the byte C3 alone: decode, DecodeStream of tokenizers",
        "Ã",
        shown(tokenizer.decode([token])),
        "nothing",
        shown(ours(data).decode_text([token])),
    )


def llama_decoded(tokens: list[str]) -> tuple[str, str, str]:
    """What sentencepiece and tokenizers print for tokens of a model like Llama 2, and Katapi from the `.model`."""
    file = SMALL["bpe like llama2, .model"]()
    processor = sentencepiece.SentencePieceProcessor(model_proto=file.data)
    decoder = cases.byte_fallback().decoder
    assert decoder is not None
    katapis = ours(file.data).decode_text([processor.piece_to_id(token) for token in tokens])
    one = processor.decode([processor.piece_to_id(token) for token in tokens])
    return shown(one), shown(decoder.decode(tokens)), shown(katapis)


def unknown_spelling() -> Row:
    tokens = ["▁a", "<unk>"]
    return Row("decoding an unknown token: sentencepiece, tokenizers", tokens, *llama_decoded(tokens))


def broken_bytes() -> Row:
    tokens = ["<0x41>", "<0xFF>"]
    return Row("decoding bytes that are not UTF-8: sentencepiece, tokenizers", tokens, *llama_decoded(tokens))


def space_byte() -> Row:
    tokens = ["<0x20>", "a"]
    return Row("decoding a first space that is a byte: sentencepiece, tokenizers", tokens, *llama_decoded(tokens))


def rounded_score() -> Row:
    """A score that is read one unit in the last place off decides between `ab` and `a`, `b`."""
    b, ab = "-2.5337406812415868", "-4.5337406812415868"
    vocabulary: Json = [["<unk>", -50.0], ["a", -2.0], ["b", float(b)], ["ab", float(ab)]]
    data = json.dumps({"type": "Unigram", "unk_id": 0, "vocab": vocabulary, "byte_fallback": False})
    data = data.replace(json.dumps(float(ab)), ab).replace(json.dumps(float(b)), b)
    document = json.loads(tokenizers.Tokenizer(models.Unigram()).to_str())
    document["model"] = "MODEL"
    whole = json.dumps(document).replace('"MODEL"', data)
    official = tokenizers.Tokenizer.from_str(whole).encode("ab").ids
    exact = [(piece, float(score)) for piece, score in json.loads(data)["vocab"]]
    other = tokenizers.Tokenizer(models.Unigram(exact, 0, False)).encode("ab").ids
    katapis = ours(whole.encode()).encode("ab")
    assert katapis == official
    return Row(
        "Unigram, scores with 17 digits: from tokenizer.json, from numbers",
        "ab",
        str(official),
        str(other),
        str(katapis),
    )


def not_nfc() -> Row:
    data = SMALL["bytes like qwen3, tokenizer.json"]().data
    tokenizer, katapis = tokenizers.Tokenizer.from_str(data.decode()), ours(data)
    ids = tokenizer.encode("e\u0301").ids
    return Row(
        "NFC: decode of encode, the text",
        "e\u0301",
        shown(tokenizer.decode(ids)),
        shown("e\u0301"),
        shown(katapis.decode_text(katapis.encode("e\u0301"))),
    )


def final_sigma() -> Row:
    official = normalizers.Lowercase().normalize_str("ΑΣ")
    tokenizer = tokenizers.Tokenizer(models.WordPiece({"[UNK]": 0, official: 1, "ας": 2}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    katapis = ours(tokenizer.to_str().encode())
    text = katapis.decode(katapis.encode("ΑΣ")).decode()
    return Row("Lowercase: tokenizers, Unicode", "ΑΣ", shown(official), shown("ΑΣ".lower()), shown(text))


ROWS: tuple[Callable[[], Row], ...] = (
    punctuation,
    digits,
    words,
    clusters,
    next_line,
    first_space,
    unknown_order,
    gap,
    unfinished,
    unknown_spelling,
    broken_bytes,
    space_byte,
    rounded_score,
    not_nfc,
    final_sigma,
)


@pytest.mark.parametrize("row", ROWS)
def test_row(row: Callable[[], Row]) -> None:
    found = row()
    assert found.one != found.other
    assert found.line in TABLE


def test_the_table_has_no_other_rows() -> None:
    assert len([line for line in TABLE.splitlines() if line.startswith("|")]) == 2 + len(ROWS)
