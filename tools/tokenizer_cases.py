"""Trains one small tokenizer of each algorithm with the official libraries, and prints what they give for some texts.

    python tools/tokenizer_cases.py

writes `tests/artifacts/data/`: the files, and `cases.json` with the ids and the decoded text of every case. Needs the
packages tokenizers and sentencepiece. Training may give other files with other versions of them; the cases always
belong to the files beside them.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import sentencepiece
from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

ROOT = Path(__file__).parents[1]
DATA = ROOT / "tests" / "artifacts" / "data"

SENTENCES = """
The quick brown fox jumps over the lazy dog; it doesn't care, and they've all seen it 123 times.
Katapi compiles a declaration of a model's input layer into typed Python, and proves that the two agree.
Größe, Straße und Übermut: die Vögel singen früh am Morgen, sagte er.
L'été dernier, nous avons mangé des crêpes à Saint-Malo. Ça coûte 12,50 €.
Быстрая коричневая лиса прыгает через ленивую собаку 2024 года.
敏捷的棕色狐狸跳过了懒狗。東京は日本の首都です。빠른 갈색 여우가 게으른 개를 뛰어넘는다.
def encode(self, text: str) -> list[int]:\n\treturn [*text.encode()]  # bytes
{"name": "get_weather", "arguments": {"city": "Zürich", "unit": "celsius"}}
😀 👩‍👩‍👧 naïve café 1/2 ½ ² ³
""".strip().splitlines()

TEXTS = [
    "",
    " ",
    "  ",
    "\n",
    "a",
    " a",
    "a ",
    "Hello, world!",
    "The  quick   brown\n\nfox\t jumps.",
    "it's they've DON'T",
    "1234567890",
    "x = 3.14159; y += 2",
    "Größe Straße Übermut",
    "cafe\u0301 e\u0301",
    "ﬁ Ⅷ ² ﷺ",
    "東京は日本の首都です。",
    "Быстрая лиса",
    "빠른 여우",
    "😀👩‍👩‍👧",
    "\u0378\uffff",
    "\u2581a\u2581\u2581b",
    "a\u00a0b\u3000c\u200bd",
    "zzzzzzzzzzzzzzzzzzzz",
    "^^^^^^^^^^",
    "end with space ",
    "tab\tand\r\nreturn",
    *SENTENCES,
]


def corpus() -> Iterator[str]:
    """What the tokenizers learn from."""
    for _ in range(20):
        yield from SENTENCES
    yield from (ROOT / "README.md").read_text(encoding="utf-8").splitlines()


def byte_level() -> Tokenizer:
    """Like GPT-2."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(
        corpus(),
        trainers.BpeTrainer(
            vocab_size=500,
            show_progress=False,
            special_tokens=["<|endoftext|>"],
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        ),
    )
    tokenizer.add_tokens([AddedToken("<tool>", normalized=True), AddedToken("<end>", lstrip=True, rstrip=True)])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<|endoftext|> $A <|endoftext|>", special_tokens=[("<|endoftext|>", 0)]
    )
    return tokenizer


def split() -> Tokenizer:
    """Like Llama 3 and Qwen: a pattern of its own, NFC."""
    pattern = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    tokenizer = byte_level()
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(pattern + r"|\s*[\r\n]+|\s+(?!\S)|\s+"), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    return tokenizer


def letters() -> Tokenizer:
    """Like Falcon: what cuts behind ByteLevel sees the letters of bytes."""
    tokenizer = byte_level()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Punctuation("contiguous"),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
            pre_tokenizers.Digits(individual_digits=False),
            pre_tokenizers.Split(Regex("[0-9][0-9][0-9]"), "isolated"),
        ]
    )
    return tokenizer


def word_suffix() -> Tokenizer:
    """Like CLIP."""
    tokenizer = Tokenizer(models.BPE(unk_token="<end>", end_of_word_suffix="</w>"))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"), "removed", True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(
        corpus(),
        trainers.BpeTrainer(
            vocab_size=700,
            show_progress=False,
            special_tokens=["<start>", "<end>"],
            end_of_word_suffix="</w>",
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        ),
    )
    tokenizer.post_processor = processors.RobertaProcessing(("<end>", 1), ("<start>", 0), trim_offsets=False)
    return tokenizer


def byte_fallback() -> Tokenizer:
    """Like Llama 2: characters, and bytes for those that are no token."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    tokenizer.train_from_iterator(
        corpus(),
        trainers.BpeTrainer(
            vocab_size=700,
            show_progress=False,
            limit_alphabet=120,
            special_tokens=["<unk>", "<s>", "</s>", *[f"<0x{byte:02X}>" for byte in range(256)]],
        ),
    )
    document = json.loads(tokenizer.to_str())
    document["added_tokens"] = document["added_tokens"][:3]
    tokenizer = Tokenizer.from_str(json.dumps(document))
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    return tokenizer


def unigram() -> Tokenizer:
    """Like XLM-RoBERTa, with a normalization form in the place of a character map."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC(), normalizers.StripAccents()])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(prepend_scheme="always")]
    )
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="always")
    tokenizer.train_from_iterator(
        corpus(),
        trainers.UnigramTrainer(
            vocab_size=400, show_progress=False, unk_token="<unk>", special_tokens=["<s>", "<pad>", "</s>", "<unk>"]
        ),
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return tokenizer


def word_piece() -> Tokenizer:
    """Like BERT."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=16))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.train_from_iterator(
        corpus(),
        trainers.WordPieceTrainer(
            vocab_size=500, show_progress=False, limit_alphabet=150, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
        ),
    )
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return tokenizer


def sentencepiece_model(algorithm: str) -> bytes:
    """A `.model` file; the one of BPE has bytes for what is no token, the other the map nmt_nfkc left out for size."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=corpus(),
        model_writer=model,
        model_type=algorithm,
        vocab_size=700 if algorithm == "bpe" else 350,
        byte_fallback=algorithm == "bpe",
        remove_extra_whitespaces=algorithm == "unigram",
        normalization_rule_name="identity",
        character_coverage=0.98,
        user_defined_symbols=["(", "<tool>"],
        num_threads=1,
        minloglevel=2,
    )
    return model.getvalue()


def main() -> None:
    """Writes the folder."""
    DATA.mkdir(exist_ok=True)
    cases: dict[str, list[dict[str, object]]] = {}
    for make in (byte_level, split, letters, word_suffix, byte_fallback, unigram, word_piece):
        name = f"{make.__name__}.tokenizer.json"
        (DATA / name).write_text(make().to_str(), encoding="utf-8")
        tokenizer = Tokenizer.from_file(str(DATA / name))  # reading may round scores, so the one in memory may differ
        cases[name] = [
            {
                "text": text,
                "ids": (ids := tokenizer.encode(text, add_special_tokens=False).ids),
                "ids_special": tokenizer.encode(text).ids,
                "decoded": tokenizer.decode(ids, skip_special_tokens=False),
            }
            for text in TEXTS
        ]
    for algorithm in ("bpe", "unigram"):
        model = sentencepiece_model(algorithm)
        (DATA / f"{algorithm}.model").write_bytes(model)
        processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        cases[f"{algorithm}.model"] = [{"text": text, "ids": processor.encode(text)} for text in TEXTS]
    lines = [f"{json.dumps(name)}: [\n{_rows(rows)}\n]" for name, rows in cases.items()]
    (DATA / "cases.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def _rows(rows: list[dict[str, object]]) -> str:
    return ",\n".join(json.dumps(row, ensure_ascii=True) for row in rows)


if __name__ == "__main__":
    main()
