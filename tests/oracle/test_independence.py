"""The oracle shares only plain data with what it is compared to, or the two could be wrong together."""

from __future__ import annotations

import ast
from pathlib import Path

import katapi.oracle

ALLOWED = {
    "katapi.runtime.budget.policy": None,
    "katapi.runtime.errors": None,
    # What a declaration means by these names: tested against slow definitions and the libraries themselves.
    "katapi.runtime.images.cubic": {"opencv_cubic", "torch_bicubic"},
    "katapi.runtime.images.decoding": {"Reading"},
    "katapi.runtime.images.resampling": {"Kernel", "resize_bytes"},
    "katapi.runtime.json_types": None,
    "katapi.runtime.patterns.properties": {"PROPERTIES"},
    "katapi.runtime.patterns.syntax": {"Dialect"},
    "katapi.runtime.places": {"json_path"},
    "katapi.runtime.segments": None,
    "katapi.runtime.tokenization": {"configuration"},
    "katapi.runtime.tokenization.vocabulary_data": {"VocabularyData"},
    "katapi.runtime.unicode.codepoints": {"CodePoints"},
    "katapi.runtime.unicode.tables": {
        *("WHITE_SPACE", "general_category", "script", "word_characters"),
        *("normalization", "compatibility", "lower_case", "graphemes"),
    },
}
LAYERS = ("katapi.emit", "katapi.runtime", "katapi.check", "katapi_models")


def test_it_imports_nothing_else_of_runtime_and_emit() -> None:
    files = sorted(Path(katapi.oracle.__file__).parent.glob("*.py"))
    assert len(files) > 5
    shared: list[str] = []
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                shared += [f"{file.name}: {alias.name}" for alias in node.names if alias.name.startswith(LAYERS)]
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(LAYERS):
                names = ALLOWED.get(node.module or "", set())
                shared += [
                    f"{file.name}: {node.module}.{alias.name}"
                    for alias in node.names
                    if names is not None and alias.name not in names
                ]
    assert shared == []
