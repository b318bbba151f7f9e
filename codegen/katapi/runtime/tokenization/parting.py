"""Places at which a text can be cut, whatever stands before and behind: its parts have the ids that they have together.

Two characters decide. Either a pattern of the pre-tokenizer always cuts between them, which is proven of its automata
(`patterns/crossing.py`), or characters are merged and these two meet in no merge. A proof is looked for when two
characters first come side by side, and takes some milliseconds.
"""

from __future__ import annotations

from functools import cached_property

from katapi.runtime.patterns.automaton import Automaton
from katapi.runtime.patterns.crossing import always_cuts
from katapi.runtime.patterns.partition import Partition
from katapi.runtime.patterns.program import Ahead, Back, Program, Take
from katapi.runtime.patterns.properties import PROPERTIES
from katapi.runtime.patterns.syntax import Dialect, parse
from katapi.runtime.patterns.tree import sets_of
from katapi.runtime.tokenization import configuration as c
from katapi.runtime.tokenization.build_stages import GPT2
from katapi.runtime.tokenization.options import Behaviour, PrependScheme
from katapi.runtime.tokenization.seams import Seams

_FARTHEST = 512  # characters that are looked at from either end of a text
_NEAR = 32  # of these, those in which a space is looked for first
_MOST = 1 << 14  # pairs of characters that are remembered
#: Characters that no normal form joins to the one before them; all below U+0300 are such, too.
_BY_THEMSELVES = ((0x3000, 0x3029), (0x3030, 0x3098), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xFF01, 0xFF9D))


class Parting:
    """The places of one tokenizer; `seams` are those of its merges, where characters are merged."""

    def __init__(self, rules: c.TokenizerConfiguration, seams: Seams | None) -> None:
        self._rules = rules
        self._seams = seams
        self._known: dict[str, bool] = {}
        self._of_classes: dict[tuple[int, int, int], bool] = {}

    def ends(self, text: str) -> tuple[int, int] | None:
        """The first and the last place at which a text can be cut, in characters, as far as they are near its ends.

        There is more than white space before the first and behind the last one. None where no place is known.
        """
        near, far = range(min(len(text), _FARTHEST)), range(len(text), max(0, len(text) - _FARTHEST), -1)
        first = next((at + 1 for at in near if not text[at].isspace()), len(text))
        last = next((at for at in far if not text[at - 1].isspace()), 0)
        start = self._first_in(text, range(first, min(first + _FARTHEST, last)))
        if start is None:
            return None
        end = self._first_in(text, range(last - 1, max(start, last - _FARTHEST), -1))
        return start, start if end is None else end

    def _first_in(self, text: str, places: range) -> int | None:
        """The first of some places at which a text can be cut; near them, one before a space is preferred.

        There most patterns cut, so few proofs are needed.
        """
        for at in places[:_NEAR]:
            if text[at] in " \n" and self.between(text[at - 1], text[at]):
                return at
        return next((at for at in places if self.between(text[at - 1], text[at])), None)

    def between(self, before: str, behind: str) -> bool:
        """Whether a text can be cut between two characters wherever they stand side by side."""
        pair = before + behind
        known = self._known.get(pair)
        if known is None:
            if len(self._known) >= _MOST:
                self._known.clear()
            known = self._known[pair] = self._proven(before, behind)
        return known

    def _proven(self, before: str, behind: str) -> bool:
        for normalizer in self._rules.normalizers:
            match normalizer:
                case c.Normalize():
                    if not _stands_alone(behind):
                        return False
                case c.Replace(c.Verbatim(old), content) if len(old) == len(content) == 1:
                    before, behind = before.replace(old, content), behind.replace(old, content)
                case c.Prepend():
                    pass  # in front of the first part alone
                case _:
                    return False
        for number, stage in enumerate(self._rules.pretokenizers):
            match stage:
                case c.Split(c.Regex(), Behaviour.ISOLATED | Behaviour.REMOVED) | c.ByteLevel(use_regex=True):
                    if _puts_in_front(stage):
                        return False
                    if self._always_cuts(number, before, behind):
                        return True
                    if not self._is_foreign(number, before + behind):
                        return False
                case c.Split(c.Verbatim(mark)) if mark not in (before, behind) and len(mark) == 1:
                    pass
                case c.Metaspace(mark, PrependScheme.FIRST | PrependScheme.NEVER, split=False):
                    before, behind = before.replace(" ", mark), behind.replace(" ", mark)
                case c.ByteLevel() if not stage.add_prefix_space:
                    pass
                case c.Digits() if not any(map(str.isnumeric, before + behind)):
                    pass
                case _:
                    return False
        return self._seams is not None and not self._seams.meet(before, behind)

    def _always_cuts(self, number: int, before: str, behind: str) -> bool:
        partition, automaton, _ = self._patterns[number]
        (left,), (right,) = partition.classes_of(before), partition.classes_of(behind)
        key = number, left, right
        if key not in self._of_classes:
            tail, head = bytes([left]), [1 << right]
            self._of_classes[key] = always_cuts(automaton, partition.count, tail, head, whole=False)
        return self._of_classes[key]

    def _is_foreign(self, number: int, characters: str) -> bool:
        """Whether no match of a pattern takes any of some characters."""
        partition, _, foreign = self._patterns[number]
        return all(foreign >> kind & 1 for kind in partition.classes_of(characters))

    @cached_property
    def _patterns(self) -> dict[int, tuple[Partition, Automaton, int]]:
        """The patterns by the numbers of their stages, each with the classes of which it says nothing, as bits."""
        found: dict[int, tuple[Partition, Automaton, int]] = {}
        for number, stage in enumerate(self._rules.pretokenizers):
            pattern = _pattern(stage)
            if pattern is not None:
                root = parse(pattern.source, PROPERTIES, pattern.dialect)
                partition = Partition(sets_of(root), self._rules.unicode.patterns)
                program = Program(root, partition.members)
                found[number] = partition, Automaton(program), _foreign(program, partition.count)
        return found


def _foreign(program: Program, count: int) -> int:
    """The classes of characters that no match takes, as bits; none where the pattern looks around."""
    members = 0
    for step in program.steps:
        match step:
            case Ahead() | Back():
                return 0
            case Take():
                members |= step.members
            case _:
                pass
    return (1 << count) - 1 & ~members


def _pattern(stage: c.PreTokenizer) -> c.Regex | None:
    match stage:
        case c.Split(c.Regex() as pattern):
            return pattern
        case c.ByteLevel(use_regex=True):
            return c.Regex(GPT2, Dialect.TOKENIZERS)
        case _:
            return None


def _puts_in_front(stage: c.PreTokenizer) -> bool:
    """Whether every text that the stage gets receives a space in front, a part of a run as well."""
    return isinstance(stage, c.ByteLevel) and stage.add_prefix_space


def _stands_alone(character: str) -> bool:
    code = ord(character)
    return code < 0x300 or any(first <= code <= last for first, last in _BY_THEMSELVES)
