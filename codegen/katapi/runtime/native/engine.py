"""The compiled engines of tokenizers, and what decides whether one has such an engine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.compiled import EngineForm, why_pure
from katapi.runtime.dataclass import dataclass
from katapi.runtime.native.cuts import NotScannable, cuts_of, trees_of
from katapi.runtime.patterns.syntax import PatternError
from katapi.runtime.tokenization import configuration as c
from katapi.runtime.tokenization.aligned import AlignedText
from katapi.runtime.tokenization.byte_alphabet import IN_NO_TEXT
from katapi.runtime.tokenization.stages import Normalizer
from katapi.runtime.tokenization.surrogates import lone_surrogate
from katapi.runtime.tokenization.vocabulary_data import VocabularyData

if TYPE_CHECKING:
    from katapi.runtime.native.kernel import Kernel
    from katapi.runtime.tokenization.engine import PieceEngine

BYTE_LEVEL = tuple(f"katapi.runtime.native.{name}" for name in ("merging", "whole_tokens", "byte_pairs", "kernel"))
"""The compiled modules of encoders over bytes."""
DERIVATION = tuple(f"katapi.runtime.native.{name}" for name in ("encoder", "trie", "vocabulary", "crossings", "tables"))
"""Those that derive its tables."""
NO_TABLES = "its vocabulary has no tables for compiled code"
"""What stands before the reason for that."""
NOT_CUT = "compiled code does not cut as its pre-tokenizers do"
"""And before the reason for this."""
_INT32 = np.dtype(np.int32)


def unpacked(ids: bytearray) -> NDArray[np.int32]:
    """Packed ids as int32 of shape [n], whose memory they are: numpy's fastest way to an array of one's own."""
    return np.ndarray(len(ids) >> 2, _INT32, ids)


class NativeEngine(ABC):
    """Encodes by compiled code, and finds spans in pure Python. Safe to share between threads."""

    def __init__(self, pure: Callable[[], PieceEngine], form: EngineForm) -> None:
        """`pure` makes the same in pure Python, for what has no compiled form."""
        self.form = form
        """Which form of the engine this is: the compiled one."""
        self._make_pure = pure

    @property
    @abstractmethod
    def positional(self) -> bool:
        """Whether the ids depend on `first`."""

    @property
    def normalizes(self) -> bool:
        """Whether the encoders get a text as it comes because they normalize it themselves."""
        return False

    @abstractmethod
    def normalizer(self, whole: Normalizer, stages: tuple[c.Normalizer, ...]) -> Normalizer:
        """What normalizes texts for this engine: `whole`, which does the work of `stages`, or what stands in for it."""

    @abstractmethod
    def encode(self, text: str, first: bool) -> list[int]:
        """The ids of a normalized text. Raises `TokenizerError` V101 on a lone surrogate, as the others do."""

    @abstractmethod
    def encode_array(self, text: str, first: bool) -> NDArray[np.int32]:
        """The same as int32 of shape [n]."""

    @abstractmethod
    def encode_bytes(self, text: str, first: bool) -> bytes:
        """The same in the bytes of an int64 array."""

    @abstractmethod
    def count(self, text: str, first: bool) -> int:
        """How many they are."""

    def encode_aligned(self, text: AlignedText, first: bool) -> tuple[list[int], NDArray[np.int64]]:
        """The same, and the source of each token: int64 of shape [n, 2], half-open ranges of bytes."""
        return self._pure.encode_aligned(text, first)

    @cached_property
    def _pure(self) -> PieceEngine:
        return self._make_pure()


class ByteLevelEngine(NativeEngine):
    """Encodes by a kernel."""

    def __init__(self, kernel: Kernel, pure: Callable[[], PieceEngine], form: EngineForm) -> None:
        """`pure` as `NativeEngine` takes it."""
        super().__init__(pure, form)
        self.kernel = kernel
        """What gives the ids of a text, and tells a lone surrogate as Python does."""

    @property
    def positional(self) -> bool:
        """The ids of a byte-level vocabulary do not depend on where a text stands."""
        return False

    def normalizer(self, whole: Normalizer, stages: tuple[c.Normalizer, ...]) -> Normalizer:
        """The kernel takes text as it is."""
        return whole

    def encode(self, text: str, first: bool) -> list[int]:
        """The ids of a normalized text."""
        try:
            return self.kernel.encode(text)
        except UnicodeEncodeError as error:
            raise lone_surrogate(text, error.start) from None

    def encode_array(self, text: str, first: bool) -> NDArray[np.int32]:
        """The same as int32 of shape [n]."""
        try:
            return unpacked(self.kernel.packed(text))
        except UnicodeEncodeError as error:
            raise lone_surrogate(text, error.start) from None

    def encode_bytes(self, text: str, first: bool) -> bytes:
        """The same in the bytes of an int64 array."""
        try:
            return self.kernel.packed64(text)
        except UnicodeEncodeError as error:
            raise lone_surrogate(text, error.start) from None

    def count(self, text: str, first: bool) -> int:
        """How many they are."""
        try:
            return self.kernel.count(text)
        except UnicodeEncodeError as error:
            raise lone_surrogate(text, error.start) from None


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
        except (NotScannable, PatternError) as why:
            return f"{NOT_CUT}: {why}"


def native_plan(
    configuration: c.TokenizerConfiguration, data: VocabularyData, pure: Callable[[], PieceEngine]
) -> NativePlan | str:
    """Whether a tokenizer runs compiled, or why it does not, as a clause in English. No table is derived for that.

    So what takes one to tell, such as a pattern that looks far ahead, is told when the engine is made.

    `data` hides the control tokens already. Where there is a plan, `pure` raises no `ArtifactError`; this raises A110
    and A124 as it would.
    """
    any_whole = _any_whole(configuration.segmentation)
    if any_whole is None:
        from katapi.runtime.native.unpatterned import unpatterned_plan

        return unpatterned_plan(configuration, data, pure)
    try:
        cuts = cuts_of(configuration.pretokenizers, configuration.unicode)
        trees_of(cuts)  # or a pattern is none, as the pure form tells
    except (NotScannable, PatternError) as why:
        return f"{NOT_CUT}: {why}"
    reason = why_pure(*BYTE_LEVEL, *DERIVATION)
    if reason is not None:
        return reason
    by_rank = isinstance(configuration.segmentation, c.BytePairRanks)
    missing = [byte for byte in data.missing_bytes() if by_rank or byte not in IN_NO_TEXT]
    if missing:
        return f"{NO_TABLES}: the byte {missing[0]} is no token"
    form = EngineForm("compiled", BYTE_LEVEL, "its encoder is compiled")

    def engine() -> NativeEngine:
        from katapi.runtime.native.byte_pairs import TABLES, BytePairs
        from katapi.runtime.native.derived import tables_of
        from katapi.runtime.native.kernel import Kernel

        tables = tables_of(cuts, data, by_rank=by_rank, any_whole=any_whole)
        wanted = {name: tables[name] for name in TABLES}  # the kernel has what it needs for itself
        return ByteLevelEngine(Kernel(tables, lambda: BytePairs(wanted).ids), pure, form)

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
