"""Tokenizers straight from the files that models come with, without a specification."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

from katapi.runtime.artifacts.any_file import read_tokenizer_file
from katapi.runtime.errors import ArtifactError
from katapi.runtime.tokenization.build import build_tokenizer
from katapi.runtime.tokenization.configuration import TokenizerConfiguration
from katapi.runtime.tokenization.facade import TextAndIds
from katapi.runtime.tokenization.interface import Tokenizer


class FileTokenizer(TextAndIds):
    """A tokenizer that was read from a file; `configuration` is what the file says."""

    def __init__(self, configuration: TokenizerConfiguration) -> None:
        self.configuration = configuration
        self._tokenizer = build_tokenizer(configuration)

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer."""
        return self._tokenizer


def tokenizer_from_file(path: str | PathLike[str], *, pattern: str | None = None) -> FileTokenizer:
    """The tokenizer in a file: tokenizer.json, `.tiktoken`, tekken.json, SentencePiece's `.model`, or GGUF.

    The content tells the format, not the name. A `.tiktoken` file does not say how text is cut: unless it is that of a
    known model, give `pattern`, in the dialect of tiktoken. Raises `ArtifactError`, naming the place, where the file
    cannot be read, is of no known format, or is not as its format asks.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise ArtifactError(f"cannot read the file: {error.strerror}", code="A130", where=str(path)) from None
    with _collection_paused():
        return FileTokenizer(read_tokenizer_file(data, where=Path(path).name, pattern=pattern))


@contextmanager
def _collection_paused() -> Iterator[None]:
    """Holds back the cyclic garbage collector, which else walks over a growing vocabulary again and again."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
