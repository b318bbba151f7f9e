"""Whether the ids of a run of text stay when text comes behind it: whether no token ever reaches across the place.

Two proofs are tried, both out of the declared rules of the tokenizer. The pattern by which text is cut first may always
cut there (`runtime/patterns/crossing.py`), whatever stands on either side; each piece is segmented by itself. Or, where
characters are merged by a list of merges, the character before the place and that behind it may meet in no merge; for
that the vocabulary must be at hand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from katapi.derive.runs import Beginning, ControlEdge, Ending, Head, Letters, Tail
from katapi.runtime.patterns.automaton import Automaton
from katapi.runtime.patterns.crossing import always_cuts
from katapi.runtime.patterns.partition import Partition
from katapi.runtime.patterns.program import Program
from katapi.runtime.patterns.properties import PROPERTIES
from katapi.runtime.patterns.syntax import parse
from katapi.runtime.patterns.tree import sets_of
from katapi.runtime.printed import STRIPPED
from katapi.runtime.tokenization import configuration as c
from katapi.runtime.tokenization.seams import followers, meeting_in_merges, meeting_in_tokens
from katapi.runtime.tokenization.vocabulary_data import VocabularyData

GetVocabulary: TypeAlias = Callable[[], VocabularyData | None]
"""Gives the data of the vocabulary, or None where it is not at hand."""

_CODE_POINTS = 0x110000


def not_at_hand() -> None:
    """No vocabulary."""


class Cuts:
    """What is proven of one tokenizer."""

    def __init__(self, configuration: c.TokenizerConfiguration, vocabulary: GetVocabulary = not_at_hand) -> None:
        self._rules = configuration
        self._vocabulary = vocabulary
        self._known: dict[tuple[Tail, Head], bool] = {}

    def hold(self, ending: Ending, beginning: Beginning) -> bool:
        """Whether what ends in one way always has the ids that it has by itself when the other comes behind."""
        if isinstance(ending, ControlEdge) or beginning is None:
            return True
        if isinstance(beginning, ControlEdge):
            return not beginning.strips or ending.text[-1:] not in ("", *STRIPPED)
        key = ending, beginning
        if key not in self._known:
            self._known[key] = self._proven(*key)
        return self._known[key]

    def _proven(self, tail: Tail, head: Head) -> bool:
        for normalizer in self._rules.normalizers:
            match normalizer:
                case c.Replace(c.Verbatim(old), content) if len(old) == len(content) == 1:
                    tail = replace(tail, text=tail.text.replace(old, content))
                    head = Head(tuple(_replaced(letters, old, content) for letters in head.letters))
                case c.Prepend(text):
                    tail = replace(tail, text=text + tail.text if tail.whole else tail.text)
                case _:
                    return False
        return self._pattern_cuts(tail, head) or self._never_merge(tail, head)

    def _pattern_cuts(self, tail: Tail, head: Head) -> bool:
        if self._pattern is None:
            return False
        partition, automaton = self._pattern
        sets = [_classes(partition, letters) for letters in head.letters]
        return always_cuts(automaton, partition.count, partition.classes_of(tail.text), sets, whole=tail.whole)

    @cached_property
    def _pattern(self) -> tuple[Partition, Automaton] | None:
        """The pattern at which text is cut before anything else, if each match is a piece, and what lies between."""
        match self._rules.pretokenizers[:1]:
            case (c.Split(pattern=c.Regex(source, dialect), behaviour=c.Behaviour.ISOLATED),):
                root = parse(source, PROPERTIES, dialect)
                partition = Partition(sets_of(root), self._rules.unicode.patterns)
                return partition, Automaton(Program(root, partition.members))
            case _:
                return None

    def _never_merge(self, tail: Tail, head: Head) -> bool:
        if not tail.text or not head.letters or self._meeting is None:
            return False
        behind, letters = {*followers(self._meeting, tail.text[-1])}, head.letters[0]
        return behind <= {*letters.characters} if letters.inverted else behind.isdisjoint(letters.characters)

    @cached_property
    def _meeting(self) -> NDArray[np.int64] | None:
        """The pairs of characters that a merge can join; None where a token can come about in another way."""
        if not all(map(_cuts_at_a_character, self._rules.pretokenizers)):
            return None
        match self._rules.segmentation:
            case c.BytePairMerges(
                over_bytes=False, ignore_merges=False, byte_fallback=True, continuing_prefix="", word_suffix=""
            ):
                by_list = True
            case c.BytePairScores(byte_fallback=True):
                by_list = False
            case _:
                return None
        data = self._vocabulary()
        if data is None:
            return None
        data = data.hiding({token.id for token in self._rules.added_tokens if token.control})
        texts, in_bytes = data.tokens.texts(), data.byte_tokens
        if any(token is None and bytes([byte]) not in data.ranks for byte, token in enumerate(in_bytes)):
            return None  # a character is no token and cannot be spelled: such ones may be taken together
        merging = data.merges[:, :2] if by_list else np.zeros(0, dtype=np.int32)
        if np.isin(merging, [token for token in in_bytes if token is not None]).any():
            return None
        return meeting_in_merges(texts, data.merges) if by_list else meeting_in_tokens(texts, data.is_reachable())


def _cuts_at_a_character(stage: c.PreTokenizer) -> bool:
    return isinstance(stage, c.Split) and isinstance(stage.pattern, c.Verbatim) and len(stage.pattern.text) == 1


def _replaced(letters: Letters, old: str, content: str) -> Letters:
    """The set in which the characters of a set lie when one is written as another."""
    if letters.inverted:
        return replace(letters, characters=letters.characters.replace(content, ""))
    return replace(letters, characters=letters.characters.replace(old, content))


def _classes(partition: Partition, letters: Letters) -> int:
    """The classes that have a character of a set."""
    numbers = partition.classes_of("".join({*letters.characters}))
    if not letters.inverted:
        return sum(1 << number for number in {*numbers})
    outside = 0
    for number in range(partition.count):
        size = sum(last - first + 1 for first, last in partition.ranges(1 << number, _CODE_POINTS))
        outside |= (size > numbers.count(number)) << number
    return outside
