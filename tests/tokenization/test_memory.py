"""What a loaded tokenizer takes in memory, and what loading it takes at most, as multiples of the table on disk.

In the pure form; the compiled one has tables of its own: `tests/native/test_derived.py`.
"""

from __future__ import annotations

import gc
import tracemalloc
from importlib import import_module
from pathlib import Path

import pytest

import katapi_models
from katapi.runtime.tokenization.build import build_tokenizer
from katapi.runtime.tokenization.interface import Tokenizer
from katapi.runtime.tokenization.table import load_table

TABLES = Path(katapi_models.__file__).parent / "tables"


def first_ids(model: str, table: Path) -> Tokenizer:
    """A new tokenizer, after its first ids."""
    configuration = import_module(f"katapi_models.{model}.tokenizer").CONFIGURATION
    tokenizer = build_tokenizer(configuration, load_table(table), pure=True)
    assert tokenizer.encode("Hello there")
    return tokenizer


@pytest.mark.parametrize(
    ("model", "table"), [("mistral_v1", "mistral-tokenizer.model.v1.bin"), ("gpt2", "gpt2-tokenizer.json.bin")]
)
def test_memory_is_a_small_multiple_of_the_table(model: str, table: str) -> None:
    path = TABLES / table
    first_ids(model, path)  # imports what it needs, and fills caches that all tokenizers share
    gc.collect()
    tracemalloc.start()
    try:
        kept = first_ids(model, path)
        held, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept.vocabulary_size > 0
    assert held < 3 * path.stat().st_size, f"{held:,} bytes are held"
    assert peak < 6 * path.stat().st_size, f"{peak:,} bytes were taken at most"
