"""Reads tokenizer.json, the format of Hugging Face's library `tokenizers` 0.23 and of its older versions.

`truncation` and `padding` are no part of a tokenizer here: how long an input may be is for a budget to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from math import isfinite

from katapi.runtime.artifacts.json_file import Node, is_text, read_json
from katapi.runtime.artifacts.merge_lists import merge_data, text_tokens
from katapi.runtime.artifacts.tokenizer_file import TokenizerFile
from katapi.runtime.artifacts.tokenizer_json_stages import (
    MAX_ID,
    read_charsmap,
    read_decoders,
    read_frame,
    read_normalizers,
    read_pretokenizers,
)
from katapi.runtime.dataclass import dataclass
from katapi.runtime.json_types import Json
from katapi.runtime.places import quoted
from katapi.runtime.tokenization import configuration as c
from katapi.runtime.tokenization.tokens import Tokens
from katapi.runtime.tokenization.vocabulary_data import VocabularyData, score_array

_Added = tuple[c.AddedToken, ...]

_LONGEST_AFFIX = 100  # characters of what continues or ends a word


def read_tokenizer_json(data: bytes, *, where: str) -> TokenizerFile:
    """The tokenizer that `data` describes; `where` names the file in errors.

    Raises `ArtifactError` A133 where it is not JSON, and A132, naming the path, where a value is missing or of the
    wrong kind, a type is not known, or the vocabulary is not one: two ids for one token, two tokens for one id, a gap,
    a merge of parts that are no tokens. A merge whose result is no token is A106.
    """
    return tokenizer_of_json(read_json(data, where=where))


def tokenizer_of_json(root: Node) -> TokenizerFile:
    """The same from JSON that has been read. Raises `ArtifactError` A106 and A132."""
    pretokenizers = read_pretokenizers(root["pre_tokenizer"])
    added = _added_tokens(root["added_tokens"])
    model = _model(root["model"], pretokenizers, added)
    configuration = c.TokenizerConfiguration(
        normalizers=read_normalizers(root["normalizer"]),
        pretokenizers=pretokenizers,
        segmentation=model.segmentation,
        frame=read_frame(root["post_processor"]),
        decoders=read_decoders(root["decoder"]),
        unknown=model.unknown,
        added_tokens=added,
    )
    return TokenizerFile(configuration, replace(model.data, charsmap=read_charsmap(root["normalizer"])))


def _added_tokens(node: Node) -> tuple[c.AddedToken, ...]:
    if node.is_null:
        return ()
    ids: set[int] = set()
    contents: set[str] = set()
    tokens: list[c.AddedToken] = []
    for item in node:
        token = c.AddedToken.of_file(
            item["id"].integer(MAX_ID),
            item["content"].text(),
            special=item["special"].flag(),
            normalized=item["normalized"].flag(),
            lstrip=item["lstrip"].flag(),
            rstrip=item["rstrip"].flag(),
            single_word=item["single_word"].flag(),
        )
        if token.id in ids:
            raise item["id"].fault(f"another added token has the id {token.id} as well")
        if token.content in contents:
            raise item["content"].fault(f"the token {quoted(token.content)} comes twice")
        ids.add(token.id)
        contents.add(token.content)
        tokens.append(token)
    return tuple(tokens)


@dataclass(frozen=True, eq=False, slots=True)
class _Model:
    """What the member `model` says."""

    segmentation: c.Segmentation
    data: VocabularyData
    unknown: int | None


def _model(node: Node, pretokenizers: Sequence[c.PreTokenizer], added: _Added) -> _Model:
    name = _model_type(node)
    match name:
        case "BPE":
            return _byte_pairs(node, pretokenizers, added)
        case "WordPiece":
            return _word_piece(node, added)
        case "Unigram":
            return _unigram(node, added)
        case _:
            raise node["type"].fault(f"unknown type {quoted(name)}", help="known: BPE, Unigram, WordPiece")


def _model_type(node: Node) -> str:
    """The type; old files leave it out, and their other members tell."""
    members = node.members()
    if "type" in members:
        return node["type"].text()
    if "merges" in members:
        return "BPE"
    if "max_input_chars_per_word" in members:
        return "WordPiece"
    if isinstance(members.get("vocab"), list):
        return "Unigram"
    raise node.fault("the type of the model is missing", help="known: BPE, Unigram, WordPiece")


# ---- byte-pair encoding


def _byte_pairs(node: Node, pretokenizers: Sequence[c.PreTokenizer], added: _Added) -> _Model:
    ids = {token.content: token.id for token in added}
    vocabulary = _vocabulary(node["vocab"], ids)
    if not node["dropout"].is_null and node["dropout"].value not in (0, 0.0):
        raise node["dropout"].fault("dropout makes ids random", help="set it to null")
    rules = c.BytePairMerges(
        over_bytes=bool(pretokenizers) and isinstance(pretokenizers[-1], c.ByteLevel),
        ignore_merges=node["ignore_merges"].flag(False),
        byte_fallback=node["byte_fallback"].flag(False),
        fuse_unknown=node["fuse_unk"].flag(False),
        continuing_prefix=_affix(node["continuing_subword_prefix"], ""),
        word_suffix=_affix(node["end_of_word_suffix"], ""),
    )
    data = merge_data(vocabulary, _merges(node["merges"], vocabulary), rules, added)
    return _Model(rules, data, _unknown(node["unk_token"], vocabulary, ids))


def _merges(node: Node, vocabulary: Mapping[str, int]) -> list[tuple[str, str]]:
    """The pairs of tokens that merge: texts `left right`, or in newer files lists of the two."""
    items = node.items()
    pairs: Sequence[Sequence[Json]] = [item.split(" ") for item in items if isinstance(item, str)]
    pairs = pairs or [item for item in items if isinstance(item, list)]
    merges = [
        (pair[0], pair[1]) for pair in pairs if len(pair) == 2 and isinstance(pair[0], str) and isinstance(pair[1], str)
    ]
    if len(merges) != len(items):
        index = next(i for i, item in enumerate(items) if not _pair(item) or _pair(item) != merges[i : i + 1])
        raise node.item(index).fault("expected two tokens with one space between, or everywhere a list of two tokens")
    if not vocabulary.keys() >= {*chain.from_iterable(merges)}:
        index, part = next((i, part) for i, pair in enumerate(merges) for part in pair if part not in vocabulary)
        raise node.item(index).fault(f"the part {quoted(part)} is no token of the vocabulary")
    return merges


def _pair(item: Json) -> list[tuple[Json, Json]]:
    """The pair that an item holds, if it holds one."""
    pair = item.split(" ") if isinstance(item, str) else item
    return [(pair[0], pair[1])] if isinstance(pair, list) and len(pair) == 2 else []


# ---- WordPiece and Unigram


def _word_piece(node: Node, added: _Added) -> _Model:
    vocabulary = _vocabulary(node["vocab"], {token.content: token.id for token in added})
    unknown = node["unk_token"].text("[UNK]")
    if unknown not in vocabulary:
        raise node["unk_token"].fault(f"the unknown token {quoted(unknown)} is no token of the vocabulary")
    rules = c.WordPiece(
        continuing_prefix=_affix(node["continuing_subword_prefix"], "##"),
        longest_word=node["max_input_chars_per_word"].integer(MAX_ID, default=100),
    )
    return _Model(rules, VocabularyData(text_tokens(vocabulary), added=added), vocabulary[unknown])


def _unigram(node: Node, added: _Added) -> _Model:
    tokens: list[tuple[str, float]] = []
    for item in node["vocab"].items():
        text, score = item if isinstance(item, list) and len(item) == 2 else (None, None)
        if not (isinstance(text, str) and isinstance(score, int | float) and isfinite(score)):
            raise node["vocab"].item(len(tokens)).fault("expected a list of a token and its score, a finite number")
        tokens.append((text, float(score)))
    if not tokens:
        raise node["vocab"].fault("the vocabulary is empty")
    ids = {text: token for token, (text, _) in enumerate(tokens)}
    _check_texts(node["vocab"], ids)
    if len(ids) != len(tokens):
        twice = next(token for token, (text, _) in enumerate(tokens) if ids[text] != token)
        raise node["vocab"].item(ids[tokens[twice][0]]).fault(f"the same token as id {twice}")
    _agree(node["vocab"], ids, {token.content: token.id for token in added})
    unknown = node["unk_id"]
    scores = score_array(score for _, score in tokens)
    data = VocabularyData(
        Tokens.of(text.encode() for text, _ in tokens), scores=scores, lowest=float(scores.min()), added=added
    )
    rules = c.Unigram(node["byte_fallback"].flag(False), binary32=False)
    return _Model(rules, data, None if unknown.is_null else unknown.integer(len(tokens) - 1))


# ---- vocabularies


def _vocabulary(node: Node, added: Mapping[str, int]) -> dict[str, int]:
    """The id of each token: every id once, and no gap that no added token fills."""
    ids: dict[str, int] = {}
    for text, token in node.members().items():
        if not isinstance(token, int) or isinstance(token, bool) or not 0 <= token <= MAX_ID:
            raise node[text].fault("expected an id")
        ids[text] = token
    if not ids:
        raise node.fault("the vocabulary is empty")
    _check_texts(node, ids)
    if len(set(ids.values())) != len(ids):
        raise _two_tokens(node, ids.items())
    taken = {*ids.values(), *added.values()}
    highest = max(ids.values())
    if len(taken) <= highest:
        gap = next(token for token in range(highest) if token not in taken)
        raise node.fault(f"no token has the id {gap}, and the highest is {highest}")
    _agree(node, ids, added)
    return ids


def _agree(node: Node, ids: Mapping[str, int], added: Mapping[str, int]) -> None:
    """Refuses an added token that has another id in the vocabulary, or an id that the vocabulary gives to another."""
    texts = {token: text for text, token in ids.items()}
    for content, token in added.items():
        if ids.get(content, token) != token:
            raise node[content].fault(f"the token has the id {ids[content]} here and {token} in added_tokens")
        if texts.get(token, content) != content:
            raise node[texts[token]].fault(f"added_tokens gives the id {token} to {quoted(content)}")


def _two_tokens(node: Node, items: Iterable[tuple[str, int]]) -> Exception:
    first: dict[int, str] = {}
    for text, token in items:
        if token in first:
            return node[text].fault(f"the id {token} is that of {quoted(first[token])} as well")
        first[token] = text
    raise AssertionError("no two tokens have one id")


def _affix(node: Node, default: str) -> str:
    """What marks the tokens that continue or end a word. Every unknown character may give its bytes anew."""
    text = node.text(default)
    if len(text) > _LONGEST_AFFIX:
        raise node.fault(f"expected at most {_LONGEST_AFFIX} characters, found {len(text)}")
    return text


def _unknown(node: Node, vocabulary: Mapping[str, int], added: Mapping[str, int]) -> int | None:
    if node.is_null:
        return None
    text = node.text()
    token = vocabulary.get(text, added.get(text))
    if token is None:
        raise node.fault(f"the unknown token {quoted(text)} is no token of the vocabulary")
    return token


def _check_texts(node: Node, ids: Mapping[str, int]) -> None:
    if not is_text("".join(ids)):
        text = next(text for text in ids if not is_text(text))
        raise node.fault(f"half of a surrogate pair in {quoted(text)}")
