"""One compiled .kata file: everything that it declares, tied together."""

from __future__ import annotations

from dataclasses import dataclass, replace

from katapi.language.source import Source
from katapi.model.declarations import Budget, Identity, Serialization, Tokenizer, Vocabulary
from katapi.model.request import Request
from katapi.model.template import Template
from katapi.runtime.tokenization.configuration import TokenizerConfiguration, added_tokens


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

    @property
    def identity(self) -> Identity:
        """The name and version that stand for the whole file."""
        return self.tokenizer.identity

    def configuration(self) -> TokenizerConfiguration:
        """The rules of the tokenizer, as the runtime takes them."""
        vocabulary = self.vocabulary
        unknown = None if vocabulary.unknown is None else vocabulary.unknown.id
        added = added_tokens(vocabulary.control_spellings(), vocabulary.added_texts())
        return replace(self.tokenizer.configuration(), unknown=unknown, added_tokens=added)


@dataclass(frozen=True, slots=True)
class Program(TokenizerProgram):
    """A model's whole input layer, which `katapi.load` finds."""

    serializations: tuple[Serialization, ...]
    request: Request
    template: Template
    budgets: tuple[Budget, ...]
    #: Names in declarations with mistakes, of which nothing more is known; empty in a program that is sound.
    unsure: frozenset[str] = frozenset()

    @property
    def identity(self) -> Identity:
        """The name and version of the template."""
        return self.template.identity
