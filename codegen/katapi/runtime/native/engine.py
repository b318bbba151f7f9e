"""The engine that stands where a tokenizer's scanner and encoder are compiled, and what decides whether they are."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.compiled import EngineForm, why_pure
from katapi.runtime.dataclass import dataclass
from katapi.runtime.native.cuts import NotScannable, cuts_of
from katapi.runtime.tokenization import configuration as c
from katapi.runtime.tokenization.aligned import AlignedText
from katapi.runtime.tokenization.byte_alphabet import IN_NO_TEXT
from katapi.runtime.tokenization.stages import Normalizer
from katapi.runtime.tokenization.surrogates import lone_surrogate
from katapi.runtime.tokenization.vocabulary_data import VocabularyData

if TYPE_CHECKING:
    from katapi.runtime.native.encoder import Encoder
    from katapi.runtime.tokenization.engine import PieceEngine

ENCODER = ("katapi.runtime.native.merging", "katapi.runtime.native.encoder")
"""The compiled modules of every encoder."""
BYTE_LEVEL = "katapi.runtime.native.byte_pairs"
"""That of encoders over bytes; beside it stands the scanner."""
DERIVATION = tuple(f"katapi.runtime.native.{name}" for name in ("trie", "vocabulary", "crossings", "tables"))
"""Those that derive its tables."""
NO_TABLES = "its vocabulary has no tables for compiled code"
"""What stands before the reason for that."""
_MOST_IDLE = 16  # encoders that are kept; each has some megabytes of memos


class NativeEngine:
    """Encodes by compiled code. Safe to share between threads: each call has an encoder of its own.

    An encoder is made when all others are at work, and kept for the next call. The three ways to encode each write out
    how they take one: one call more would be a tenth of a short text's time.
    """

    def __init__(self, make: Callable[[], Encoder], pure: Callable[[], PieceEngine], form: EngineForm) -> None:
        """`pure` makes the same in pure Python, for what has no compiled form."""
        self.form = form
        """Which form of the engine this is: the compiled one."""
        self._make = make
        self._make_pure = pure
        self._idle: list[Encoder] = []

    @property
    def positional(self) -> bool:
        """The ids of a byte-level vocabulary do not depend on where a text stands."""
        return False

    @property
    def takes_text_as_it_is(self) -> bool:
        """Whether the encoders get a text as it comes, so that an error tells where in it a surrogate stands."""
        return True

    @property
    def normalizes(self) -> bool:
        """Whether the encoders get a text as it comes because they normalize it themselves."""
        return False

    def normalizer(self, whole: Normalizer, stages: tuple[c.Normalizer, ...]) -> Normalizer:
        """What normalizes texts for this engine: `whole`, which does the work of `stages`, or what stands in for it."""
        return whole

    def encode(self, text: str, first: bool) -> list[int]:
        """The ids of a normalized text. Raises `TokenizerError` V101 on a lone surrogate, as the others do."""
        try:
            encoder = self._idle.pop()
        except IndexError:
            encoder = self._make()
        try:
            ids = encoder.listed(text)
        except UnicodeEncodeError as error:
            raise lone_surrogate(text, error.start) from None
        finally:
            self._put_back(encoder)
        return ids

    def encode_array(self, text: str, first: bool) -> NDArray[np.int32]:
        """The same as int32 of shape [n]."""
        try:
            encoder = self._idle.pop()
        except IndexError:
            encoder = self._make()
        try:
            count = encoder.encode(text)
            view = encoder.view
            if view is None:
                view = encoder.view = np.frombuffer(memoryview(encoder.out), dtype=np.int32)
            ids = view[:count].copy()
        except UnicodeEncodeError as error:
            raise lone_surrogate(text, error.start) from None
        finally:
            self._put_back(encoder)
        return ids

    def count(self, text: str, first: bool) -> int:
        """How many they are."""
        try:
            encoder = self._idle.pop()
        except IndexError:
            encoder = self._make()
        try:
            count = encoder.encode(text)
        except UnicodeEncodeError as error:
            raise lone_surrogate(text, error.start) from None
        finally:
            self._put_back(encoder)
        return count

    def encode_aligned(self, text: AlignedText, first: bool) -> tuple[list[int], NDArray[np.int64]]:
        """The same, and the source of each token: int64 of shape [n, 2], half-open ranges of bytes."""
        return self._pure.encode_aligned(text, first)

    @cached_property
    def _pure(self) -> PieceEngine:
        return self._make_pure()

    def _put_back(self, encoder: Encoder) -> None:
        if len(self._idle) < _MOST_IDLE:
            self._idle.append(encoder)


@dataclass(frozen=True, eq=False, slots=True)
class NativePlan:
    """That a tokenizer runs compiled, which is known before its tables are there."""

    form: EngineForm
    """That of the engine."""
    _make: Callable[[], NativeEngine]

    def engine(self) -> NativeEngine | str:
        """The engine, its tables found or derived; or why none can be derived, as a clause in English."""
        from katapi.runtime.native.derived import NotDerivable

        try:
            return self._make()
        except NotDerivable as why:
            return f"{NO_TABLES}: {why}"


def native_plan(
    configuration: c.TokenizerConfiguration, data: VocabularyData, pure: Callable[[], PieceEngine]
) -> NativePlan | str:
    """Whether a tokenizer runs compiled, or why it does not, as a clause in English. No table is derived for that.

    `data` hides the control tokens already. Where there is a plan, `pure` raises no `ArtifactError`; this raises A110
    and A124 as it would.
    """
    any_whole = _any_whole(configuration.segmentation)
    if any_whole is None:
        from katapi.runtime.native.unpatterned import unpatterned_plan

        return unpatterned_plan(configuration, data, pure)
    try:
        cuts = cuts_of(configuration.pretokenizers, configuration.unicode)
    except NotScannable as why:
        return f"there is no scanner: {why}"
    try:
        from katapi_scanners import SCANNERS
    except ImportError:
        return "katapi_scanners is not installed"
    name = SCANNERS.get(cuts)
    if name is None:
        return "no scanner was generated for its pattern"
    scanner = f"katapi_scanners.{name}"
    reason = why_pure(*ENCODER, BYTE_LEVEL, *DERIVATION, scanner)
    if reason is not None:
        return reason
    by_rank = isinstance(configuration.segmentation, c.BytePairRanks)
    missing = [byte for byte in data.missing_bytes() if by_rank or byte not in IN_NO_TEXT]
    if missing:
        return f"{NO_TABLES}: the byte {missing[0]} is no token"
    form = EngineForm("compiled", (*ENCODER, BYTE_LEVEL, scanner), "its scanner and the encoder are compiled")

    def engine() -> NativeEngine:
        from katapi.runtime.native.derived import tables_of

        tables = tables_of(cuts, data, by_rank=by_rank, any_whole=any_whole)
        encoder: Callable[[dict[str, bytes]], Encoder] = import_module(scanner).Scanner
        return NativeEngine(lambda: encoder(tables), pure, form)

    return NativePlan(form, engine)


def _any_whole(rules: c.Segmentation) -> bool | None:
    """Whether every piece that is a token is that token; None where there is no compiled form of the rules."""
    match rules:
        case c.BytePairRanks():
            return True
        case c.BytePairMerges(over_bytes=True, byte_fallback=False, continuing_prefix="", word_suffix=""):
            return rules.ignore_merges
        case _:
            return None
