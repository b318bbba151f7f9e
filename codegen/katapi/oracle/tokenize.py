"""What a template printed → ids, and for each id the segments that it touches.

The text between two control tokens is one run. A run is normalized, cut into pieces by the pre-tokenizer's patterns one
after the other, and each piece is segmented. No text can yield a control id: a vocabulary's ordinary tokens hold none.
"""

from __future__ import annotations

from collections.abc import Mapping

from katapi.model.declarations import Normalizer, Segmentation, Tokenizer, Vocabulary
from katapi.model.program import Program
from katapi.oracle.normalize import Part, parts
from katapi.oracle.regex import split
from katapi.runtime.errors import TokenizerError
from katapi.runtime.segments import ControlSegment, Rendering


def tokenize(
    program: Program, rendering: Rendering, ranks: Mapping[bytes, int] | None = None
) -> tuple[list[int], list[tuple[int, ...]]]:
    """The ids of a rendering, and for each the indices of the segments that it touches, ascending.

    `ranks` gives the id of each ordinary token of a vocabulary with an artifact. Raises `TokenizerError`.
    """
    ids: list[int] = []
    origins: list[tuple[int, ...]] = []
    run: list[int] = []

    def finish_run() -> None:
        owners = [index for index in run for _ in rendering.segments[index].text]
        text = "".join(rendering.segments[index].text for index in run)
        for token, touched in _run(program.tokenizer, program.vocabulary, ranks or {}, text, owners):
            ids.append(token)
            origins.append(touched)
        run.clear()

    for index, segment in enumerate(rendering.segments):
        if isinstance(segment, ControlSegment):
            finish_run()
            ids.append(segment.token.id)
            origins.append((index,))
        else:
            run.append(index)
    finish_run()
    return ids, origins


def encode(program: Program, text: str, ranks: Mapping[bytes, int] | None = None) -> list[int]:
    """The ids of one run of text."""
    return [t for t, _ in _run(program.tokenizer, program.vocabulary, ranks or {}, text, [0] * len(text))]


def _run(
    tokenizer: Tokenizer, vocabulary: Vocabulary, ranks: Mapping[bytes, int], text: str, owners: list[int]
) -> list[tuple[int, tuple[int, ...]]]:
    """The tokens of a run; `owners` gives the segment of each character."""
    if any("\ud800" <= c <= "\udfff" for c in text):
        raise TokenizerError("the text holds a lone surrogate, which is no character", code="V101")
    stretches = _normalized(tokenizer, text)
    owners_of_byte: list[tuple[int, ...]] = []
    position = 0
    for source, normalized in stretches:
        touched = tuple(sorted(set(owners[position : position + len(source)])))
        position += len(source)
        owners_of_byte += [touched] * len(normalized.encode())
    out: list[tuple[int, tuple[int, ...]]] = []
    start = 0
    for piece in _pieces(tokenizer, "".join(normalized for _, normalized in stretches)):
        for token, width in _segmented(tokenizer, vocabulary, ranks, piece):
            own = {owner for owners in owners_of_byte[start : start + width] for owner in owners}
            start += width
            out.append((token, tuple(sorted(own))))
    return out


def _normalized(tokenizer: Tokenizer, text: str) -> list[Part]:
    match tokenizer.normalizer:
        case Normalizer.NONE:
            return [Part(c, c) for c in text]
        case Normalizer.NFC:
            assert tokenizer.normalizer_unicode is not None, "the resolver asks for a version"
            return parts(text, tokenizer.normalizer_unicode)


def _pieces(tokenizer: Tokenizer, text: str) -> list[str]:
    pieces = [text] if text else []
    for pattern in tokenizer.splits:
        assert tokenizer.unicode is not None, "the resolver asks for a version where there is a pattern"
        pieces = [part for piece in pieces for part in split(pattern.regex, tokenizer.unicode, piece)]
    return pieces


def _segmented(
    tokenizer: Tokenizer, vocabulary: Vocabulary, ranks: Mapping[bytes, int], piece: str
) -> list[tuple[int, int]]:
    """The tokens of a piece, each with its length in bytes."""
    match tokenizer.segmentation:
        case Segmentation.LONGEST_MATCH:
            return _longest_matches(vocabulary, piece)
        case Segmentation.BPE_BYTES:
            return _merged(ranks, piece.encode())


def _longest_matches(vocabulary: Vocabulary, piece: str) -> list[tuple[int, int]]:
    """At each place the longest token that fits, or the unknown token for one character."""
    assert vocabulary.unknown is not None, "the resolver asks for it"
    tokens = sorted(vocabulary.texts, key=lambda token: len(token.text), reverse=True)
    out: list[tuple[int, int]] = []
    at = 0
    while at < len(piece):
        found = next((token for token in tokens if piece.startswith(token.text, at)), None)
        text = piece[at] if found is None else found.text
        out.append((vocabulary.unknown.id if found is None else found.id, len(text.encode())))
        at += len(text)
    return out


def _merged(ranks: Mapping[bytes, int], piece: bytes) -> list[tuple[int, int]]:
    """Byte pair encoding by ranks: a piece that is a token is that token; else the pair of lowest rank merges first."""
    if piece in ranks:
        return [(ranks[piece], len(piece))]
    symbols = [bytes([byte]) for byte in piece]
    while True:
        pairs = [(ranks[symbols[i] + symbols[i + 1]], i) for i in range(len(symbols) - 1) if _pair(symbols, i) in ranks]
        if not pairs:
            break
        _, i = min(pairs)
        symbols[i : i + 2] = [_pair(symbols, i)]
    missing = next((symbol for symbol in symbols if symbol not in ranks), None)
    if missing is not None:
        raise TokenizerError(f"the vocabulary has no token for the byte {missing!r}", code="V105")
    return [(ranks[symbol], len(symbol)) for symbol in symbols]


def _pair(symbols: list[bytes], at: int) -> bytes:
    return symbols[at] + symbols[at + 1]
