"""One compiled .kata file: everything that it declares, tied together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from katapi.language.source import Source
from katapi.language.syntax import File
from katapi.model.declarations import Budget, Serialization, Tokenizer, Vocabulary
from katapi.model.images import Image
from katapi.model.request import Request
from katapi.model.template import Template
from katapi.runtime.tokenization.configuration import BytePairMerges, TokenizerConfiguration, added_tokens


@dataclass(frozen=True, slots=True)
class Library:
    """What a file declares for others, or for one of its models.

    `name` is the model's: the stem of the file where it does not name several. `file` is the tree with every option
    decided, `used` the files of which it takes the declarations. `serializations`, `budgets` and `images` are its own.
    """

    name: str
    source: Source
    file: File
    used: tuple[Library, ...]
    serializations: tuple[Serialization, ...]
    budgets: tuple[Budget, ...]
    images: tuple[Image, ...]

    @property
    def package(self) -> str:
        """The name of the generated package, if the file gives one."""
        return self.name.replace(".", "_").replace("-", "_")

    @property
    def title(self) -> str:
        """What stands for the whole file: a name and a version where it has a tokenizer or a template."""
        return self.name


def offered(program: Library) -> Iterator[Library]:
    """A file and all that it uses."""
    for other in program.used:
        yield from offered(other)
    yield program


def budgets_of(program: Library) -> dict[str, tuple[Library, Budget]]:
    """The budgets that a file declares or takes from others, by their names, and the file of each; its own in front."""
    found: dict[str, tuple[Library, Budget]] = {}
    for library in (program, *offered(program)):
        for budget in library.budgets:
            found.setdefault(budget.identity.name, (library, budget))
    return found


def images_of(program: Library) -> dict[str, tuple[Library, Image]]:
    """The images that a file declares or takes from others, by their names, and the file of each; its own in front."""
    found: dict[str, tuple[Library, Image]] = {}
    for library in (program, *offered(program)):
        for image in library.images:
            found.setdefault(image.identity.name, (library, image))
    return found


@dataclass(frozen=True, slots=True)
class TokenizerProgram(Library):
    """A vocabulary and its tokenizer, which `katapi.load_tokenizer` finds.

    `lender` is the file that declares both, where they were taken from another one.
    """

    vocabulary: Vocabulary
    tokenizer: Tokenizer
    lender: TokenizerProgram | None

    @property
    def tokenizer_package(self) -> str:
        """The name of the generated package that holds the vocabulary and the tokenizer."""
        return self.package if self.lender is None else self.lender.tokenizer_package

    @property
    def title(self) -> str:
        """The name and version of the tokenizer."""
        return str(self.tokenizer.identity)

    @property
    def needs_merges(self) -> bool:
        """Whether the tokenizer merges by a list of merges; by ranks it needs the tokens alone."""
        return isinstance(self.tokenizer.segmentation, BytePairMerges)

    def configuration(self) -> TokenizerConfiguration:
        """The rules of the tokenizer, as the runtime takes them."""
        vocabulary = self.vocabulary
        unknown = None if vocabulary.unknown is None else vocabulary.unknown.id
        added = added_tokens(vocabulary.control_spellings(), vocabulary.added_texts())
        return replace(self.tokenizer.configuration(), unknown=unknown, added_tokens=added)


@dataclass(frozen=True, slots=True)
class Program(TokenizerProgram):
    """A model's whole input layer, which `katapi.load` finds."""

    request: Request
    template: Template
    #: Names in declarations with mistakes, of which nothing more is known; empty in a program that is sound.
    unsure: frozenset[str] = frozenset()

    @property
    def title(self) -> str:
        """The name and version of the template, and the model where its file has several."""
        variant = self.file.variant
        return str(self.template.identity) + ("" if variant is None else f"/{variant}")
