"""Decoders as what each token becomes by itself: then all of them at once are joined bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import takewhile

from katapi.runtime.dataclass import dataclass
from katapi.runtime.tokenization.decoder_stages import (
    ByteFallbackDecoder,
    DecoderStage,
    FuseDecoder,
    OfText,
    byte_of,
)

OfToken = Callable[[str], bytes]
"""The bytes of a token, from its text."""


@dataclass(frozen=True, slots=True)
class OwnForms:
    """What tokens become, whatever stands beside them.

    Joined, these are the bytes of the result of all decoders before "Fuse". Where they are valid UTF-8, so is every run
    of byte-fallback tokens: what stands on either side of a run is whole characters.
    """

    first: OfToken | None
    """The first token, where it becomes something else than the others."""
    later: OfToken
    """Each other token."""
    fused: Sequence[OfText]
    """What becomes of the text of all of them, one function after the other."""


def own_forms(stages: Sequence[DecoderStage]) -> OwnForms | None:
    """The form of some decoders; None where a token becomes something else beside others."""
    apart = [*takewhile(lambda stage: not isinstance(stage, FuseDecoder), stages)]
    fused = [stage.fused() for stage in stages[len(apart) :]]
    by_bytes = bool(apart) and isinstance(apart[-1], ByteFallbackDecoder)
    alone = [stage.alone() for stage in (apart[:-1] if by_bytes else apart)]
    known = [each for each in alone if each is not None]
    whole = [each for each in fused if each is not None]
    if len(known) < len(alone) or len(whole) < len(fused):
        return None
    first, later = [each for each, _ in known], [each for _, each in known]
    return OwnForms(
        None if first == later else _bytes_by(first, by_bytes=by_bytes),
        _bytes_by(later, by_bytes=by_bytes),
        [each for each in whole if each is not str],
    )


def _bytes_by(functions: Sequence[OfText], *, by_bytes: bool) -> OfToken:
    def bytes_of(token: str) -> bytes:
        for function in functions:
            token = function(token)
        byte = byte_of(token) if by_bytes else None
        return token.encode() if byte is None else bytes([byte])

    return bytes_of
