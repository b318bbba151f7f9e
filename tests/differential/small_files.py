"""Small tokenizer files of every algorithm and format, trained here with the official libraries: nothing is fetched."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable
from functools import cache

import sentencepiece
import tokenizers
from tokenizers import AddedToken, Regex, decoders, normalizers, pre_tokenizers, processors

from katapi.runtime.artifacts.families import CL100K, KIMI, O200K
from katapi.runtime.artifacts.sentencepiece_model import read_sentencepiece
from tests.artifacts.test_gguf import BYTE, CONTROL, NORMAL, UNKNOWN, gguf, keys
from tests.differential.officials import File
from tools import tokenizer_cases as cases


def _saved(make: Callable[[], tokenizers.Tokenizer]) -> Callable[[], File]:
    return lambda: File(make().to_str().encode())


# ---- tokenizer.json: bytes


def _bytes_behind(*splits: pre_tokenizers.PreTokenizer) -> pre_tokenizers.PreTokenizer:
    bytes_ = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    return pre_tokenizers.Sequence([*splits, bytes_])


def _isolated(pattern: str) -> pre_tokenizers.PreTokenizer:
    return pre_tokenizers.Split(Regex(pattern), "isolated")


def _chained() -> tokenizers.Tokenizer:
    """Like DeepSeek V3: three patterns, one behind the other."""
    tokenizer = cases.byte_level()
    tokenizer.pre_tokenizer = _bytes_behind(
        _isolated(r"\p{N}{1,3}"),
        _isolated("[一-龥\u3040-ゟ゠-ヿ]+"),
        _isolated(
            "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"
            "| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"
        ),
    )
    return tokenizer


def _intersection() -> tokenizers.Tokenizer:
    """Like Kimi K2: classes without Han."""
    tokenizer = cases.byte_level()
    tokenizer.pre_tokenizer = _bytes_behind(_isolated(KIMI))
    return tokenizer


def _whole_tokens() -> tokenizers.Tokenizer:
    """Like Llama 3: a piece that is a token is that token, whatever the merges say."""
    tokenizer = cases.byte_level()
    tokenizer.pre_tokenizer = _bytes_behind(_isolated(CL100K))
    document = json.loads(tokenizer.to_str())
    document["model"]["ignore_merges"] = True
    document["model"]["merges"] = document["model"]["merges"][::2]  # so that some tokens cannot be merged
    vocabulary = document["model"]["vocab"]
    parts = {part for merge in document["model"]["merges"] for part in merge}
    assert parts <= vocabulary.keys()
    return tokenizers.Tokenizer.from_str(json.dumps(document))


def _roberta() -> tokenizers.Tokenizer:
    tokenizer = cases.byte_level()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.post_processor = processors.RobertaProcessing(
        ("<|endoftext|>", 0), ("<end>", 501), add_prefix_space=False
    )
    return tokenizer


# ---- tokenizer.json: characters


def _gemma() -> tokenizers.Tokenizer:
    tokenizer = cases.byte_fallback()
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    tokenizer.add_tokens([AddedToken("\n\n", normalized=False)])
    return tokenizer


def _mistral() -> tokenizers.Tokenizer:
    tokenizer = cases.byte_fallback()
    tokenizer.normalizer = None
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    return tokenizer


def _characters_and_no_bytes() -> tokenizers.Tokenizer:
    """Unknown characters one by one, and a suffix at the end of words."""
    tokenizer = cases.byte_fallback()
    document = json.loads(tokenizer.to_str())
    document["model"] |= {"byte_fallback": False, "fuse_unk": False}
    document["pre_tokenizer"] = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "never", "split": True}
    return tokenizers.Tokenizer.from_str(json.dumps(document))


def _cased() -> tokenizers.Tokenizer:
    tokenizer = cases.word_piece()
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False)
    return tokenizer


def _t5() -> tokenizers.Tokenizer:
    tokenizer = cases.unigram()
    tokenizer.normalizer = normalizers.Precompiled(charsmap())
    return tokenizer


def _xlnet() -> tokenizers.Tokenizer:
    tokenizer = cases.unigram()
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Replace("``", '"'),
            normalizers.Replace("''", '"'),
            normalizers.NFKD(),
            normalizers.StripAccents(),
            normalizers.Lowercase(),
            normalizers.Precompiled(charsmap()),
            normalizers.Replace(Regex(" {2,}"), " "),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    return tokenizer


# ---- SentencePiece


@cache
def _trained(algorithm: str, rule: str, byte_fallback: bool, remove_extra: bool) -> bytes:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=cases.corpus(),
        model_writer=model,
        model_type=algorithm,
        vocab_size=600 if byte_fallback else 350,
        byte_fallback=byte_fallback,
        remove_extra_whitespaces=remove_extra,
        normalization_rule_name=rule,
        character_coverage=0.98,
        hard_vocab_limit=False,
        num_threads=1,
        minloglevel=2,
    )
    return model.getvalue()


@cache
def charsmap() -> bytes:
    """The character map nmt_nfkc."""
    return read_sentencepiece(_trained("unigram", "nmt_nfkc", False, True), where="trained here").data.charsmap


def _model(algorithm: str, rule: str, byte_fallback: bool, remove_extra: bool) -> Callable[[], File]:
    return lambda: File(_trained(algorithm, rule, byte_fallback, remove_extra))


# ---- ranks


@cache
def _ranks() -> list[bytes]:
    """The tokens of the byte-level tokenizer in the order of their merges, behind all bytes."""
    values = {letter: byte for byte, letter in enumerate(_letters())}
    merges = json.loads(cases.byte_level().to_str())["model"]["merges"]
    merged = [bytes(map(values.__getitem__, left + right)) for left, right in merges]
    return [*dict.fromkeys([*(bytes([byte]) for byte in range(256)), *merged])]


def _letters() -> list[str]:
    printed = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = iter(range(0x100, 0x200))
    return [chr(byte) if byte in printed else chr(next(others)) for byte in range(256)]


def _tiktoken() -> File:
    lines = [base64.b64encode(token) + b" %d\n" % rank for rank, token in enumerate(_ranks())]
    return File(b"".join(lines), pattern=O200K)


def _tekken() -> File:
    config = {"pattern": CL100K, "default_vocab_size": 320, "default_num_special_tokens": 20}
    items = [
        {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": None}
        for rank, token in enumerate(_ranks())
    ]
    return File(json.dumps({"config": config, "vocab": items}).encode())


# ---- GGUF


def _gguf_of_bytes() -> File:
    tokenizer = cases.byte_level()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.post_processor = processors.ByteLevel()
    source = json.loads(tokenizer.to_str())
    ids: dict[str, int] = tokenizer.get_vocab()
    tokens = sorted(ids, key=ids.__getitem__)
    special = {token["content"] for token in source["added_tokens"]}
    pairs = keys(
        model="gpt2",
        pre="gpt-2",
        tokens=tokens,
        token_type=[CONTROL if token in special else NORMAL for token in tokens],
        merges=[" ".join(merge) for merge in source["model"]["merges"]],
        bos_token_id=0,
        eos_token_id=0,
    )
    return File(gguf(pairs), same_as=File(json.dumps(source).encode()))


def _gguf_of_pieces(model: str, algorithm: str, rule: str, byte_fallback: bool, remove_extra: bool) -> File:
    data = _trained(algorithm, rule, byte_fallback, remove_extra)
    processor = sentencepiece.SentencePieceProcessor(model_proto=data)
    kinds = [(processor.is_unknown, UNKNOWN), (processor.is_control, CONTROL), (processor.is_byte, BYTE)]
    ids = range(processor.get_piece_size())
    pairs = keys(
        model=model,
        tokens=[processor.id_to_piece(token) for token in ids],
        scores=[processor.get_score(token) for token in ids],
        token_type=[next((kind for is_such, kind in kinds if is_such(token)), NORMAL) for token in ids],
        unknown_token_id=processor.unk_id(),
        bos_token_id=processor.bos_id(),
        eos_token_id=processor.eos_id(),
        remove_extra_whitespaces=remove_extra,
    )
    if rule != "identity":
        pairs |= keys(precompiled_charsmap=[*charsmap()])
    return File(gguf(pairs), same_as=File(data))


def _gguf_of_words() -> File:
    tokenizer = cases.word_piece()
    document = json.loads(tokenizer.to_str())
    document["model"]["max_input_chars_per_word"] = 1 << 20  # llama.cpp has no such limit
    document["model"]["vocab"] = {text: token for text, token in document["model"]["vocab"].items() if text}
    ids: dict[str, int] = document["model"]["vocab"]
    controls = {token["content"] for token in document["added_tokens"]}

    def spelled(text: str) -> str:
        return text if text in controls else text.removeprefix("##") if text.startswith("##") else f"▁{text}"

    pairs = keys(
        model="bert",
        tokens=[spelled(text) for text in sorted(ids, key=ids.__getitem__)],
        token_type=[CONTROL if text in controls else NORMAL for text in sorted(ids, key=ids.__getitem__)],
        unknown_token_id=ids["[UNK]"],
        cls_token_id=ids["[CLS]"],
        seperator_token_id=ids["[SEP]"],  # so spelled by the format
    )
    return File(gguf(pairs), same_as=File(json.dumps(document).encode()))


SMALL: dict[str, Callable[[], File]] = {
    "bytes like gpt2, tokenizer.json": _saved(cases.byte_level),
    "bytes like qwen3, tokenizer.json": _saved(cases.split),
    "bytes like llama3, tokenizer.json": _saved(_whole_tokens),
    "bytes like deepseek-v3, tokenizer.json": _saved(_chained),
    "bytes like kimi-k2, tokenizer.json": _saved(_intersection),
    "bytes like roberta, tokenizer.json": _saved(_roberta),
    "bytes like falcon, tokenizer.json": _saved(cases.letters),
    "bytes like clip, tokenizer.json": _saved(cases.word_suffix),
    "characters like llama2, tokenizer.json": _saved(cases.byte_fallback),
    "characters like gemma, tokenizer.json": _saved(_gemma),
    "characters like mistral, tokenizer.json": _saved(_mistral),
    "characters without bytes, tokenizer.json": _saved(_characters_and_no_bytes),
    "unigram of a normal form, tokenizer.json": _saved(cases.unigram),
    "unigram like t5, tokenizer.json": _saved(_t5),
    "unigram like xlnet, tokenizer.json": _saved(_xlnet),
    "words like bert-uncased, tokenizer.json": _saved(cases.word_piece),
    "words like bert-cased, tokenizer.json": _saved(_cased),
    "bpe like llama2, .model": _model("bpe", "identity", True, False),
    "bpe of nmt_nfkc, .model": _model("bpe", "nmt_nfkc", False, True),
    "unigram like t5, .model": _model("unigram", "nmt_nfkc", False, True),
    "unigram that keeps spaces, .model": _model("unigram", "nmt_nfkc", False, False),
    "unigram with bytes, .model": _model("unigram", "nmt_nfkc_cf", True, True),
    "ranks like o200k, .tiktoken": _tiktoken,
    "ranks like tekken, tekken.json": _tekken,
    "bytes like gpt2, GGUF": _gguf_of_bytes,
    "bpe like llama2, GGUF": lambda: _gguf_of_pieces("llama", "bpe", "identity", True, False),
    "unigram like t5, GGUF": lambda: _gguf_of_pieces("t5", "unigram", "nmt_nfkc", False, True),
    "words like bert, GGUF": _gguf_of_words,
}
"""By algorithm, model and format."""
