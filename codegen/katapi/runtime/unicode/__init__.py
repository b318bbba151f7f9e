"""Unicode data that is pinned by version, because `unicodedata` and `re` change with the Python that runs.

A specification names the version that its official tokenizer was built with, and the kinds of data may differ in
version: `katapi.runtime.tokenization.configuration.UnicodeVersions`. `tables.py` gives the data. What it reads is
written by `tools/unicode_tables.py`: one file for each property, with all versions.
"""

from __future__ import annotations

ALL_VERSIONS = ("8.0", "9.0", "10.0", "11.0", "12.0", "12.1", "13.0", "14.0", "15.0", "15.1", "16.0", "17.0")
"""The versions of the Unicode Character Database (Unicode Standard Annex #44) that are here, oldest first."""

_KNOWN = {
    "patterns": ALL_VERSIONS,
    "normalization": ALL_VERSIONS,
    "characters": ALL_VERSIONS,
    "categories": ALL_VERSIONS,
    "graphemes": ("17.0",),  # the rules themselves have changed with the versions, not only the data
}


def known_versions(kind: str) -> tuple[str, ...]:
    """The versions that are here of one kind of data, oldest first; kinds are the fields of `UnicodeVersions`."""
    return _KNOWN[kind]
