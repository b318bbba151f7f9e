"""Unicode data that is pinned by version, because `unicodedata` and `re` change with the Python that runs.

Files with a version in their names are written by `tools/unicode_tables.py`. A specification names the version that
its official tokenizer was built with, and the kinds of data may differ in version. Some `classes_*.py` hold a few
classes only: those that a stage of the field's tokenizers takes from another version than its patterns.
"""

CLASS_VERSIONS = ("16.0",)
"""The versions whose character classes are all here: `katapi.runtime.unicode.classes_16_0` and so on."""

NORMALIZATION_VERSIONS = ("9.0", "16.0")
"""The versions whose normalization data is here: `katapi.runtime.unicode.normalization_9_0` and so on.

`compatibility_9_0` adds what NFKC and NFKD need.
"""
