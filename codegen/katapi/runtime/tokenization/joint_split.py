"""One pre-tokenizer for several that cut by patterns in turn, as those of DeepSeek do."""

from __future__ import annotations

from collections.abc import Sequence

from katapi.runtime.native.cuts import NotScannable, cuts_of, trees_of
from katapi.runtime.patterns.in_turn import in_turn
from katapi.runtime.patterns.matcher import Matcher
from katapi.runtime.tokenization import configuration as c
from katapi.runtime.tokenization.options import Behaviour
from katapi.runtime.tokenization.pretokenizers import Split


def joint_split(stages: Sequence[c.PreTokenizer], unicode: c.UnicodeVersions) -> Split | None:
    """What gives the pieces of all stages at once; None where no one pattern does. The stages must be usable."""
    try:
        cuts = cuts_of(stages, unicode)
    except NotScannable:
        return None
    version = cuts[0][1]
    root = in_turn(trees_of(cuts), version)
    return None if root is None else Split(Matcher(root, version), Behaviour.ISOLATED)
