"""One pre-tokenizer for several that cut by patterns in turn, as those of DeepSeek do."""

from __future__ import annotations

from collections.abc import Sequence

from katapi.runtime.native.cuts import NotScannable, cuts_of, trees_of
from katapi.runtime.patterns.in_turn import in_turn
from katapi.runtime.patterns.matcher import Matcher
from katapi.runtime.tokenization import configuration as c
from katapi.runtime.tokenization.options import Behaviour
from katapi.runtime.tokenization.pretokenizers import Split
from katapi.runtime.unicode import known_versions


def joint_split(stages: Sequence[c.PreTokenizer], unicode: c.UnicodeVersions) -> Split | None:
    """What gives the pieces of all stages at once; None where there is only one pattern, or no one pattern does.

    Of stages that cannot be used there is none: what is wrong is found where they are built one by one.
    """
    if unicode.patterns not in known_versions("patterns") or unicode.characters not in known_versions("characters"):
        return None
    try:
        cuts = cuts_of(stages, unicode)
        if len(cuts) == 1:
            return None
        version = cuts[0][1]
        root = in_turn(trees_of(cuts), version)
        return None if root is None else Split(Matcher(root, version), Behaviour.ISOLATED)
    except (NotScannable, ValueError):
        return None
