"""A declared pattern, compiled: the matches in any text, in time linear in the text.

Two engines find the same matches. The standard library's `re` is fast, but backtracks: over a million spaces a pattern
such as `\\s+$` may take it hours. `automaton.py` is linear on every text, and slower on ordinary ones. So texts are cut
into blocks of about five hundred characters, at places across which the pattern can neither match nor look (`cuts.py`;
between a word and a space, say), and `re` gets those blocks, provided that an attempt to match at one place takes it no
more time than its block is long (`standard.py`). That bounds its work by a constant for each character. The automaton
gets all else: blocks that could not be cut (the million spaces), and patterns that are not of that kind.

`re` has three forms of the pattern, made when first needed. Over ASCII, which compiles in a millisecond. Over the Basic
Multilingual Plane, which takes 10 to 50 and is made once there is text enough to be worth it. And over the classes of
characters (`partition.py`) for all other text: it compiles fast, too, but pieces must be cut out by their lengths.

Who remembers results cuts a text into `stretches` before, and asks for the pieces of new ones only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, cached_property, lru_cache
from itertools import accumulate, pairwise

from katapi.runtime.patterns.automaton import Automaton
from katapi.runtime.patterns.coverage import covers_every_character, matches_nothing
from katapi.runtime.patterns.cuts import safe_cuts
from katapi.runtime.patterns.partition import Partition
from katapi.runtime.patterns.program import Program
from katapi.runtime.patterns.properties import PROPERTIES
from katapi.runtime.patterns.standard import attempts_are_linear, bracket_of_characters, bracket_of_classes, expression
from katapi.runtime.patterns.stretches import Stretches, stretches_of
from katapi.runtime.patterns.syntax import Dialect, PatternError, parse
from katapi.runtime.patterns.tree import Alternation, sets_of
from katapi.runtime.unicode import known_versions

_LONGEST = 512  # characters of a text that `re` gets
_SHORTEST = 384  # characters behind which a cut is looked for
_WORTHWHILE = 1 << 15  # characters of text of the BMP beyond ASCII after which its form is made
_ASCII_LIMIT, _BMP_LIMIT = 0x80, 0x10000


@lru_cache(maxsize=256)
def compile_pattern(regex: str, *, unicode: str, dialect: Dialect = Dialect.TIKTOKEN) -> Matcher:
    """The matcher of `regex`, its classes those of the Unicode version `unicode` (one of `known_versions("patterns")`).

    Raises `PatternError`, with the position in `regex`, where the pattern is not well formed or uses what is not
    supported.
    """
    known = known_versions("patterns")
    if unicode not in known:
        raise PatternError(f"there are no character classes of Unicode {unicode}; known: {', '.join(known)}", 0)
    root = parse(regex, PROPERTIES, dialect)
    try:
        return Matcher(root, unicode)
    except ValueError as error:
        raise PatternError(str(error), 0) from None


class Matcher:
    """Finds the matches of a pattern, leftmost first, as the regular expression engines of the field do.

    Raises `ValueError` where the pattern is too large.
    """

    def __init__(self, root: Alternation, unicode: str) -> None:
        self._root = root
        self._partition = Partition(sets_of(root), unicode)
        self._program = Program(root, self._partition.members)
        self._beyond_ascii = 0  # characters of text that the form over the BMP could have served
        takes_something = not matches_nothing(root)
        self._backtracks_little = takes_something and attempts_are_linear(root)
        members, every = self._partition.members, self._partition.every
        self.total = takes_something and covers_every_character(root, members, every)
        """Whether it was proven that every character of every text lies in a match."""
        self._splits_at_once = self.total and self._backtracks_little

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """The matches in order, as half-open ranges of code points.

        Only a pattern that can match the empty text has empty ones, and none of these is right behind another match.
        """
        for start, block in self._blocks(text):
            for match_start, match_end in self._spans(block):
                yield start + match_start, start + match_end

    def split(self, text: str) -> list[str]:
        """The matches and what lies between them, in order. No piece is empty, and joined they are `text`."""
        if self._splits_at_once and len(text) <= _LONGEST and text.isascii():  # as below, in fewer calls
            return self._over_ascii.findall(text)
        if self.total:
            if len(text) <= _LONGEST:
                return self._pieces(text)
            pieces: list[str] = []
            for _, block in self._blocks(text):
                pieces += self._pieces(block)
            return pieces
        cuts = [0]
        for span in self.spans(text):
            cuts += span
        cuts.append(len(text))
        return [text[start:end] for start, end in pairwise(cuts) if start < end]

    @cached_property
    def stretches(self) -> Stretches | None:
        """What cuts a text into longer parts, the pieces of which, one part after another, are those of the text.

        None where there are no places for it, or it was not proven that matches cover every text.
        """
        return stretches_of(self._program, self._partition) if self.total else None

    def spans_by_automaton(self, text: str) -> Iterator[tuple[int, int]]:
        """The same as `spans`, always by the automaton."""
        return self._automaton.spans(self._partition.classes_of(text))

    def _blocks(self, text: str) -> Iterator[tuple[int, str]]:
        """The text in blocks, and where each begins."""
        if len(text) <= _LONGEST or not self._backtracks_little or self._cuts is None:
            yield 0, text
            return
        classes = self._partition.classes_of(text)
        start = 0
        while len(text) - start > _LONGEST:
            cut = self._cuts.search(classes, start + _SHORTEST)
            if cut is None:
                break
            yield start, text[start : cut.end()]
            start = cut.end()
        yield start, text[start:]

    def _spans(self, block: str) -> Iterator[tuple[int, int]]:
        """The matches in one block."""
        if len(block) > _LONGEST or not self._backtracks_little:
            return self.spans_by_automaton(block)
        form = self._form(block)
        if form is not None:
            return (match.span() for match in form.finditer(block))
        return (match.span() for match in self._over_classes.finditer(self._partition.classes_of(block)))

    def _pieces(self, block: str) -> list[str]:
        """The matches in one block, which they cover."""
        if len(block) > _LONGEST or not self._backtracks_little:
            return [block[start:end] for start, end in self.spans_by_automaton(block)]
        form = self._form(block)
        if form is not None:
            return form.findall(block)
        lengths = map(len, self._over_classes.findall(self._partition.classes_of(block)))
        return [block[start:end] for start, end in pairwise(accumulate(lengths, initial=0))]

    def _form(self, block: str) -> re.Pattern[str] | None:
        """The form over characters for a block, if there is one."""
        if block.isascii():
            return self._over_ascii
        if len(block.encode("utf-16-le", "surrogatepass")) > 2 * len(block):  # a character beyond the BMP takes 4 bytes
            return None
        self._beyond_ascii += len(block)
        return self._over_bmp if self._beyond_ascii > _WORTHWHILE else None

    @cached_property
    def _over_ascii(self) -> re.Pattern[str]:
        return self._over_characters(_ASCII_LIMIT)

    @cached_property
    def _over_bmp(self) -> re.Pattern[str]:
        return self._over_characters(_BMP_LIMIT)

    def _over_characters(self, limit: int) -> re.Pattern[str]:
        @cache
        def bracket(members: int) -> str:
            return bracket_of_characters(self._partition.ranges(members, limit), limit)

        return re.compile(expression(self._root, lambda item: bracket(self._partition.members(item))))

    @cached_property
    def _over_classes(self) -> re.Pattern[bytes]:
        members = self._partition.members
        return re.compile(expression(self._root, lambda item: bracket_of_classes(members(item))).encode())

    @cached_property
    def _automaton(self) -> Automaton:
        return Automaton(self._program)

    @cached_property
    def _cuts(self) -> re.Pattern[bytes] | None:
        return safe_cuts(self._program, self._partition.count)
