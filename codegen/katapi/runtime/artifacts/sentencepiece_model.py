"""Reads SentencePiece's `.model` files: the Protocol Buffers message `ModelProto` of `sentencepiece_model.proto`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from math import isfinite
from typing import TypeVar, assert_never

from katapi.runtime.artifacts.protobuf import Field, read_fields
from katapi.runtime.artifacts.tokenizer_file import TokenizerFile
from katapi.runtime.errors import ArtifactError
from katapi.runtime.places import quoted
from katapi.runtime.tokenization import configuration as c
from katapi.runtime.tokenization.tokens import Tokens
from katapi.runtime.tokenization.vocabulary_data import VocabularyData, score_array

_MARK = "▁"

Number = TypeVar("Number", bound=Enum)


class _Kind(Enum):
    """What a piece is for."""

    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


class _Algorithm(Enum):
    """How text is segmented."""

    UNIGRAM = 1
    BPE = 2
    WORD = 3
    CHAR = 4


@dataclass(frozen=True, slots=True)
class _Piece:
    text: str
    score: float
    kind: _Kind


@dataclass(slots=True)
class _Trainer:
    """The settings of `TrainerSpec` that matter after training."""

    algorithm: _Algorithm = _Algorithm.UNIGRAM
    whitespace_as_suffix: bool = False
    byte_fallback: bool = False


@dataclass(slots=True)
class _Normalization:
    """The settings of `NormalizerSpec`."""

    charsmap: bytes = b""
    dummy_prefix: bool = True
    remove_extra: bool = True
    escape: bool = True


def read_sentencepiece(data: bytes, *, where: str) -> TokenizerFile:
    """The tokenizer of a `.model` file; `where` names it in errors.

    Pieces that the file calls control, user defined or unknown become added tokens, so that no text yields them; user
    defined white space stays text. Decoding gives the spelling of every control token, where the library leaves it out.
    Raises `ArtifactError` A135, naming the byte, where the file is no such message or its vocabulary is not one, and
    for models of the kinds WORD and CHAR.
    """
    pieces: list[_Piece] = []
    ids: dict[str, int] = {}
    trainer, normalization = _Trainer(), _Normalization()
    for field in read_fields(data, file=where):
        match field.number:
            case 1:
                piece = _piece(field)
                if ids.setdefault(piece.text, len(pieces)) != len(pieces):
                    raise field.fault(
                        f"the piece {quoted(piece.text)} of id {len(pieces)} is that of id {ids[piece.text]}"
                    )
                pieces.append(piece)
            case 2:
                _read_trainer(field, trainer)
            case 3:
                _read_normalization(field, normalization)
            case _:
                pass
    if not pieces:
        raise ArtifactError("the file holds no pieces", code="A135", where=where)
    unknown = [token for token, piece in enumerate(pieces) if piece.kind is _Kind.UNKNOWN]
    if len(unknown) != 1:
        raise ArtifactError(f"expected one unknown piece, found {len(unknown)}", code="A135", where=where)
    added = tuple(
        c.AddedToken.of_file(token, piece.text, special=piece.kind is not _Kind.USER_DEFINED)
        for token, piece in enumerate(pieces)
        if piece.kind in (_Kind.CONTROL, _Kind.UNKNOWN, _Kind.USER_DEFINED)
    )
    configuration = c.TokenizerConfiguration(
        normalizers=_normalizers(trainer, normalization),
        pretokenizers=(),
        segmentation=_segmentation(pieces, trainer, where),
        frame=c.Frame(),
        decoders=_decoders(trainer, normalization),
        unknown=unknown[0],
        added_tokens=added,
    )
    return TokenizerFile(configuration, _data(pieces, trainer, normalization.charsmap, added))


def _piece(field: Field) -> _Piece:
    text, score, kind = "", 0.0, _Kind.NORMAL
    for member in field.fields():
        match member.number:
            case 1:
                text = member.text()
            case 2:
                score = member.number32()
            case 3:
                kind = _member_of(_Kind, member)
            case _:
                pass
    if not text:
        raise field.fault("a piece without text")
    if not isfinite(score):
        raise field.fault(f"the score of {quoted(text)} is no finite number")
    return _Piece(text, score, kind)


def _read_trainer(field: Field, trainer: _Trainer) -> None:
    for member in field.fields():
        match member.number:
            case 3:
                trainer.algorithm = _member_of(_Algorithm, member)
            case 24:
                trainer.whitespace_as_suffix = member.flag()
            case 35:
                trainer.byte_fallback = member.flag()
            case _:
                pass


def _read_normalization(field: Field, normalization: _Normalization) -> None:
    for member in field.fields():
        match member.number:
            case 2:
                normalization.charsmap = member.data()
            case 3:
                normalization.dummy_prefix = member.flag()
            case 4:
                normalization.remove_extra = member.flag()
            case 5:
                normalization.escape = member.flag()
            case _:
                pass


def _member_of(numbers: type[Number], field: Field) -> Number:
    try:
        return numbers(field.integer())
    except ValueError:
        raise field.fault(f"unknown number {field.integer()} of a {numbers.__name__.strip('_').lower()}") from None


def _normalizers(trainer: _Trainer, normalization: _Normalization) -> tuple[c.Normalizer, ...]:
    charsmap = (c.CharacterMap(),) if normalization.charsmap else ()
    spaces = c.Spaces(
        dummy=normalization.dummy_prefix,
        remove_extra=normalization.remove_extra,
        mark=_MARK if normalization.escape else " ",
        behind=trainer.whitespace_as_suffix,
    )
    return (*charsmap, spaces)


def _segmentation(pieces: list[_Piece], trainer: _Trainer, where: str) -> c.Segmentation:
    match trainer.algorithm:
        case _Algorithm.UNIGRAM:
            return c.Unigram(trainer.byte_fallback, binary32=True)
        case _Algorithm.BPE if all(piece.kind is not _Kind.UNUSED for piece in pieces):
            return c.BytePairScores(trainer.byte_fallback)
        case _Algorithm.BPE:
            message = "pieces that byte-pair encoding makes and takes apart again (UNUSED) are not supported"
        case _Algorithm.WORD | _Algorithm.CHAR:
            message = f"models of the kind {trainer.algorithm.name} are not supported; UNIGRAM and BPE are"
        case _:
            assert_never(trainer.algorithm)
    raise ArtifactError(message, code="A135", where=where)


def _data(pieces: list[_Piece], trainer: _Trainer, charsmap: bytes, added: tuple[c.AddedToken, ...]) -> VocabularyData:
    scores = [piece.score for piece in pieces]
    normal = [piece.score for piece in pieces if piece.kind is _Kind.NORMAL] or [0.0]
    if trainer.algorithm is _Algorithm.UNIGRAM:
        best = max(normal)
        scores = [_unigram_score(piece, best) for piece in pieces]
    return VocabularyData(
        Tokens.of(piece.text.encode() for piece in pieces),
        scores=score_array(scores),
        lowest=min(normal),
        unreachable=frozenset(token for token, piece in enumerate(pieces) if piece.kind in (_Kind.BYTE, _Kind.UNUSED)),
        charsmap=charsmap,
        added=added,
    )


def _unigram_score(piece: _Piece, best: float) -> float:
    """The score of a piece; that of a user defined one follows from its length and the best score of any piece."""
    return len(piece.text.encode()) * best - 0.1 if piece.kind is _Kind.USER_DEFINED else piece.score


def _decoders(trainer: _Trainer, normalization: _Normalization) -> tuple[c.Decoder, ...]:
    decoders: list[c.Decoder] = []
    if normalization.escape:
        decoders.append(c.DecodeReplace(c.Verbatim(_MARK), " "))
    if trainer.byte_fallback:
        decoders.append(c.DecodeByteFallback())
    decoders.append(c.Fuse())
    if normalization.dummy_prefix and not trainer.whitespace_as_suffix:
        decoders.append(c.DecodeStrip(" ", 1, 0))
    return tuple(decoders)
