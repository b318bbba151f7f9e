"""What the encoder of segments has to know of a tokenizer: how a segment is normalized, and where a text can be cut.

A text is cut only where no stage of the normalizer looks over the place, as the stages themselves say (`Tie`); where
one cannot, or text is cut into words in another way, there are no such rules.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property, lru_cache

import numpy as np

from katapi.runtime.dataclass import dataclass
from katapi.runtime.tokenization import configuration as c
from katapi.runtime.tokenization.build_stages import build_normalizer
from katapi.runtime.tokenization.charsmap import CharacterMap
from katapi.runtime.tokenization.options import NormalForm, PrependScheme
from katapi.runtime.tokenization.stages import Normalizer
from katapi.runtime.tokenization.vocabulary_data import VocabularyData
from katapi.runtime.unicode import tables
from katapi.runtime.unicode.codepoints import CodePoints, Tie, ranges_of

_MARK = "▁"
_PAGE = 64
_STAYS = "~"  # between characters that are tried


@dataclass(frozen=True, eq=False)
class _Stage:
    """A stage of a normalizer that changes characters."""

    normalize: Callable[[str], str]
    tied: CodePoints
    """Characters that are tied to others, whatever these are."""
    special: CodePoints
    """These, and those that are tied to some others."""


class SegmentRules:
    """The rules of one tokenizer."""

    def __init__(self, stages: tuple[_Stage, ...], white_space: str, in_tokens: CodePoints, *, apart: bool) -> None:
        """`white_space` is a pattern of what stands between words; no character is apart where not `apart`."""
        self._stages = stages
        self._space = re.compile(white_space)
        self._in_tokens = in_tokens
        self._apart = apart
        self.kinds = lru_cache(maxsize=None)(self._kinds)
        """What `SegmentEncoder` takes as `kinds`."""

    def spaced(self, segment: str) -> str | None:
        """What `SegmentEncoder` takes as `spaced`."""
        for stage in self._stages:
            segment = stage.normalize(segment)
        return None if _MARK in segment else self._space.sub(" ", segment)

    @cached_property
    def ascii_kinds(self) -> bytes:
        """What `SegmentEncoder` takes as `ascii_kinds`: a byte for each of 256."""
        from katapi.runtime.native.segments import BREAK, PLAIN

        kinds = bytearray(256)
        for code in range(0x80):
            character = chr(code)
            if self.spaced(character) == " " and not self._is_special(code, code):
                kinds[code] = BREAK
            elif self._stay(character, code, code):
                kinds[code] = PLAIN
        return bytes(kinds)

    @cached_property
    def hold(self) -> bool:
        """Whether a text can be cut before each space, and no character of ASCII is tied to whatever stands there."""
        return (
            self.spaced(" ") == " "
            and not any(self._is_tied(chr(code)) for code in range(0x80))
            and not self._is_special(0x20, 0x20)
        )

    def _kinds(self, first: int) -> tuple[int, int]:
        apart, tied = 0, 0
        last = first + _PAGE - 1
        if 0xD800 <= first < 0xE000:
            return 0, 0
        page = "".join(map(chr, range(first, last + 1)))
        in_tokens = {code for begin, end in self._in_tokens.between(first, last) for code in range(begin, end + 1)}
        if self._stay(page, first, last):
            apart = sum(1 << index for index in range(_PAGE) if first + index not in in_tokens)
        else:
            for index, character in enumerate(page):
                if self._is_tied(character):
                    tied |= 1 << index
                elif first + index not in in_tokens and self._stay(character, first + index, first + index):
                    apart |= 1 << index
        return _signed(apart if self._apart and first >= 0x80 else 0), _signed(tied)

    def _stay(self, characters: str, first: int, last: int) -> bool:
        """Whether some characters are white space at no stage, stay what they are and are tied to none."""
        joined = _STAYS.join(characters)
        if _MARK in characters or self._space.search(joined) is not None:
            return False
        return not self._is_special(first, last) and all(
            stage.normalize(_STAYS) == _STAYS and stage.normalize(joined) == joined for stage in self._stages
        )

    def _is_special(self, first: int, last: int) -> bool:
        """Whether one of some characters is tied to some other at some stage."""
        return any(stage.special.between(first, last) for stage in self._stages)

    def _is_tied(self, character: str) -> bool:
        """Whether a character, or what becomes of it, is tied to whatever stands beside it at some stage."""
        image = character
        for stage in self._stages:
            if not image or any(stage.tied.between(ord(part), ord(part)) for part in image):
                return True  # what goes leaves those beside it to each other
            image = stage.normalize(image)
        return False


def segment_rules(rules: c.TokenizerConfiguration, data: VocabularyData) -> SegmentRules | None:
    """The rules; None where there are none. `data` hides the control tokens."""
    assert isinstance(rules.segmentation, c.Unigram)
    stages: list[_Stage] = []
    normalizers = rules.normalizers
    words = c.Metaspace(_MARK, PrependScheme.ALWAYS, split=True)
    match rules.pretokenizers:
        case () if (
            normalizers
            and normalizers[-1] == c.Spaces(dummy=True, remove_extra=True, mark=_MARK, behind=False)
            and rules.segmentation.binary32
        ):
            normalizers = normalizers[:-1]
            white_space = " +"
        case (c.WhitespaceSplit(), metaspace) if metaspace == words and not rules.segmentation.binary32:
            tables.need_version("patterns", rules.unicode.patterns)
            white_space = f"[{''.join(_member(*between) for between in tables.WHITE_SPACE.ranges)}]+"
        case _:
            return None
    for one in normalizers:
        ties = _ties_of(one, rules.unicode, data.charsmap)
        if ties is None:
            return None
        normalizer: Normalizer = build_normalizer((one,), rules.unicode, data.charsmap)
        tied = [members for tie in ties for members in tie if members is not None and None in tie]
        special = [members for tie in ties for members in tie if members is not None]
        stages.append(_Stage(normalizer.normalize, CodePoints.union(*tied), CodePoints.union(*special)))
    found = SegmentRules(tuple(stages), white_space, _characters(data), apart=not rules.segmentation.byte_fallback)
    return found if found.hold else None


def _ties_of(stage: c.Normalizer, unicode: c.UnicodeVersions, charsmap: bytes) -> tuple[Tie, ...] | None:
    """Which characters beside each other a stage does not change one by one; None where that is not known."""
    match stage:
        case c.CharacterMap():
            character_map = CharacterMap(charsmap)
            joined = character_map.joined()
            if joined is None or character_map.begins(b" "):
                return None
            return (joined,)
        case c.Precompiled():
            return tables.graphemes(unicode.graphemes).ties
        case c.Normalize(form):
            table = tables.normalization(unicode.normalization)
            compatible = tables.compatibility(unicode.normalization)
            match form:
                case NormalForm.NFC:
                    return ((None, table.joining),)
                case NormalForm.NFD:
                    return ((None, table.moving),)
                case NormalForm.NFKC:
                    return ((None, compatible.joining),)
                case NormalForm.NFKD:
                    return ((None, compatible.moving),)
        case c.StripAccents() | c.Lowercase() | c.Nmt():
            return ()
        case c.Replace(c.Verbatim(text)) if text and text.isascii() and " " not in text:
            members = CodePoints(tuple((ord(part), ord(part)) for part in sorted({*text})))
            return ((members, members),)
        case _:
            return None


def _characters(data: VocabularyData) -> CodePoints:
    """The characters of all tokens that text can yield."""
    reachable = data.is_reachable()
    if reachable.all():
        joined = data.tokens.joined
    else:
        joined = b"".join([data.tokens[token] for token in np.flatnonzero(reachable).tolist()])
    codes = np.frombuffer(joined.decode("utf-8").encode("utf-32-le"), dtype="<u4")
    return CodePoints(ranges_of(np.unique(codes).tolist()))


def _member(first: int, last: int) -> str:
    return f"\\U{first:08x}-\\U{last:08x}"


def _signed(bits: int) -> int:
    """64 bits as a number with a sign."""
    return bits - (1 << 64) if bits >> 63 else bits
