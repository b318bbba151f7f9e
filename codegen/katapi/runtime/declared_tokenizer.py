"""A generated tokenizer: text to ids, and ids back to text. A `Model` is one that has a template too."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from katapi.runtime.dataclass import dataclass
from katapi.runtime.record import Identity, TokenizerParts
from katapi.runtime.tokenization.facade import TextAndIds
from katapi.runtime.tokenization.interface import Tokenizer


@dataclass(frozen=True, eq=False)
class DeclaredTokenizer(TextAndIds):
    """One tokenizer, as its generated package puts it together: what `katapi.load_tokenizer` gives."""

    name: str
    """What `katapi.load_tokenizer` takes."""
    source: str
    """The spec that it was generated from, as a path seen from the root of its project."""
    tokenizer_identity: Identity
    """The name and version of the tokenizer, and the digest of its meaning."""
    tokenizer_parts: TokenizerParts
    """What it is made of, each part by its digest."""
    _tokenizer: Callable[[], Tokenizer]

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer, built on first use."""
        return self._tokenizer()
