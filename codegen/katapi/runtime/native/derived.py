"""The tables of a compiled encoder: those that come with Katapi, those in the user's cache, or derived anew.

Imported only where the modules that derive them are compiled.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

import numpy as np

from katapi.files import write_whole
from katapi.runtime.native.classes import class_tables
from katapi.runtime.native.cuts import Cut
from katapi.runtime.native.scanning import scanning_of
from katapi.runtime.native.stepping import stepping_tables
from katapi.runtime.native.table_file import VERSION, read_tables, table_file
from katapi.runtime.native.tables import derive
from katapi.runtime.native.vocabulary import PAD, NotDerivable, Vocabulary
from katapi.runtime.tokenization.vocabulary_data import VocabularyData
from katapi.runtime.user_cache import user_cache

__all__ = ["NotDerivable", "kept_tables", "tables_of"]

SHIPPED = Path(__file__).parent / "shipped"
"""Where tables lie that come with Katapi."""
WORTH_KEEPING = 1 << 12
"""Ids of a vocabulary from which its tables are kept; those of a smaller one are derived in a few milliseconds."""


def tables_of(cuts: tuple[Cut, ...], data: VocabularyData, *, by_rank: bool, any_whole: bool) -> dict[str, bytes]:
    """The tables of a vocabulary, whose control tokens are hidden, behind a pre-tokenizer.

    They are derived when they are first needed, in a second or two, and kept in the user's cache under the digest of
    all that they depend on; a file that is damaged is written anew. Raises `NotDerivable` and `NotScannable`.
    """
    digest = digest_of(cuts, data, by_rank=by_rank, any_whole=any_whole)
    keep = len(data.tokens) >= WORTH_KEEPING
    return kept_tables(digest, lambda: derive_tables(cuts, data, by_rank=by_rank, any_whole=any_whole), keep=keep)


def kept_tables(digest: str, make: Callable[[], dict[str, bytes]], *, keep: bool = True) -> dict[str, bytes]:
    """The tables with a digest, which `make` derives where they are not there; raises what it raises."""
    cached = user_cache() / "tables" / f"encoder-{VERSION}" / digest[:2] / digest
    tables = read_tables(SHIPPED / digest) or read_tables(cached)
    if tables is not None:
        return tables
    if keep and sys.stderr is not None and sys.stderr.isatty():
        print("katapi: deriving the tables of a vocabulary, once …", end="\r", file=sys.stderr, flush=True)
    tables = make()
    if keep:
        with suppress(OSError):  # a cache that cannot be written to costs time, not the tokenizer
            cached.parent.mkdir(parents=True, exist_ok=True)
            write_whole(cached, table_file(tables))  # of two processes each writes the same file whole
        if sys.stderr is not None and sys.stderr.isatty():
            print("\x1b[2K", end="\r", file=sys.stderr, flush=True)
    return tables


def derive_tables(cuts: tuple[Cut, ...], data: VocabularyData, *, by_rank: bool, any_whole: bool) -> dict[str, bytes]:
    """The same without looking for them. Raises `NotDerivable` and `NotScannable`."""
    vocabulary = Vocabulary(
        data.tokens.joined + PAD,
        data.tokens.bounds.astype("<i4").tobytes(),
        data.is_reachable().astype(np.uint8).tobytes(),
        b"" if by_rank else data.merges.astype("<i4").tobytes(),
        by_rank,
    )
    return {**derive(vocabulary, any_whole), **_tables_of_cuts(cuts)}


@lru_cache(maxsize=8)
def _tables_of_cuts(cuts: tuple[Cut, ...]) -> dict[str, bytes]:
    scanning = scanning_of(cuts)
    return {**class_tables(scanning.partition), **stepping_tables(scanning)}


def digest_of(cuts: tuple[Cut, ...], data: VocabularyData, *, by_rank: bool, any_whole: bool) -> str:
    """What the tables depend on, as SHA-256 in hexadecimal."""
    digest = hashlib.sha256(repr((cuts, by_rank, any_whole, len(data.tokens))).encode())
    digest.update(data.tokens.joined)
    digest.update(data.tokens.bounds.astype("<i4").tobytes())
    digest.update(np.packbits(data.is_reachable()).tobytes())
    if not by_rank:
        digest.update(data.merges.astype("<i4").tobytes())
    return digest.hexdigest()
