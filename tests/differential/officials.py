"""What the official libraries make of a tokenizer file, without the added tokens that they would find in a text."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, cast
from unittest.mock import patch

import sentencepiece
import tiktoken
import tokenizers
from tiktoken_ext import openai_public  # type: ignore[import-untyped]  # it ships no types

from katapi.runtime.json_types import Json
from katapi.runtime.tokenization.configuration import AddedToken


class Official(Protocol):
    """One tokenizer file in its official library."""

    tokens: list[str]
    """Tokens as they stand in texts, to make texts of."""
    ids: list[int]
    """Ids that the library decodes as Katapi does, in every order."""

    def encode(self, text: str) -> list[int]:
        """The ids of a text as content."""
        ...

    def post_processed(self, text: str) -> list[int] | None:
        """The same with what stands around a single sequence; None where the library has no such thing."""
        ...

    def decode(self, ids: Sequence[int]) -> str | None:
        """The text that ids stand for; None where libraries disagree: see docs/tokenizers.md."""
        ...

    def offsets(self, text: str) -> list[tuple[int, int]] | None:
        """The characters that each token comes from; None where they mean something else than Katapi's spans."""
        ...


# ---- tokenizer.json

_HIDDEN = "\U0010fffd{}\U0010fffd"
"""The text of a control token in the official model, so that no text yields it."""


_MOVES = ('"add_prefix_space": true', '"Metaspace"', '"Digits"')
"""Stages whose offsets mean something else: what they put in counts as the character beside it, and what is cut behind
the change to bytes (Digits of Falcon) counts as bytes."""


class OfTokenizers:
    """A tokenizer.json in Hugging Face's tokenizers."""

    def __init__(self, data: bytes) -> None:
        document = json.loads(data)
        document |= {"truncation": None, "padding": None}
        self._whole = tokenizers.Tokenizer.from_str(json.dumps(document))
        added = {token["content"]: token for token in document["added_tokens"]}
        _hide(document, {text: _HIDDEN.format(token["id"]) for text, token in added.items() if token["special"]})
        self._content = tokenizers.Tokenizer.from_str(json.dumps(document))
        pretokenizer = json.dumps(document["pre_tokenizer"])
        self._cuts_alone = document["normalizer"] is None and not any(word in pretokenizer for word in _MOVES)
        vocabulary = self._content.get_vocab(with_added_tokens=False)
        by_byte = '"ByteLevel"' in pretokenizer
        texts = [_read(token) if by_byte else _plain(token) for token in vocabulary if "\U0010fffd" not in token]
        self.tokens = [text for text in texts if text]
        # An id that the file skips is given to the next added token by the library: docs/tokenizers.md.
        self.ids = [
            *(token for token in vocabulary.values() if self._whole.id_to_token(token) is not None),
            *(token["id"] for text, token in added.items() if self._whole.token_to_id(text) == token["id"]),
        ]

    def encode(self, text: str) -> list[int]:
        return self._content.encode(text, add_special_tokens=False).ids

    def post_processed(self, text: str) -> list[int] | None:
        return self._content.encode(text).ids

    def decode(self, ids: Sequence[int]) -> str | None:
        return self._whole.decode(ids, skip_special_tokens=False)

    def offsets(self, text: str) -> list[tuple[int, int]] | None:
        return self._content.encode(text, add_special_tokens=False).offsets if self._cuts_alone else None


def _hide(document: dict[str, Json], hidden: Mapping[str, str]) -> None:
    """Takes the added tokens out, gives control tokens texts that do not occur, and makes offsets those of tokens."""
    document["added_tokens"] = []
    model = cast(dict[str, Json], document["model"])
    vocabulary = model["vocab"]
    if isinstance(vocabulary, dict):
        model["vocab"] = {hidden.get(text, text): token for text, token in vocabulary.items()}
        unknown = model.get("unk_token")
        if isinstance(unknown, str) and unknown in hidden:
            model["unk_token"] = hidden[unknown] if unknown in vocabulary else None
    else:
        scored = cast(list[tuple[str, float]], vocabulary)
        model["vocab"] = [[hidden.get(text, text), score] for text, score in scored]
    if "merges" in model:
        merges = cast(list[str | list[str]], model["merges"])
        pairs = [merge.split(" ") if isinstance(merge, str) else merge for merge in merges]
        model["merges"] = [pair for pair in pairs if hidden.keys().isdisjoint({*pair, "".join(pair)})]
    _untrim(document["pre_tokenizer"])
    _untrim(document["post_processor"])


def _untrim(stage: Json) -> None:
    """Offsets with the spaces that tokens begin with."""
    if isinstance(stage, dict):
        if "trim_offsets" in stage:
            cast(dict[str, Json], stage)["trim_offsets"] = False
        for member in stage.values():
            _untrim(member)
    elif isinstance(stage, list):
        for item in stage:
            _untrim(item)


_PRINTED = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
_OTHERS = [byte for byte in range(256) if byte not in _PRINTED]
_VALUES = {chr(byte): byte for byte in _PRINTED} | {chr(0x100 + place): byte for place, byte in enumerate(_OTHERS)}


def _read(token: str) -> str:
    """A token in GPT-2's letters of bytes as text; nothing where it is none."""
    return bytes(map(_VALUES.__getitem__, token)).decode(errors="ignore") if {*token} <= _VALUES.keys() else ""


def _plain(token: str) -> str:
    return token.removeprefix("##").replace("▁", " ").replace("</w>", " ")


# ---- ranks


class OfTiktoken:
    """A file of ranks, or a tekken.json, in tiktoken. The ids of the latter begin behind those of control tokens."""

    def __init__(self, data: bytes, pattern: str | None = None) -> None:
        self._first = 0
        if data.lstrip().startswith(b"{"):
            document = json.loads(data)
            config = document["config"]
            self._first = config["default_num_special_tokens"]
            items = document["vocab"][: config["default_vocab_size"] - self._first]
            ranks = {base64.b64decode(item["token_bytes"]): item["rank"] for item in items}
            pattern = config["pattern"]
        else:
            lines = [line.split() for line in data.splitlines()]
            ranks = {base64.b64decode(token): int(rank) for token, rank in lines}
        self._encoding = _public(data, ranks) if pattern is None else _encoding(pattern, ranks)
        self.tokens = [text for text in (token.decode(errors="ignore") for token in ranks) if text]
        self.ids = [rank + self._first for rank in ranks.values()]

    def encode(self, text: str) -> list[int]:
        return [rank + self._first for rank in self._encoding.encode_ordinary(text)]

    def post_processed(self, text: str) -> list[int] | None:
        return None

    def decode(self, ids: Sequence[int]) -> str | None:
        return self._encoding.decode([token - self._first for token in ids])

    def offsets(self, text: str) -> list[tuple[int, int]] | None:
        return None


def _encoding(pattern: str, ranks: dict[bytes, int]) -> tiktoken.Encoding:
    return tiktoken.Encoding("", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})


def _public(data: bytes, ranks: dict[bytes, int]) -> tiktoken.Encoding:
    """The encoding of tiktoken to which these ranks belong; what it would load is put in its place."""
    digest = hashlib.sha256(data).hexdigest()

    def load(path: str, expected_hash: str | None = None) -> dict[bytes, int]:
        if expected_hash != digest:
            raise LookupError
        return ranks

    with patch.object(openai_public, "load_tiktoken_bpe", load):
        for constructor in (openai_public.p50k_base, openai_public.cl100k_base, openai_public.o200k_base):
            try:
                settings = constructor()
            except LookupError:
                continue
            return _encoding(settings["pat_str"], ranks)
    raise LookupError(f"no encoding of tiktoken has ranks with the digest {digest}")


# ---- SentencePiece


class OfSentencePiece:
    """A `.model` file in SentencePiece."""

    def __init__(self, data: bytes) -> None:
        self._processor = sentencepiece.SentencePieceProcessor(model_proto=data)
        self._content = sentencepiece.SentencePieceProcessor(model_proto=_without_control(data, self._processor))
        pieces = [self._processor.id_to_piece(token) for token in range(self._processor.get_piece_size())]
        told = (self._processor.is_unknown, self._processor.is_control, self._processor.is_unused)
        self.ids = [token for token in range(len(pieces)) if not any(is_such(token) for is_such in told)]
        self.tokens = [pieces[token].replace("▁", " ") for token in self.ids if not self._processor.is_byte(token)]

    def encode(self, text: str) -> list[int]:
        return [*self._content.encode(text)]

    def post_processed(self, text: str) -> list[int] | None:
        return None

    def decode(self, ids: Sequence[int]) -> str | None:
        first = self._processor.id_to_piece(ids[0]) if ids else ""
        if first in ("▁", "<0x20>"):
            return None
        text = self._processor.decode([*ids])
        return None if any(map(self._processor.is_unknown, ids)) or "\ufffd" in text else text

    def offsets(self, text: str) -> list[tuple[int, int]] | None:
        return None


def _without_control(data: bytes, processor: sentencepiece.SentencePieceProcessor) -> bytes:
    """The file with the user defined pieces that Katapi takes for control tokens as such: no text yields them."""
    changed, end = bytearray(data), 0
    for token in range(processor.get_piece_size()):
        piece = processor.id_to_piece(token)
        head = bytes([10, len(piece.encode())]) + piece.encode() + b"\x15"  # field 1 is the text, field 2 a score
        kind = data.index(head, end) + len(head) + 4
        end = kind
        user_defined = data[kind : kind + 2] == b"\x18\x04"  # field 3
        if user_defined and AddedToken.of_file(token, piece, special=False).control:
            changed[kind + 1] = 3
    return bytes(changed)


# ---- any


@dataclass(frozen=True)
class File:
    """A tokenizer file, and what is known about it beside its content."""

    data: bytes
    pattern: str | None = None
    """How text is cut, for a file of ranks that does not say it."""
    same_as: File | None = None
    """A file of the same tokenizer that an official library reads, for a GGUF file."""


def official(file: File) -> Official:
    """The official library that reads a file."""
    data = file.data
    if file.same_as is not None:
        return official(file.same_as)
    if data.startswith(b"\n"):
        return OfSentencePiece(data)
    if data.lstrip().startswith(b"{") and b'"default_num_special_tokens"' not in data[:10_000]:
        return OfTokenizers(data)
    return OfTiktoken(data, file.pattern)
