"""Every pre-tokenizer of a configuration: how a text is cut into pieces, and what is put in or left out."""

from __future__ import annotations

from itertools import groupby
from typing import NamedTuple, assert_never

from katapi.oracle.characters import members
from katapi.oracle.letters import Edit, Letter, edited, text_of
from katapi.oracle.normalizers import occurrences
from katapi.runtime.patterns.syntax import Dialect
from katapi.runtime.tokenization import configuration as c

_GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
Piece = list[Letter]


class Part(NamedTuple):
    """A part of a piece, and whether it is a match."""

    letters: Piece
    matched: bool


def cut(letters: Piece, stages: tuple[c.PreTokenizer, ...], unicode: c.UnicodeVersions, *, first: bool) -> list[Piece]:
    """The pieces after all stages, each of which cuts the pieces of the one before; none is empty.

    `first` says that the text begins the whole input. What "ByteLevel" does to bytes is left to a model over bytes,
    unless further stages stand behind it.
    """
    pieces = [letters] if letters else []
    for number, stage in enumerate(stages):
        last = number == len(stages) - 1
        pieces = [
            part
            for piece in pieces
            for part in _cut(piece, stage, unicode, first=first and piece[0].start == 0, last=last)
            if part
        ]
    return pieces


def _cut(piece: Piece, stage: c.PreTokenizer, unicode: c.UnicodeVersions, *, first: bool, last: bool) -> list[Piece]:
    match stage:
        case c.Split():
            return _behaved(_matches(piece, stage.pattern, unicode, inverted=stage.invert), stage.behaviour)
        case c.ByteLevel():
            return _byte_level(piece, stage, unicode, last=last)
        case c.Metaspace():
            return _metaspace(piece, stage, first=first)
        case c.Digits():
            numbers = _members(piece, members("N", unicode.characters))
            return _behaved(numbers, c.Behaviour.ISOLATED if stage.individual else c.Behaviour.CONTIGUOUS)
        case c.Punctuation():
            return _behaved(_members(piece, _punctuation(unicode)), stage.behaviour)
        case c.Whitespace():
            pattern = c.Regex(r"\w+|[^\w\s]+", Dialect.TIKTOKEN)
            return _behaved(_matches(piece, pattern, unicode, inverted=True), c.Behaviour.REMOVED)
        case c.WhitespaceSplit():
            return _behaved(_members(piece, members("WS", unicode.patterns)), c.Behaviour.REMOVED)
        case c.BertPreTokenize():
            words = _behaved(_members(piece, members("WS", unicode.patterns)), c.Behaviour.REMOVED)
            return [
                part for word in words for part in _behaved(_members(word, _punctuation(unicode)), c.Behaviour.ISOLATED)
            ]
        case _:
            assert_never(stage)


def _matches(piece: Piece, pattern: c.Pattern, unicode: c.UnicodeVersions, *, inverted: bool) -> list[Part]:
    """The matches of a pattern, which may be empty, and what lies between them."""
    parts: list[Part] = []
    position = 0
    for start, end in occurrences(text_of(piece), pattern, unicode):
        if position < start:
            parts.append(Part(piece[position:start], inverted))
        parts.append(Part(piece[start:end], not inverted))
        position = end
    return [*parts, Part(piece[position:], inverted)] if position < len(piece) else parts


def _members(piece: Piece, wanted: frozenset[str]) -> list[Part]:
    """Each character that is one of some, and what lies between them."""
    parts: list[Part] = []
    for letter in piece:
        matched = letter.character in wanted
        if parts and not matched and not parts[-1].matched:
            parts[-1] = Part([*parts[-1].letters, letter], matched=False)
        else:
            parts.append(Part([letter], matched))
    return parts


def _behaved(parts: list[Part], behaviour: c.Behaviour) -> list[Piece]:
    """What becomes of the matches: a match joins a neighbour that is no match."""
    match behaviour:
        case c.Behaviour.REMOVED:
            return [part.letters for part in parts if not part.matched]
        case c.Behaviour.ISOLATED:
            return [part.letters for part in parts]
        case c.Behaviour.CONTIGUOUS:
            alike = groupby(parts, key=lambda part: part.matched)
            return [[letter for part in run for letter in part.letters] for _, run in alike]
        case c.Behaviour.MERGED_WITH_PREVIOUS:
            pieces: list[Piece] = []
            for number, part in enumerate(parts):
                if part.matched and number > 0 and not parts[number - 1].matched:
                    pieces[-1] = pieces[-1] + part.letters
                else:
                    pieces.append(part.letters)
            return pieces
        case c.Behaviour.MERGED_WITH_NEXT:
            ahead: list[Piece] = []
            for number, part in enumerate(parts):
                if not part.matched and number > 0 and parts[number - 1].matched:
                    ahead[-1] = ahead[-1] + part.letters
                else:
                    ahead.append(part.letters)
            return ahead
        case _:
            assert_never(behaviour)


def _byte_level(piece: Piece, stage: c.ByteLevel, unicode: c.UnicodeVersions, *, last: bool) -> list[Piece]:
    if stage.add_prefix_space and piece[0].character != " ":
        piece = _in_front(piece, " ")
    pieces = [piece]
    if stage.use_regex:
        gpt2 = c.Regex(_GPT2, Dialect.TOKENIZERS)
        pieces = _behaved(_matches(piece, gpt2, unicode, inverted=False), c.Behaviour.ISOLATED)
    if last:
        return pieces
    return [[Letter(byte_letter(byte), *source) for ch, *source in piece for byte in ch.encode()] for piece in pieces]


def byte_letter(byte: int) -> str:
    """The letter of a byte in GPT-2's alphabet: itself where it can be seen, else the next free one from U+0100."""
    hidden = [*range(0x21), *range(0x7F, 0xA1), 0xAD]
    return chr(0x100 + hidden.index(byte)) if byte in hidden else chr(byte)


def _metaspace(piece: Piece, stage: c.Metaspace, *, first: bool) -> list[Piece]:
    mark = stage.replacement
    piece = [Letter(mark, *source) if ch == " " else Letter(ch, *source) for ch, *source in piece]
    wanted = stage.scheme is c.PrependScheme.ALWAYS or (stage.scheme is c.PrependScheme.FIRST and first)
    if wanted and piece[0].character != mark:
        piece = _in_front(piece, mark)
    if not stage.split:
        return [piece]
    return _behaved(_members(piece, frozenset(mark)), c.Behaviour.MERGED_WITH_NEXT)


def _in_front(piece: Piece, text: str) -> Piece:
    """Something put before the first character; it came from nothing."""
    return edited(piece, [Edit(0, 0, text)])


def _punctuation(unicode: c.UnicodeVersions) -> frozenset[str]:
    return members("P", unicode.categories) | frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
