"""One compiled .kata file: everything that it declares, tied together."""

from __future__ import annotations

from dataclasses import dataclass

from katapi.language.source import Source
from katapi.model.declarations import Budget, Serialization, Tokenizer, Vocabulary
from katapi.model.request import Request
from katapi.model.template import Template
from katapi.runtime.tokenization.configuration import Frame, TokenizerConfiguration, UnicodeVersions


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
        unknown = self.vocabulary.unknown
        before, behind = self.tokenizer.before, self.tokenizer.behind
        return TokenizerConfiguration(
            normalizers=self.tokenizer.normalizers,
            pretokenizers=self.tokenizer.pretokenizers,
            segmentation=self.tokenizer.segmentation,
            frame=Frame(tuple(token.id for token in before), tuple(token.id for token in behind)),
            decoders=self.tokenizer.decoders,
            unknown=None if unknown is None else unknown.id,
            unicode=UnicodeVersions(**self.tokenizer.unicode),
        )


@dataclass(frozen=True, slots=True)
class Program(TokenizerProgram):
    """A model's whole input layer, which `katapi.load` finds."""

    serializations: tuple[Serialization, ...]
    request: Request
    template: Template
    budgets: tuple[Budget, ...]
