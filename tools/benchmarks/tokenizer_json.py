"""Makes a tokenizer.json of a vocabulary that comes in another format, for peers that read no other."""

from __future__ import annotations

from collections.abc import Mapping

from katapi.runtime.artifacts.sentencepiece_model import read_sentencepiece
from katapi.runtime.json_types import Json
from katapi.runtime.tokenization.byte_alphabet import to_letters

_MARK = "▁"


def of_ranks(ranks: Mapping[bytes, int], pattern: str) -> dict[str, Json]:
    """A byte-level BPE. Of the two parts of a merge, each way to cut the token is listed, by the ranks of the parts."""
    spelled = {token: to_letters(token) for token in ranks}
    merges: list[Json] = []
    for token in sorted(ranks, key=ranks.__getitem__):
        cuts = [(token[:at], token[at:]) for at in range(1, len(token))]
        known = [(left, right) for left, right in cuts if left in ranks and right in ranks]
        known.sort(key=lambda cut: (ranks[cut[0]], ranks[cut[1]]))
        merges += [[spelled[left], spelled[right]] for left, right in known]
    split: dict[str, Json] = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
    letters: dict[str, Json] = {
        "type": "ByteLevel",
        "add_prefix_space": False,
        "trim_offsets": True,
        "use_regex": False,
    }
    vocabulary: dict[str, Json] = {spelled[token]: rank for token, rank in ranks.items()}
    return _file(
        normalizer=None,
        pre_tokenizer={"type": "Sequence", "pretokenizers": [split, letters]},
        decoder=letters,
        model=_model(vocabulary, merges) | {"ignore_merges": True},
    )


def of_sentencepiece(data: bytes, *, normalized: bool = False) -> dict[str, Json]:
    """A BPE of SentencePiece with byte fallback. A space goes in front of a text that begins with none.

    As a pre-tokenizer says it, like the official files, or with `normalized` as a normalizer, which differs in that it
    puts a space in front of any text. The merges that make a piece count by its score, or else by its id.
    """
    pieces = read_sentencepiece(data, where="the model").data
    texts = [token.decode() for token in pieces.tokens]
    ids: dict[str, Json] = {}
    for id, text in enumerate(texts):
        ids.setdefault(text, id)
    order = {text: at for at, text in enumerate(texts)}
    merges: list[tuple[float, int, int, int, str, str]] = []
    for id, text in enumerate(texts):
        cuts = [(text[:at], text[at:]) for at in range(1, len(text))]
        merges += [
            (-float(pieces.scores[id]), id, order[left], order[right], left, right)
            for left, right in cuts
            if left in order and right in order
        ]
    merges.sort()
    prepended: Json = {"type": "Prepend", "prepend": _MARK}
    replaced: Json = {"type": "Replace", "pattern": {"String": " "}, "content": _MARK}
    marked: Json = {"type": "Metaspace", "replacement": _MARK, "prepend_scheme": "first", "split": False}
    return _file(
        normalizer={"type": "Sequence", "normalizers": [prepended, replaced]} if normalized else None,
        pre_tokenizer=None if normalized else marked,
        decoder={
            "type": "Sequence",
            "decoders": [
                {"type": "Replace", "pattern": {"String": _MARK}, "content": " "},
                {"type": "ByteFallback"},
                {"type": "Fuse"},
                {"type": "Strip", "content": " ", "start": 1, "stop": 0},
            ],
        },
        model=_model(ids, [[left, right] for *_, left, right in merges])
        | {"byte_fallback": True, "fuse_unk": True, "unk_token": "<unk>"},
    )


def _model(vocabulary: dict[str, Json], merges: list[Json]) -> dict[str, Json]:
    return {
        "type": "BPE",
        "dropout": None,
        "unk_token": None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": False,
        "vocab": vocabulary,
        "merges": merges,
    }


def _file(normalizer: Json, pre_tokenizer: Json, decoder: Json, model: Json) -> dict[str, Json]:
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": normalizer,
        "pre_tokenizer": pre_tokenizer,
        "post_processor": None,
        "decoder": decoder,
        "model": model,
    }
