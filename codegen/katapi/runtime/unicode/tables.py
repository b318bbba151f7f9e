"""The data of one Unicode version: classes, scripts, normalization, lower case, grapheme clusters.

Each table is made when it is first asked for, and what it needs is imported only then: most tokenizers need little. A
version that is not here is an `ArtifactError`. The annexes are the Unicode Standard Annexes.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from katapi.runtime.errors import ArtifactError
from katapi.runtime.patterns.sets import complement, union
from katapi.runtime.unicode import known_versions
from katapi.runtime.unicode.codepoints import CodePoints

if TYPE_CHECKING:
    from katapi.runtime.unicode.graphemes import GraphemeTable
    from katapi.runtime.unicode.lower_case import LowerCase
    from katapi.runtime.unicode.normalization import Canonical, CompatibilityTable, NormalizationTable

WHITE_SPACE = CodePoints("9-D 20 85 A0 1680 2000-200A 2028-2029 202F 205F 3000")
"""The property White_Space, which the engines of the field take for `\\s`: the same in all of these versions."""

_UNASSIGNED = "Cn"  # of all characters that no other category is written out for


def need_version(kind: str, version: str) -> None:
    """Raises `ArtifactError` A124, which lists the known versions, where there is no such data of this version."""
    known = known_versions(kind)
    if version not in known:
        raise ArtifactError(
            f"there is no data of Unicode {version} for {kind}", code="A124", help=f"known: {', '.join(known)}"
        )


@cache
def general_category(name: str, version: str) -> CodePoints:
    """The characters of a general category such as Lu, or of all that begin with a letter, such as L (annex #44).

    Raises `ArtifactError` A124 where there is no such version, and `ValueError` where there is no such category.
    """
    from katapi.runtime.unicode.general_category import HISTORY

    need_version("categories", version)
    written = [value for value in HISTORY.newest if value.startswith(name)]
    if not written and name != _UNASSIGNED:
        raise ValueError(f"{name!r} is no general category")
    members = HISTORY.members(version, written)
    if _UNASSIGNED.startswith(name):
        members = union((members, complement(HISTORY.members(version, HISTORY.newest))))
    return CodePoints(members)


@cache
def script(name: str, version: str) -> CodePoints:
    """The characters of a script such as `Han` (annex #24); none where the version does not have it yet.

    Raises `ArtifactError` A124 where there is no such version.
    """
    from katapi.runtime.unicode.script import HISTORY

    need_version("patterns", version)
    if name == "Unknown":
        return CodePoints(complement(HISTORY.members(version, HISTORY.newest)))
    return CodePoints(HISTORY.members(version, [name]))


@cache
def word_characters(version: str) -> CodePoints:
    r"""The characters of `\w`, after Unicode Technical Standard #18, annex C. Raises `ArtifactError` A124."""
    from katapi.runtime.unicode.word import HISTORY

    need_version("patterns", version)
    return CodePoints(HISTORY.members(version, ["word"]))


@cache
def normalization(version: str) -> NormalizationTable:
    """The data of NFC and NFD (annex #15). Raises `ArtifactError` A124 where there is no such version."""
    from katapi.runtime.unicode.canonical import ADDED
    from katapi.runtime.unicode.normalization import NormalizationTable

    need_version("normalization", version)
    parts: list[Canonical] = []
    for added, part in ADDED.items():
        parts.append(part)
        if added == version:
            break
    return NormalizationTable(
        version=version,
        combining="".join(part.combining for part in parts),
        composed="".join(part.composed for part in parts),
        decomposed="".join(part.decomposed for part in parts),
        unstable=CodePoints(union(CodePoints(part.unstable).ranges for part in parts)),
    )


@cache
def compatibility(version: str) -> CompatibilityTable:
    """The data of NFKC and NFKD (annex #15). Raises `ArtifactError` A124 where there is no such version."""
    from katapi.runtime.unicode.compatible import ADDED
    from katapi.runtime.unicode.normalization import CompatibilityTable

    canonical = normalization(version)
    mappings = ""
    for added, part in ADDED.items():
        mappings += part
        if added == version:
            break
    return CompatibilityTable(canonical, mappings)


@cache
def lower_case(version: str) -> LowerCase:
    """What each character becomes in lower case. Raises `ArtifactError` A124 where there is no such version."""
    from katapi.runtime.unicode.lower_case import LowerCase
    from katapi.runtime.unicode.lower_case_data import EARLIER, NEWEST

    need_version("characters", version)
    mappings = {item.partition("=")[0]: item for item in NEWEST.split()}
    if version in EARLIER:
        for older, changed in EARLIER.items():
            mappings |= {item.partition("=")[0]: item for item in changed.split()}
            if older == version:
                break
    return LowerCase(version, " ".join(item for item in mappings.values() if "=" in item))


def graphemes(version: str) -> GraphemeTable:
    """The data of extended grapheme clusters (annex #29).

    Raises `ArtifactError` A124 where there is no such version.
    """
    from katapi.runtime.unicode.graphemes_17_0 import TABLE

    need_version("graphemes", version)
    return TABLE
