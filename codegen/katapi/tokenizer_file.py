"""Tokenizers straight from the files that models come with, without a specification.

The readers are imported when a file is read, since a generated model needs none of them.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from katapi.runtime.dataclass import dataclass
from katapi.runtime.errors import ArtifactError
from katapi.runtime.tokenization.facade import TextAndIds
from katapi.runtime.tokenization.interface import Tokenizer

if TYPE_CHECKING:
    from katapi.runtime.tokenization.configuration import TokenizerConfiguration


@dataclass(frozen=True, eq=False)
class FileTokenizer(TextAndIds):
    """A tokenizer that was read from a file; `configuration` is what the file says."""

    configuration: TokenizerConfiguration
    _tokenizer: Tokenizer

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer."""
        return self._tokenizer


def tokenizer_from_file(path: str | PathLike[str], *, pattern: str | None = None) -> FileTokenizer:
    """The tokenizer in a file: tokenizer.json, `.tiktoken`, tekken.json, SentencePiece's `.model`, or GGUF.

    The content tells the format, not the name. A `.tiktoken` file does not say how text is cut: unless it is that of a
    known model, give `pattern`, in the dialect of tiktoken.

    Raises `ArtifactError`, naming the place: A130 where the file cannot be read, A139 where it is of no known format,
    A106, A131 to A133 or A135 to A138 where it is not as its format asks, and A105 to A109 where no tokenizer can be
    made of it.
    """
    from katapi.runtime.artifacts.any_file import read_tokenizer_file
    from katapi.runtime.tokenization.build import build_tokenizer

    name = Path(path).name
    try:
        data = Path(path).read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a path with a zero character
        reason = error.strerror if isinstance(error, OSError) else error
        raise ArtifactError(f"cannot read the file: {reason}", code="A130", where=repr(str(path))) from None
    with _collection_paused():
        file = read_tokenizer_file(data, where=name, pattern=pattern)
        try:
            return FileTokenizer(file.configuration, build_tokenizer(file.configuration, file.data))
        except ArtifactError as error:  # which of the stages, its message says
            raise ArtifactError(error.message, code=error.code, where=name, help=error.help) from None


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
