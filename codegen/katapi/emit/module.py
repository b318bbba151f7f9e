"""What the functions of a generated module share: imports, constants, serializations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import NamedTuple, TypeAlias

from katapi.emit.counters import Counters
from katapi.emit.names import slug
from katapi.emit.python import string
from katapi.language.source import Source, Span
from katapi.model.declarations import Serialization
from katapi.model.sites import cited, site_of
from katapi.model.types import Type
from katapi.runtime.segments import Site


class ControlPiece(NamedTuple):
    """A control token at one place of the template; `name` is its member of the generated enum."""

    name: str
    site: Site


class LiteralPiece(NamedTuple):
    """A text that is written at one place of the template."""

    text: str
    site: Site


class RolePiece(NamedTuple):
    """The role of a message, printed at one place of the template: one of a few literals."""

    roles: tuple[str, ...]
    site: Site


class MarkPiece(NamedTuple):
    """Where what the model itself generates begins or ends; `name` is the member of `katapi.runtime.printed.Mark`."""

    name: str
    site: Site


Piece: TypeAlias = ControlPiece | LiteralPiece | RolePiece | MarkPiece
"""Something that a template always prints in the same way."""


class Constant(NamedTuple):
    """Pieces that are printed one after the other, or one text that is kept, under a name in the generated module."""

    name: str
    pieces: tuple[Piece, ...]
    printed: bool

    @property
    def role(self) -> RolePiece | None:
        """The piece that depends on a role, if there is one: then the constant has an entry for each of the roles."""
        return next((piece for piece in self.pieces if isinstance(piece, RolePiece)), None)


def site_source(site: Site) -> str:
    """A place as an expression."""
    file = "" if site.file is None else f", {string(site.file)}"
    return f"Site({site.line}, {site.column}{file})"


@dataclass
class Module:
    """What the expressions of a module need around them: imports, constants, and which companions are read."""

    source: Source
    lender: str
    """The dotted name of the package that holds the vocabulary."""
    imports: dict[str, set[str]] = field(default_factory=dict)
    constants: dict[tuple[tuple[Piece, ...], bool], Constant] = field(default_factory=dict)
    serializations: dict[str, Serialization] = field(default_factory=dict)
    signatures: dict[str, tuple[Type, ...]] = field(default_factory=dict)
    counters: Mapping[str, Counters] = field(default_factory=dict)

    def as_it_is(self) -> Callable[[], None]:
        """Gives back what undoes all that is noted from here on."""
        imports = {module: set(names) for module, names in self.imports.items()}
        constants, serializations = dict(self.constants), dict(self.serializations)

        def undo() -> None:
            self.imports = {module: set(names) for module, names in imports.items()}
            self.constants, self.serializations = dict(constants), dict(serializations)

        return undo

    def use(self, module: str, *names: str) -> None:
        """Notes that names are imported."""
        self.imports.setdefault(module, set()).update(names)

    def segment(self, name: str) -> str:
        """A name out of `katapi.runtime.segments`."""
        self.use("katapi.runtime.segments", name)
        return name

    def helper(self, name: str) -> str:
        """A name out of `katapi.runtime.rendering`."""
        self.use("katapi.runtime.rendering", name)
        return name

    def printed(self, name: str) -> str:
        """A name out of `katapi.runtime.printed`."""
        self.use("katapi.runtime.printed", name)
        return name

    def site(self, span: Span) -> Site:
        """A place in the template."""
        return site_of(span, self.source)

    def cite(self, span: Span) -> str:
        """A place in the template as comments and errors name it: file and line."""
        return cited(span, self.source)

    def fixed(self, pieces: tuple[Piece, ...]) -> str:
        """The name of the constant for pieces that are printed one after the other."""
        self.printed("fixed")
        return self._constant(pieces, printed=True)

    def text(self, piece: LiteralPiece | RolePiece) -> str:
        """The name of the constant for a text that is kept."""
        return self._constant((piece,), printed=False)

    def _constant(self, pieces: tuple[Piece, ...], *, printed: bool) -> str:
        constant = self.constants.get((pieces, printed))
        if constant is None:
            self._import(pieces, printed)
            taken = {c.name for c in self.constants.values()}
            line, column, file = pieces[0].site
            name = f"{_stem(pieces)}_{line}" if file is None else f"{_stem(pieces)}_{slug(Path(file).stem)}_{line}"
            if name in taken:
                name = f"{name}_{column}"
            if name in taken:
                name += "_PRINTED" if printed else "_KEPT"
            if name in taken:  # at one place of files whose names end alike
                name = next(other for number in count(2) if (other := f"{name}_{number}") not in taken)
            constant = self.constants[pieces, printed] = Constant(name, pieces, printed)
        return constant.name

    def _import(self, pieces: tuple[Piece, ...], printed: bool) -> None:
        for piece in pieces:
            match piece:
                case MarkPiece(name=name):
                    self.printed(name)
                case ControlPiece():
                    self.segment("ControlSegment")
                    self.segment("Site")
                case LiteralPiece() | RolePiece():
                    for name in ("Literal", "Site", *(("LiteralSegment",) if printed else ())):
                        self.segment(name)


def _stem(pieces: tuple[Piece, ...]) -> str:
    """A name for pieces: that of the piece that tells most, and of the first of its kind."""
    return _name(min(pieces, key=_rank))


def _name(piece: Piece) -> str:
    match piece:
        case RolePiece():
            return "ROLE"
        case LiteralPiece(text=text):
            return slug(text)
        case ControlPiece(name=name) | MarkPiece(name=name):
            return name


def _rank(piece: Piece) -> int:
    match piece:
        case RolePiece():
            return 0
        case LiteralPiece(text=text) if any(c.isascii() and c.isalpha() for c in text):
            return 1
        case ControlPiece():
            return 2
        case LiteralPiece():
            return 3
        case MarkPiece():
            return 4
