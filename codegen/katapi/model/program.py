"""One compiled .kata file: everything that it declares, tied together."""

from __future__ import annotations

from dataclasses import dataclass

from katapi.language.source import Source
from katapi.model.declarations import Budget, Serialization, Tokenizer, Vocabulary
from katapi.model.request import Request
from katapi.model.template import Template


@dataclass(frozen=True, slots=True)
class Program:
    """A model's input layer; `name` is the stem of the file, by which `katapi.load` finds it."""

    name: str
    source: Source
    vocabulary: Vocabulary
    tokenizer: Tokenizer
    serializations: tuple[Serialization, ...]
    request: Request
    template: Template
    budgets: tuple[Budget, ...]
    #: Names in declarations with mistakes, of which nothing more is known; empty in a program that is sound.
    unsure: frozenset[str] = frozenset()

    @property
    def package(self) -> str:
        """The name of the generated package."""
        return self.name.replace(".", "_").replace("-", "_")
