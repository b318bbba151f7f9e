"""One compiled .kata file: everything that it declares, tied together."""

from __future__ import annotations

from dataclasses import dataclass, replace

from katapi.language.source import Source
from katapi.model.declarations import Budget, Serialization, Tokenizer, Vocabulary
from katapi.model.request import Request
from katapi.model.template import Template
from katapi.runtime.tokenization.configuration import AddedToken, TokenizerConfiguration


@dataclass(frozen=True, slots=True)
class TokenizerProgram:
    """A vocabulary and its tokenizer; `name` is the stem of the file, by which `katapi.load_tokenizer` finds it."""

    name: str
    source: Source
    vocabulary: Vocabulary
    tokenizer: Tokenizer

    @property
    def package(self) -> str:
        """The name of the generated package."""
        return self.name.replace(".", "_").replace("-", "_")

    def configuration(self) -> TokenizerConfiguration:
        """The rules of the tokenizer, as the runtime takes them."""
        vocabulary = self.vocabulary
        unknown = None if vocabulary.unknown is None else vocabulary.unknown.id
        added = [
            *(AddedToken(token, text, control=True) for token, text in vocabulary.control_spellings().items()),
            *(AddedToken(token, text, control=False) for token, text in vocabulary.added_texts().items()),
        ]
        return replace(self.tokenizer.configuration(), unknown=unknown, added_tokens=tuple(added))


@dataclass(frozen=True, slots=True)
class Program(TokenizerProgram):
    """A model's whole input layer, which `katapi.load` finds."""

    serializations: tuple[Serialization, ...]
    request: Request
    template: Template
    budgets: tuple[Budget, ...]
