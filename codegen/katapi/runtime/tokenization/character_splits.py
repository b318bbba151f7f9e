"""The pre-tokenizers that cut by the class of single characters: digits, punctuation, white space.

Each takes its sets of characters (Unicode Standard Annex #44), since official implementations take them from different
versions of Unicode. Those of `tokenizers` 0.23.3 are named.
"""

from __future__ import annotations

import re

from katapi.runtime.tokenization.matching import Expression, members
from katapi.runtime.tokenization.options import Behaviour
from katapi.runtime.tokenization.pretokenizers import Split
from katapi.runtime.unicode.codepoints import CodePoints

ASCII_PUNCTUATION = re.escape("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
"""All of it, symbols too, as `re` writes it in brackets."""


def digits(numbers: CodePoints, *, individual: bool) -> Split:
    """Numerals are pieces, each by itself or in runs ("Digits"; N of Unicode 17.0)."""
    member, count = members(numbers), "" if individual else "+"
    return Split(Expression(lambda planes: f"[{member(planes)}]{count}"), Behaviour.ISOLATED)


def punctuation(marks: CodePoints, behaviour: Behaviour) -> Split:
    """Cuts at `marks` and at all punctuation and symbols of ASCII ("Punctuation"; P of Unicode 8.0)."""
    member = members(marks, others=ASCII_PUNCTUATION)
    return Split(Expression(lambda planes: f"[{member(planes)}]"), behaviour)


def white_space_split(white_space: CodePoints) -> Split:
    """What lies between white space ("WhitespaceSplit"; the property White_Space)."""
    member = members(white_space)
    return Split(Expression(lambda planes: f"[^{member(planes)}]+"), Behaviour.REMOVED, invert=True)


def bert_split(white_space: CodePoints, marks: CodePoints) -> Split:
    """BERT's: words, and each punctuation character ("BertPreTokenizer"; White_Space, and P of Unicode 8.0)."""
    space, mark = members(white_space), members(marks, others=ASCII_PUNCTUATION)
    return Split(
        Expression(lambda planes: f"[{mark(planes)}]|[^{space(planes)}{mark(planes)}]+"),
        Behaviour.REMOVED,
        invert=True,
    )
