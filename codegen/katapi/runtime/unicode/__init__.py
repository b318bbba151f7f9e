"""Unicode data that is pinned by version, because `unicodedata` and `re` change with the Python that runs.

`classes_*.py` and `normalization_*.py` are written by `tools/unicode_tables.py`; a specification names the version that
its official tokenizer was built with, and the two kinds of data may differ in version.
"""

CLASS_VERSIONS = ("16.0",)
"""The versions whose character classes are here: `katapi.runtime.unicode.classes_16_0` and so on."""

NORMALIZATION_VERSIONS = ("9.0", "16.0")
"""The versions whose normalization data is here: `katapi.runtime.unicode.normalization_9_0` and so on."""
