"""The normalizers that look at one character at a time: lower case, accents, cleaning.

Each takes its sets of characters (Unicode Standard Annex #44), since official implementations take them from different
versions of Unicode. Those of `tokenizers` 0.23.3 are named.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache

from katapi.runtime.tokenization.aligned import AlignedText, Edit
from katapi.runtime.tokenization.ascii_runs import AsciiRuns
from katapi.runtime.tokenization.matching import members
from katapi.runtime.tokenization.normal_forms import Nfd
from katapi.runtime.tokenization.normalizers import InTurn
from katapi.runtime.tokenization.stages import Normalizer
from katapi.runtime.unicode.codepoints import CodePoints, Planes, Tie
from katapi.runtime.unicode.lower_case import LowerCase
from katapi.runtime.unicode.normalization import NormalizationTable


class MappedCharacters:
    """Puts `replacement`, which may be empty, in the place of each character of a set.

    `member` gives the inside of a bracket expression.
    """

    def __init__(self, member: Callable[[Planes], str], replacement: str) -> None:
        self._pattern = lru_cache(lambda planes: re.compile(f"[{member(planes)}]"))
        self._replacement = replacement

    def normalize(self, text: str) -> str:
        """The text after all replacements."""
        return self._pattern(Planes.of(text)).sub(self._replacement, text)

    def align(self, text: AlignedText) -> AlignedText:
        """The same, with the source of each character."""
        matches = self._pattern(Planes.of(text.text)).finditer(text.text)
        return text.replaced([(*match.span(), self._replacement) for match in matches])


class SpacedCharacters:
    """Puts a space before and behind each character of a set; `member` gives the inside of a bracket expression."""

    def __init__(self, member: Callable[[Planes], str]) -> None:
        self._runs = lru_cache(lambda planes: re.compile(f"[{member(planes)}]+"))

    def normalize(self, text: str) -> str:
        """The text with these spaces."""
        return self._runs(Planes.of(text)).sub(lambda run: f" {'  '.join(run[0])} ", text)

    def align(self, text: AlignedText) -> AlignedText:
        """The same, with the source of each character."""
        runs = [run.span() for run in self._runs(Planes.of(text.text)).finditer(text.text)]
        edits: list[Edit] = []
        for start, end in runs:
            edits += [(start, start, " "), *((index, index, "  ") for index in range(start + 1, end)), (end, end, " ")]
        return text.replaced(edits)


class Lowercase:
    """Lower case, the same for a character wherever it stands ("Lowercase"; Unicode 17.0)."""

    def __init__(self, table: LowerCase) -> None:
        self._table = table

    def normalize(self, text: str) -> str:
        """The text in lower case."""
        return text.lower() if text.isascii() else text.translate(self._table.table)

    def align(self, text: AlignedText) -> AlignedText:
        """The same, with the source of each character."""
        table: Mapping[int, str] = self._table.table
        return text.mapped([table.get(ord(character), character) for character in text.text])


def strip_accents(marks: CodePoints) -> Normalizer:
    """Takes combining marks away; it takes no character apart ("StripAccents"; M of Unicode 9.0)."""
    return AsciiRuns(MappedCharacters(members(marks), ""))


def nmt() -> Normalizer:
    """SentencePiece's cleaning for machine translation ("Nmt"): controls go, odd spaces and signs become spaces."""
    return AsciiRuns(
        InTurn(
            MappedCharacters(lambda planes: r"\x01-\x08\x0b\x0e-\x1f\x7f\x8f\x9f", ""),
            MappedCharacters(lambda planes: r"\t\n\f\r\u1680\u200b-\u200f\u2028\u2029\u2581\ufeff\ufffd", " "),
        )
    )


def bert_normalizer(
    *,
    clean_text: bool,
    handle_chinese_chars: bool,
    strip_accents: bool | None,
    lowercase: bool,
    white_space: CodePoints,
    removed: tuple[CodePoints, ...],
    decomposition: NormalizationTable,
    nonspacing: CodePoints,
    lower_case: LowerCase,
) -> Normalizer:
    """BERT's ("BertNormalizer"; Devlin et al. 2019), from its settings and the sets of characters that they ask for.

    `clean_text` turns white space (White_Space) into spaces and takes away `removed` (Cc, Cf and Co of Unicode 8.0) and
    U+FFFD; `handle_chinese_chars` puts a space before and behind each ideograph; `strip_accents`, by default where
    `lowercase` is set, decomposes text (NFD of Unicode 9.0) and takes `nonspacing` away (Mn of Unicode 8.0).
    """
    steps: list[Normalizer] = []
    if clean_text:
        # Tab, line feed and carriage return are controls that stay; the other controls among white space go.
        steps.append(MappedCharacters(lambda planes: r"\t\n\r", " "))
        steps.append(MappedCharacters(members(*removed, others=r"\ufffd"), ""))
        steps.append(MappedCharacters(members(white_space), " "))
    if handle_chinese_chars:
        steps.append(SpacedCharacters(members(_IDEOGRAPHS)))
    strips = lowercase if strip_accents is None else strip_accents
    if strips:
        steps.append(Nfd(decomposition))
        steps.append(MappedCharacters(members(nonspacing), ""))
    if lowercase:
        steps.append(Lowercase(lower_case))

    def ties() -> tuple[Tie, ...]:
        """Marks change their places, and may come to stand beside each other where others are taken away."""
        gone = CodePoints.union(*removed, CodePoints("FFFD")).without(CodePoints("9-A D")) if clean_text else _NONE
        return ((None, CodePoints.union(decomposition.moving, gone)),) if strips else ()

    return AsciiRuns(InTurn(*steps), ties)


_NONE = CodePoints(())

# The blocks that BERT's authors took for Chinese, without the first characters of one, as `tokenizers` has it.
_IDEOGRAPHS = CodePoints("3400-4DBF 4E00-9FFF F900-FAFF 20000-2A6DF 2A700-2B81F 2B920-2CEAF 2F800-2FA1F")
