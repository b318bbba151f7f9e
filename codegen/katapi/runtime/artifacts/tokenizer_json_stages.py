"""The stages of tokenizer.json before and after its model (the format of Hugging Face's library `tokenizers` 0.23).

Keys that say nothing about a single sequence of ids, such as `trim_offsets`, are passed over. What is missing, of the
wrong kind or not known is an `ArtifactError` A132 that names its path, in every function here.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from typing import TypeVar

from katapi.runtime.artifacts.json_file import Node
from katapi.runtime.patterns.syntax import Dialect
from katapi.runtime.places import quoted
from katapi.runtime.tokenization import configuration as c

Stage = TypeVar("Stage")

MAX_ID = (1 << 32) - 1
"""The highest id that the format can hold."""

_DEEPEST = 16  # sequences within sequences


def read_normalizers(node: Node) -> tuple[c.Normalizer, ...]:
    """The member `normalizer`."""
    return _flat(node, "normalizers", _NORMALIZERS)


def read_charsmap(node: Node) -> bytes:
    """The character map that the member `normalizer` brings, if it brings one."""
    maps = {charsmap for charsmap in _flat(node, "normalizers", _CHARSMAPS) if charsmap}
    if len(maps) > 1:
        raise node.fault("two stages have different character maps")
    return maps.pop() if maps else b""


def read_pretokenizers(node: Node) -> tuple[c.PreTokenizer, ...]:
    """The member `pre_tokenizer`."""
    return _flat(node, "pretokenizers", _PRETOKENIZERS)


def read_decoders(node: Node) -> tuple[c.Decoder, ...]:
    """The member `decoder`; without one, tokens are joined with spaces."""
    return (c.Spaced(),) if node.is_null else _flat(node, "decoders", _DECODERS)


def read_frame(node: Node) -> c.Frame:
    """The member `post_processor`: what it puts around a single sequence."""
    before: tuple[int, ...] = ()
    behind: tuple[int, ...] = ()
    for frame in _flat(node, "processors", _PROCESSORS):
        before, behind = frame.before + before, behind + frame.behind
    return c.Frame(before, behind)


def _flat(node: Node, members: str, readers: dict[str, Callable[[Node], Stage]], depth: int = 0) -> tuple[Stage, ...]:
    """The stages of a node: none, one, or those of a sequence one after the other."""
    if node.is_null:
        return ()
    if depth > _DEEPEST:
        raise node.fault("sequences nest too deep")
    name = node["type"].text()
    if name == "Sequence":
        return tuple(stage for item in node[members] for stage in _flat(item, members, readers, depth + 1))
    reader = readers.get(name)
    if reader is None:
        raise node["type"].fault(f"unknown type {quoted(name)}", help=f"known: {', '.join([*readers, 'Sequence'])}")
    return (reader(node),)


# ---- normalizers


def _charsmap(node: Node) -> bytes:
    charsmap = node["precompiled_charsmap"]
    try:
        return base64.b64decode(charsmap.text(""), validate=True)
    except (binascii.Error, ValueError):
        raise charsmap.fault("expected a character map in base64") from None


def _bert(node: Node) -> c.BertNormalize:
    accents = node["strip_accents"]
    return c.BertNormalize(
        clean_text=node["clean_text"].flag(),
        handle_chinese_chars=node["handle_chinese_chars"].flag(),
        strip_accents=None if accents.is_null else accents.flag(),
        lowercase=node["lowercase"].flag(),
    )


_NORMALIZERS: dict[str, Callable[[Node], c.Normalizer]] = {
    "NFC": lambda node: c.Normalize(c.NormalForm.NFC),
    "NFD": lambda node: c.Normalize(c.NormalForm.NFD),
    "NFKC": lambda node: c.Normalize(c.NormalForm.NFKC),
    "NFKD": lambda node: c.Normalize(c.NormalForm.NFKD),
    "Lowercase": lambda node: c.Lowercase(),
    "StripAccents": lambda node: c.StripAccents(),
    "Nmt": lambda node: c.Nmt(),
    "Replace": lambda node: c.Replace(_pattern(node["pattern"]), node["content"].text()),
    "Prepend": lambda node: c.Prepend(node["prepend"].text()),
    "Strip": lambda node: c.Strip(node["strip_left"].flag(), node["strip_right"].flag()),
    "BertNormalizer": _bert,
    "Precompiled": lambda node: c.Precompiled(),
}
_CHARSMAPS: dict[str, Callable[[Node], bytes]] = {
    **dict.fromkeys(_NORMALIZERS, lambda node: b""),
    "Precompiled": _charsmap,
}


# ---- pre-tokenizers


def _split(node: Node) -> c.Split:
    return c.Split(_pattern(node["pattern"]), _behaviour(node["behavior"]), node["invert"].flag())


def _character_split(node: Node) -> c.Split:
    return c.Split(c.Verbatim(_character(node["delimiter"])), c.Behaviour.REMOVED, invert=False)


def _byte_level(node: Node) -> c.ByteLevel:
    return c.ByteLevel(node["add_prefix_space"].flag(), node["use_regex"].flag(True))


def _metaspace(node: Node) -> c.Metaspace:
    return c.Metaspace(_character(node["replacement"]), _scheme(node), node["split"].flag(True))


def _punctuation(node: Node) -> c.Punctuation:
    behaviour = node["behavior"]
    return c.Punctuation(c.Behaviour.ISOLATED if behaviour.is_null else _behaviour(behaviour))


_PRETOKENIZERS: dict[str, Callable[[Node], c.PreTokenizer]] = {
    "Split": _split,
    "ByteLevel": _byte_level,
    "Metaspace": _metaspace,
    "Digits": lambda node: c.Digits(node["individual_digits"].flag()),
    "Punctuation": _punctuation,
    "Whitespace": lambda node: c.Whitespace(),
    "WhitespaceSplit": lambda node: c.WhitespaceSplit(),
    "BertPreTokenizer": lambda node: c.BertPreTokenize(),
    "CharDelimiterSplit": _character_split,
}


# ---- decoders


def _strip(node: Node) -> c.DecodeStrip:
    return c.DecodeStrip(_character(node["content"]), node["start"].integer(MAX_ID), node["stop"].integer(MAX_ID))


_DECODERS: dict[str, Callable[[Node], c.Decoder]] = {
    "ByteLevel": lambda node: c.DecodeBytes(),
    "ByteFallback": lambda node: c.DecodeByteFallback(),
    "Metaspace": lambda node: c.DecodeMetaspace(_character(node["replacement"]), _scheme(node)),
    "WordPiece": lambda node: c.DecodeWordPiece(node["prefix"].text(), node["cleanup"].flag()),
    "BPEDecoder": lambda node: c.DecodeSuffix(node["suffix"].text()),
    "Replace": lambda node: c.DecodeReplace(_pattern(node["pattern"]), node["content"].text()),
    "Strip": _strip,
    "Fuse": lambda node: c.Fuse(),
}


# ---- post-processors


def _template(node: Node) -> c.Frame:
    special = node["special_tokens"]
    before: list[int] = []
    behind: list[int] = []
    sequences = 0
    for piece in node["single"]:
        if "Sequence" in piece.members():
            if piece["Sequence"]["id"].text() != "A":
                raise piece.fault("a template for a single sequence has the sequence A alone")
            sequences += 1
            continue
        name = piece["SpecialToken"]["id"]
        if name.text() not in special.members():
            raise name.fault(f"the special token {quoted(name.text())} is not declared in special_tokens")
        ids = [token.integer(MAX_ID) for token in special[name.text()]["ids"]]
        (behind if sequences else before).extend(ids)
    if sequences != 1:
        raise node["single"].fault(f"expected the sequence A once, found it {sequences} times")
    return c.Frame(tuple(before), tuple(behind))


def _cls_and_sep(node: Node) -> c.Frame:
    return c.Frame((node["cls"].item(1).integer(MAX_ID),), (node["sep"].item(1).integer(MAX_ID),))


_PROCESSORS: dict[str, Callable[[Node], c.Frame]] = {
    "ByteLevel": lambda node: c.Frame(),
    "TemplateProcessing": _template,
    "RobertaProcessing": _cls_and_sep,
    "BertProcessing": _cls_and_sep,
}


# ---- what several stages hold


def _pattern(node: Node) -> c.Pattern:
    members = node.members()
    if "String" in members:
        if not node["String"].text():
            raise node["String"].fault("an empty text matches between all characters, which is not supported")
        return c.Verbatim(node["String"].text())
    if "Regex" in members:
        return c.Regex(node["Regex"].text(), Dialect.TOKENIZERS)
    raise node.fault("expected a pattern, `String` or `Regex`")


def _behaviour(node: Node) -> c.Behaviour:
    try:
        return c.Behaviour(node.text())
    except ValueError:
        known = ", ".join(behaviour.value for behaviour in c.Behaviour)
        raise node.fault(f"unknown behaviour {quoted(node.text())}", help=f"known: {known}") from None


def _scheme(node: Node) -> c.PrependScheme:
    """Where Metaspace puts its mark; files before `tokenizers` 0.15 say only whether it does."""
    scheme = node["prepend_scheme"]
    prefix = node["add_prefix_space"].flag(True)
    if scheme.is_null:
        return c.PrependScheme.ALWAYS if prefix else c.PrependScheme.NEVER
    try:
        found = c.PrependScheme(scheme.text())
    except ValueError:
        raise scheme.fault(f"unknown scheme {quoted(scheme.text())}", help="known: always, first, never") from None
    if not prefix and found is not c.PrependScheme.NEVER:
        raise scheme.fault(f"add_prefix_space is false, and the scheme is {found.value}")
    return found


def _character(node: Node) -> str:
    text = node.text()
    if len(text) != 1:
        raise node.fault(f"expected one character, found {quoted(text)}")
    return text
