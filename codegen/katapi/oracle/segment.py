"""Every segmentation of a configuration: how a piece becomes tokens, found by trying all there is to try."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, assert_never

from katapi.oracle.pretokenize import byte_letter
from katapi.runtime.errors import TokenizerError
from katapi.runtime.tokenization import configuration as c

_PENALTY = 10.0  # how much less than the lowest score an unknown character scores


@dataclass(frozen=True, eq=False)
class Known:
    """What an artifact says of a vocabulary, in lists and dictionaries.

    `tokens` gives the bytes of each id, `merges` two ids and what they become, the first to merge in front. The text of
    an id in `unreachable` is never made. No text yields an id in `controls` in any way.
    """

    tokens: dict[int, bytes]
    merges: list[tuple[int, int, int]]
    scores: list[float]
    lowest: float
    unreachable: frozenset[int]
    controls: frozenset[int]

    def is_hidden(self, number: int) -> bool:
        """Whether the text of an id is never made."""
        return number in self.unreachable or number in self.controls

    @cached_property
    def ids(self) -> dict[bytes, int]:
        """The id of each token whose text can be made; of two alike the later counts."""
        return {token: number for number, token in sorted(self.tokens.items()) if not self.is_hidden(number)}

    @cached_property
    def texts(self) -> dict[str, int]:
        """The same by text."""
        return {token.decode(): number for token, number in self.ids.items()}

    @cached_property
    def merges_by_pair(self) -> dict[tuple[int, int], tuple[int, int]]:
        """The place in the list and the result of each pair that merges; of two alike the later counts."""
        return {
            (left, right): (rank, result)
            for rank, (left, right, result) in enumerate(self.merges)
            if not any(map(self.is_hidden, (left, right, result)))
        }

    def in_bytes(self, text: str) -> list[int] | None:
        """The tokens "<0x00>" to "<0xFF>" of the bytes of a text; None where one is missing."""
        named = {token: number for number, token in sorted(self.tokens.items()) if number not in self.controls}
        found = [named.get(b"<0x%02X>" % byte) for byte in text.encode()]
        spelled = [number for number in found if number is not None]
        return spelled if len(spelled) == len(found) else None


class Token(NamedTuple):
    """An id and the half-open range of characters of the piece that it covers."""

    id: int
    start: int
    end: int


def segmented(piece: str, rules: c.Segmentation, known: Known, unknown: int | None) -> list[Token]:
    """The tokens of a piece. Tokens that share a character all cover it. Raises `TokenizerError`."""
    match rules:
        case c.LongestMatch():
            return _longest_matches(piece, known, _needed(unknown))
        case c.BytePairRanks():
            return _by_ranks(piece, known)
        case c.BytePairMerges():
            return _by_merges(piece, rules, known, unknown)
        case c.BytePairScores():
            return _by_scores(piece, rules, known, _needed(unknown))
        case c.Unigram():
            return _unigram(piece, rules, known, unknown)
        case c.WordPiece():
            return _word_pieces(piece, rules, known, _needed(unknown))
        case _:
            assert_never(rules)


def _needed(unknown: int | None) -> int:
    assert unknown is not None, "this segmentation has an unknown token"
    return unknown


# ---- the longest token first


def _longest_matches(piece: str, known: Known, unknown: int) -> list[Token]:
    """At each place the longest token that fits, or the unknown token, which no text spells, for one character."""
    texts = {text: number for text, number in known.texts.items() if number != unknown}
    longest = max(map(len, texts), default=0)
    out: list[Token] = []
    at = 0
    while at < len(piece):
        end = next((end for end in range(min(len(piece), at + longest), at, -1) if piece[at:end] in texts), None)
        out.append(Token(unknown, at, at + 1) if end is None else Token(texts[piece[at:end]], at, end))
        at = out[-1].end
    return out


def _word_pieces(piece: str, rules: c.WordPiece, known: Known, unknown: int) -> list[Token]:
    """The same within a word; a word that is too long, or has a place where nothing fits, is unknown as a whole."""
    out: list[Token] = []
    at = 0
    while at < len(piece) <= rules.longest_word:
        prefix = rules.continuing_prefix if at else ""
        end = next((end for end in range(len(piece), at, -1) if prefix + piece[at:end] in known.texts), None)
        if end is None:
            break
        out.append(Token(known.texts[prefix + piece[at:end]], at, end))
        at = end
    return out if at == len(piece) else [Token(unknown, 0, len(piece))]


# ---- byte-pair encoding


def _by_ranks(piece: str, known: Known) -> list[Token]:
    """A piece that is a token is that token; else the pair that makes the token of the lowest id merges first."""
    data = piece.encode()
    if data in known.ids:
        return [Token(known.ids[data], 0, len(piece))]
    symbols = [bytes([byte]) for byte in data]
    while True:
        pairs = [
            (known.ids[left + right], at)
            for at, (left, right) in enumerate(pairwise(symbols))
            if left + right in known.ids
        ]
        if not pairs:
            break
        _, at = min(pairs)
        symbols[at : at + 2] = [symbols[at] + symbols[at + 1]]
    out: list[Token] = []
    at = 0
    for symbol in symbols:
        if symbol not in known.ids:
            raise TokenizerError(f"the vocabulary has no token for the byte {symbol!r}", code="V105")
        out.append(_touching(piece, Token(known.ids[symbol], at, at + len(symbol))))
        at += len(symbol)
    return out


def _touching(piece: str, token: Token) -> Token:
    """A token that covers a range of bytes, with the range of characters that they touch."""
    owners = [at for at, character in enumerate(piece) for _ in character.encode()]
    return Token(token.id, owners[token.start], owners[token.end - 1] + 1)


def _by_merges(piece: str, rules: c.BytePairMerges, known: Known, unknown: int | None) -> list[Token]:
    """Of the pairs in the list of merges, the one that stands first there merges first, and of these the leftmost."""
    whole = known.ids.get(piece.encode())
    if rules.ignore_merges and whole is not None:
        return [Token(whole, 0, len(piece))]
    symbols = _symbols(piece, rules, known, unknown)
    ranks = known.merges_by_pair
    while True:
        pairs = [
            (*ranks[left.id, right.id], at)
            for at, (left, right) in enumerate(pairwise(symbols))
            if (left.id, right.id) in ranks
        ]
        if not pairs:
            break
        _, result, at = min(pairs, key=lambda pair: (pair[0], pair[2]))
        symbols[at : at + 2] = [Token(result, symbols[at].start, symbols[at + 1].end)]
    return [_touching(piece, symbol) for symbol in symbols] if rules.over_bytes else symbols


def _symbols(piece: str, rules: c.BytePairMerges, known: Known, unknown: int | None) -> list[Token]:
    """A symbol for each unit of a piece, a character or a byte.

    The reference keeps an unknown unit back until a unit comes that is a token, and lets units that it spells in bytes
    pass it. As starts and ends may not decrease, what has changed places covers more.
    """
    units = [bytes([byte]) for byte in piece.encode()] if rules.over_bytes else [ch.encode() for ch in piece]
    out: list[Token] = []
    held: Token | None = None
    for at, unit in enumerate(units):
        before = rules.continuing_prefix.encode() if at else b""
        behind = rules.word_suffix.encode() if at == len(units) - 1 else b""
        token = known.ids.get(before + unit + behind)
        if token is not None:
            out += [held] if held else []
            held = None
            out.append(Token(token, at, at + 1))
            continue
        shown = byte_letter(unit[0]) if rules.over_bytes else unit.decode()
        text = before.decode() + shown + behind.decode()
        spelled = known.in_bytes(text) if rules.byte_fallback else None
        if spelled is not None and not any(map(known.is_hidden, spelled)):
            out += [Token(number, at, at + 1) for number in spelled]
        elif unknown is not None and held and rules.fuse_unknown:
            held = Token(unknown, held.start, at + 1)
        elif unknown is not None:
            out += [held] if held else []
            held = Token(unknown, at, at + 1)
    out += [held] if held else []
    return [
        Token(token.id, min(t.start for t in out[at:]), max(t.end for t in out[: at + 1]))
        for at, token in enumerate(out)
    ]


def _by_scores(piece: str, rules: c.BytePairScores, known: Known, unknown: int) -> list[Token]:
    """Of the pairs that make a token, the one of the highest score merges first, and of these the leftmost."""
    texts = {text: number for text, number in known.texts.items() if number != unknown}
    symbols = list(piece)
    while True:
        pairs = [
            (-known.scores[texts[left + right]], at)
            for at, (left, right) in enumerate(pairwise(symbols))
            if left + right in texts
        ]
        if not pairs:
            break
        _, at = min(pairs)
        symbols[at : at + 2] = [symbols[at] + symbols[at + 1]]
    tokens: list[Token] = []
    at = 0
    for symbol in symbols:
        tokens.append(Token(texts.get(symbol, unknown), at, at + len(symbol)))
        at += len(symbol)
    spelled = _each_spelled(piece, tokens, unknown, known.in_bytes) if rules.byte_fallback else tokens
    return _fused(spelled, unknown)


def _each_spelled(
    piece: str, tokens: list[Token], unknown: int, in_bytes: Callable[[str], list[int] | None]
) -> list[Token]:
    """The tokens with each unknown one spelled in bytes, where that can be."""
    out: list[Token] = []
    for token in tokens:
        spelled = in_bytes(piece[token.start : token.end]) if token.id == unknown else None
        out += [token] if spelled is None else [Token(number, token.start, token.end) for number in spelled]
    return out


def _fused(tokens: list[Token], unknown: int | None) -> list[Token]:
    """The tokens with unknown neighbours as one."""
    out: list[Token] = []
    for token in tokens:
        if out and token.id == unknown == out[-1].id:
            out[-1] = Token(token.id, out[-1].start, token.end)
        else:
            out.append(token)
    return out


# ---- the highest score


def _unigram(piece: str, rules: c.Unigram, known: Known, unknown: int | None) -> list[Token]:
    """The best segmentation of the text up to each place, from all of those up to the places before it.

    Sums are taken from the left, and of two that are equal the one whose last token begins further left stays. Then
    unknown neighbours are one: the token of their joint text if there is one, their bytes, or the unknown token.
    """
    texts = {text: number for text, number in known.texts.items() if text}
    longest = max(map(len, texts), default=1)
    best: list[tuple[float, list[Token]]] = [(0.0, [])]
    for end in range(1, len(piece) + 1):
        found: tuple[float, list[Token]] | None = None
        for start in range(max(0, end - longest), end):
            number = texts.get(piece[start:end])
            if number is None and start < end - 1:
                continue
            score = _rounded(known.lowest - _PENALTY, rules) if number is None else known.scores[number]
            total = _rounded(best[start][0] + score, rules)
            if found is not None and total <= found[0]:
                continue
            last = unknown if number is None else number
            if last is None:
                raise TokenizerError(f"the vocabulary has no token for {piece[start]!r}", code="V107")
            found = total, [*best[start][1], Token(last, start, end)]
        assert found is not None
        best.append(found)
    out: list[Token] = []
    for token in _fused(best[-1][1], unknown):
        text = piece[token.start : token.end]
        spelled = known.in_bytes(text) if rules.byte_fallback and token.id == unknown else None
        if token.id == unknown and text in texts:
            out.append(Token(texts[text], token.start, token.end))
        elif spelled is not None:
            owners = [at for at in range(token.start, token.end) for _ in piece[at].encode()]
            out += [Token(number, at, at + 1) for number, at in zip(spelled, owners, strict=True)]
        else:
            out.append(token)
    return out


def _rounded(total: float, rules: c.Unigram) -> float:
    """A sum in binary32, where the rules say so."""
    return float(struct.unpack("<f", struct.pack("<f", total))[0]) if rules.binary32 else total
