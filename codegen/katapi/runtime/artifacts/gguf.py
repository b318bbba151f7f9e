"""Reads the vocabulary of a GGUF file: the keys `tokenizer.ggml.*` (GGUF specification of the project ggml).

Such a file names its pre-tokenizer (`tokenizer.ggml.pre`) and does not say what it is; `families.py` knows. It names no
normalizer, and llama.cpp applies none, even where the model's own tokenizer has one (NFC).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import IntEnum
from math import isfinite

from katapi.runtime.artifacts.families import FAMILIES
from katapi.runtime.artifacts.gguf_header import Value, read_pairs
from katapi.runtime.artifacts.merge_lists import merge_data, text_tokens
from katapi.runtime.artifacts.tokenizer_file import TokenizerFile
from katapi.runtime.dataclass import dataclass
from katapi.runtime.errors import ArtifactError
from katapi.runtime.places import quoted
from katapi.runtime.tokenization import configuration as c
from katapi.runtime.tokenization.tokens import Tokens
from katapi.runtime.tokenization.vocabulary_data import VocabularyData, score_array

_MARK = "▁"
_NO_LIMIT = (1 << 31) - 1  # characters of a word: llama.cpp cuts words of any length
_KEYS = "tokenizer.ggml."


class _Kind(IntEnum):
    """What a token is for (`tokenizer.ggml.token_type`)."""

    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


def read_gguf(data: bytes, *, where: str) -> TokenizerFile:
    """The tokenizer of a GGUF file; `where` names it in errors.

    Raises `ArtifactError`: A136, naming the byte, where it is no such file; A137, naming the key, where a key is
    missing or of the wrong kind, its model or pre-tokenizer is not known, or its vocabulary is not one; A106 for a
    merge whose result is no token.
    """
    keys = _Keys({key.removeprefix(_KEYS): value for key, value in read_pairs(data, where=where).items()}, where)
    model = keys.text("model")
    match model:
        case "gpt2":
            return _byte_level(keys)
        case "gemma4":
            return _merged_characters(keys)
        case "llama":
            return _scored_pieces(keys)
        case "t5":
            return _unigram(keys)
        case "bert":
            return _word_piece(keys)
        case _:
            known = "known: bert, gemma4, gpt2, llama, t5"
            raise keys.fault("model", f"unknown model {quoted(model)}", help=known)


# ---- the models


def _byte_level(keys: _Keys) -> TokenizerFile:
    name = keys.text("pre", "default")
    family = FAMILIES.get(name)
    if family is None:
        raise keys.fault("pre", f"unknown pre-tokenizer {quoted(name)}", help=f"known: {', '.join(sorted(FAMILIES))}")
    vocabulary = keys.vocabulary()
    over_bytes = isinstance(family.pretokenizers[-1], c.ByteLevel)
    rules = c.BytePairMerges(over_bytes=over_bytes, ignore_merges=family.whole)
    added = keys.added_tokens()
    configuration = c.TokenizerConfiguration(
        normalizers=(),
        pretokenizers=family.pretokenizers,
        segmentation=rules,
        frame=keys.frame(begins=family.begins, ends=False),
        decoders=(c.DecodeBytes(),),
        added_tokens=added,
    )
    return TokenizerFile(configuration, merge_data(vocabulary, keys.merges(vocabulary), rules, added))


def _merged_characters(keys: _Keys) -> TokenizerFile:
    vocabulary = keys.vocabulary()
    rules = c.BytePairMerges(over_bytes=False, byte_fallback=True, fuse_unknown=True)
    added = keys.added_tokens()
    configuration = c.TokenizerConfiguration(
        normalizers=(c.Replace(c.Verbatim(" "), _MARK),),
        pretokenizers=(),
        segmentation=rules,
        frame=keys.frame(begins=True, ends=False),
        decoders=(c.DecodeReplace(c.Verbatim(_MARK), " "), c.DecodeByteFallback(), c.Fuse()),
        unknown=keys.unknown(),
        added_tokens=added,
    )
    return TokenizerFile(configuration, merge_data(vocabulary, keys.merges(vocabulary), rules, added))


def _scored_pieces(keys: _Keys) -> TokenizerFile:
    spaces = _spaces(keys, remove_extra=False)
    data = keys.scored_data()
    configuration = c.TokenizerConfiguration(
        normalizers=(spaces,),
        pretokenizers=(),
        segmentation=c.BytePairScores(byte_fallback=True),
        frame=keys.frame(begins=True, ends=False),
        decoders=(c.DecodeReplace(c.Verbatim(_MARK), " "), c.DecodeByteFallback(), c.Fuse(), *_strip(spaces)),
        unknown=keys.unknown(),
        added_tokens=keys.added_tokens(),
    )
    return TokenizerFile(configuration, data)


def _unigram(keys: _Keys) -> TokenizerFile:
    spaces = _spaces(keys, remove_extra=keys.flag("remove_extra_whitespaces", False))
    data = keys.scored_data()
    charsmap = bytes([value & 0xFF for value in keys.integers("precompiled_charsmap", -128, 255)])
    configuration = c.TokenizerConfiguration(
        normalizers=(c.CharacterMap(), spaces) if charsmap else (spaces,),
        pretokenizers=(),
        segmentation=c.Unigram(byte_fallback=False, binary32=True),
        frame=keys.frame(begins=False, ends=True),
        decoders=(c.DecodeReplace(c.Verbatim(_MARK), " "), c.Fuse(), *_strip(spaces)),
        unknown=keys.unknown(),
        added_tokens=keys.added_tokens(),
    )
    return TokenizerFile(configuration, replace(data, charsmap=charsmap))


def _word_piece(keys: _Keys) -> TokenizerFile:
    """BERT's, in lower case; words begin with a mark in the file, and what continues them does not."""
    controls = keys.of_kind(*_ADDED)
    vocabulary: dict[str, int] = {}
    for token, text in enumerate(keys.tokens()):
        word = text if token in controls else text[1:] if text.startswith(_MARK) else f"##{text}"
        if vocabulary.setdefault(word, token) != token:
            raise keys.fault(
                "tokens", f"the token {quoted(text)} of id {token} is that of id {vocabulary[word]} as well"
            )
    configuration = c.TokenizerConfiguration(
        normalizers=(c.BertNormalize(clean_text=True, handle_chinese_chars=True, strip_accents=None, lowercase=True),),
        pretokenizers=(c.BertPreTokenize(),),
        segmentation=c.WordPiece(continuing_prefix="##", longest_word=_NO_LIMIT),
        frame=c.Frame((keys.token("cls_token_id"),), (keys.token("seperator_token_id"),)),
        decoders=(c.DecodeWordPiece("##", cleanup=True),),
        unknown=keys.unknown(),
        added_tokens=keys.added_tokens(),
    )
    return TokenizerFile(configuration, VocabularyData(text_tokens(vocabulary), added=keys.added_tokens()))


def _spaces(keys: _Keys, *, remove_extra: bool) -> c.Spaces:
    return c.Spaces(dummy=keys.flag("add_space_prefix", True), remove_extra=remove_extra, mark=_MARK, behind=False)


def _strip(spaces: c.Spaces) -> tuple[c.Decoder, ...]:
    return (c.DecodeStrip(" ", 1, 0),) if spaces.dummy else ()


# ---- the keys

_ADDED = (_Kind.UNKNOWN, _Kind.CONTROL, _Kind.USER_DEFINED, _Kind.UNUSED)


@dataclass(frozen=True, eq=False)
class _Keys:
    """The keys that describe the tokenizer, without their common beginning."""

    values: Mapping[str, Value]
    where: str

    def text(self, key: str, default: str | None = None) -> str:
        value = self.values.get(key, default)
        if not isinstance(value, str):
            raise self.fault(key, "expected text" if key in self.values else "the key is missing")
        return value

    def flag(self, key: str, default: bool) -> bool:
        value = self.values.get(key, default)
        if not isinstance(value, bool):
            raise self.fault(key, "expected true or false")
        return value

    def token(self, key: str, default: int | None = None) -> int:
        value = self.values.get(key, default)
        if value is None:
            raise self.fault(key, "the key is missing")
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < len(self.tokens()):
            raise self.fault(key, f"expected an id of the {len(self.tokens())} tokens")
        return value

    def unknown(self) -> int:
        return self.token("unknown_token_id", 0)

    def integers(self, key: str, lowest: int, highest: int) -> list[int]:
        values = self._list(key, ())
        found = [value for value in values if isinstance(value, int) and lowest <= value <= highest]
        if len(found) != len(values):
            raise self.fault(key, f"expected integers from {lowest} to {highest}")
        return found

    def texts(self, key: str) -> list[str]:
        values = self._list(key, None)
        found = [value for value in values if isinstance(value, str)]
        if len(found) != len(values):
            raise self.fault(key, "expected texts")
        return found

    def tokens(self) -> list[str]:
        """The text of each token by id."""
        return self.texts("tokens")

    def vocabulary(self) -> dict[str, int]:
        """The id of each token."""
        tokens = self.tokens()
        ids = {text: token for token, text in enumerate(tokens)}
        if len(ids) != len(tokens):
            twice = next(token for token, text in enumerate(tokens) if ids[text] != token)
            text = tokens[twice]
            raise self.fault("tokens", f"the token {quoted(text)} of id {twice} is that of id {ids[text]} as well")
        return ids

    def scored_data(self) -> VocabularyData:
        """The tokens with their scores."""
        self.vocabulary()
        tokens, values = self.tokens(), self._list("scores", None)
        scores = [value for value in values if isinstance(value, float) and isfinite(value)]
        if len(scores) != len(values) or len(scores) != len(tokens):
            raise self.fault("scores", f"expected a finite score for each of the {len(tokens)} tokens")
        return VocabularyData(
            Tokens.of(text.encode() for text in tokens),
            scores=score_array(scores),
            lowest=min((scores[token] for token in self.of_kind(_Kind.NORMAL)), default=0.0),
            unreachable=self.of_kind(_Kind.BYTE),
            added=self.added_tokens(),
        )

    def merges(self, vocabulary: Mapping[str, int]) -> list[tuple[str, str]]:
        """The pairs of tokens that merge, a space between them; no token holds one."""
        merges: list[tuple[str, str]] = []
        for index, text in enumerate(self.texts("merges")):
            left, _, right = text.partition(" ")
            if left not in vocabulary or right not in vocabulary:
                message = f"{quoted(text)} is no pair of tokens with one space between"
                raise self.fault(f"merges[{index}]", message)
            merges.append((left, right))
        return merges

    def of_kind(self, *kinds: _Kind) -> frozenset[int]:
        """The ids of the tokens of some kinds."""
        values = self.integers("token_type", min(_Kind), max(_Kind))
        if len(values) != len(self.tokens()):
            raise self.fault("token_type", f"expected a type for each of the {len(self.tokens())} tokens")
        return frozenset(token for token, value in enumerate(values) if value in kinds)

    def added_tokens(self) -> tuple[c.AddedToken, ...]:
        """The tokens that are no ordinary pieces."""
        tokens, own = self.tokens(), self.of_kind(_Kind.USER_DEFINED)
        return tuple(
            c.AddedToken.of_file(token, tokens[token], special=token not in own)
            for token in sorted(self.of_kind(*_ADDED))
        )

    def frame(self, *, begins: bool, ends: bool) -> c.Frame:
        """The tokens before and behind an input."""
        before = (self.token("bos_token_id"),) if self.flag("add_bos_token", begins) else ()
        behind = (self.token("eos_token_id"),) if self.flag("add_eos_token", ends) else ()
        return c.Frame(before, behind)

    def _list(self, key: str, default: Sequence[Value] | None) -> Sequence[Value]:
        value = self.values.get(key, default)
        if not isinstance(value, list | tuple):
            raise self.fault(key, "expected a list" if key in self.values else "the key is missing")
        return value

    def fault(self, key: str, message: str, help: str = "") -> ArtifactError:
        """An error that names a key."""
        return ArtifactError(message, code="A137", where=f"{self.where}: {_KEYS}{key}", help=help)
