"""Reads the `key: part, part` lines of a block: each key once, each value as its key asks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from typing import TypeVar

from katapi.language import syntax as s
from katapi.language.source import Span
from katapi.model.resolve.findings import Findings, nearest
from katapi.runtime.patterns.syntax import Dialect
from katapi.runtime.tokenization import configuration as c

E = TypeVar("E", bound=Enum)
T = TypeVar("T")
AtomT = TypeVar("AtomT", s.Name, s.Quoted, s.Number, s.ControlName)


class Misread(Exception):
    """A part of a setting is not as its form asks."""


class Part:
    """The atoms of one part, taken in order; raises `Misread` where another kind of atom stands, or none."""

    def __init__(self, part: s.Part) -> None:
        self.span = part.span
        self._atoms = list(part.atoms)

    def word(self) -> str:
        """A word."""
        return self._take(s.Name).text

    def text(self) -> str:
        """A quoted text."""
        return self._take(s.Quoted).text

    def number(self) -> int:
        """A whole number."""
        return self._take(s.Number).value

    def pattern(self) -> c.Pattern:
        """A quoted text, which matches itself, or a regular expression between backquotes."""
        match self._atoms:
            case [s.Quoted(text), *_] if text:
                del self._atoms[0]
                return c.Verbatim(text)
            case [s.Regex(source), *_]:
                del self._atoms[0]
                return c.Regex(source, Dialect.TIKTOKEN)
            case _:
                raise Misread

    def controls(self) -> list[s.ControlName]:
        """The control tokens up to the end, at least one."""
        found = [self._take(s.ControlName)]
        while self._atoms:
            found.append(self._take(s.ControlName))
        return found

    def one_of(self, choices: Mapping[str, T]) -> T:
        """What a word out of a closed set stands for."""
        word = self.word()
        if word not in choices:
            raise Misread
        return choices[word]

    def words(self, choices: Mapping[str, T]) -> T:
        """What all words up to the end stand for, out of a closed set."""
        words = [self.word()]
        while self._atoms:
            words.append(self.word())
        if " ".join(words) not in choices:
            raise Misread
        return choices[" ".join(words)]

    def flag(self, word: str) -> bool:
        """Whether the word stands next, which is then taken."""
        match self._atoms:
            case [s.Name(text), *_] if text == word:
                del self._atoms[0]
                return True
            case _:
                return False

    def begins_with_pattern(self) -> bool:
        """Whether a pattern stands next, not a word."""
        return bool(self._atoms) and isinstance(self._atoms[0], s.Quoted | s.Regex)

    def begins_with_number(self) -> bool:
        """Whether a number stands next."""
        return bool(self._atoms) and isinstance(self._atoms[0], s.Number)

    def done(self) -> None:
        """Nothing more may stand here."""
        if self._atoms:
            raise Misread

    def _take(self, kind: type[AtomT]) -> AtomT:
        if not self._atoms or not isinstance(self._atoms[0], kind):
            raise Misread
        atom = self._atoms.pop(0)
        assert isinstance(atom, kind)
        return atom


class Settings:
    """The settings of one block; what nobody asked for is an error."""

    def __init__(self, settings: tuple[s.Setting, ...], owner: s.Header, findings: Findings) -> None:
        self._owner = owner
        self._findings = findings
        self._by_key: dict[str, s.Setting] = {}
        self._asked: list[str] = []
        for setting in settings:
            key = setting.key
            if key.text in self._by_key:
                first = self._by_key[key.text].key.span
                findings.add("K107", key.span, f"`{key.text}` is set twice", label="again here", first=first)
            self._by_key.setdefault(key.text, setting)

    def says(self, key: str) -> bool:
        """Whether a key is set."""
        return key in self._by_key

    def allows(self, key: str) -> None:
        """A key that may be set, though nobody asks for its value."""
        self._asked.append(key)

    def parts(self, key: str, remedy: str, *, required: bool = True) -> tuple[s.Part, ...]:
        """What stands between the commas of a value; nothing where the key is missing."""
        self._asked.append(key)
        setting = self._by_key.get(key)
        if setting is not None:
            return setting.parts
        if required:
            self._findings.add(
                "K111",
                self._owner.span,
                f"`{self._owner.name.text}` does not say `{key}`",
                help=f"add `{key}: {remedy}`",
            )
        return ()

    def bad(self, span: Span, key: str, remedy: str) -> None:
        """Reports a value that the key does not take."""
        self._findings.add("K112", span, f"this is no value of `{key}`", help=f"write `{key}: {remedy}`")

    def misread(self, key: str, remedy: str) -> None:
        """Reports all that stands behind the colon as no value of the key."""
        self.bad(self._value(key), key, remedy)

    def report(self, span: Span, message: str, help: str) -> None:
        """Reports what is wrong with a part of a value."""
        self._findings.add("K112", span, message, help=help)

    def place(self, key: str) -> Span:
        """Where a setting stands, or its block where it is missing."""
        setting = self._by_key.get(key)
        return self._owner.span if setting is None else setting.span

    def _value(self, key: str) -> Span:
        """All that stands behind the colon."""
        parts = self._by_key[key].parts
        return Span(parts[0].span.start, parts[-1].span.end)

    def choice(self, key: str, kind: type[E], default: E) -> E:
        """Words out of a closed set; `default` only stands in after an error."""
        remedy = " | ".join(str(v.value) for v in kind)
        try:
            part = self._single(key, remedy, required=True)
            return default if part is None else self._read(part, part.words({str(v.value): v for v in kind}))
        except Misread:
            self.misread(key, remedy)
            return default

    def text(self, key: str, example: str, *, required: bool = True) -> str | None:
        """A quoted text."""
        try:
            part = self._single(key, example, required)
            return None if part is None else self._read(part, part.text())
        except Misread:
            self.misread(key, example)
            return None

    def number(self, key: str, example: str, *, required: bool = True) -> int | None:
        """A whole number."""
        try:
            part = self._single(key, example, required)
            return None if part is None else self._read(part, part.number())
        except Misread:
            self.misread(key, example)
            return None

    def _single(self, key: str, remedy: str, required: bool) -> Part | None:
        parts = self.parts(key, remedy, required=required)
        if len(parts) > 1:
            raise Misread
        return Part(parts[0]) if parts else None

    @staticmethod
    def _read(part: Part, value: T) -> T:
        part.done()
        return value

    def separator(self, key: str, written: str | None, sign: str) -> None:
        """Insists that a separator of JSON is its sign with white space around it."""
        if written is not None and written.strip(" \t\n\r") != sign:
            message = f"with this `{key}` what is written is no JSON"
            self._findings.add("K112", self.place(key), message, help=f"write `{sign}` in it, and only spaces beside")

    def finish(self) -> None:
        """Reports the keys that mean nothing here."""
        for key, setting in self._by_key.items():
            if key not in self._asked:
                self._findings.add("K110", setting.key.span, f"unknown setting `{key}`", help=nearest(key, self._asked))


@contextmanager
def settings_of(settings: tuple[s.Setting, ...], owner: s.Header, findings: Findings) -> Iterator[Settings]:
    """A reader of the settings; at its end, those that nobody asked for are reported."""
    reader = Settings(settings, owner, findings)
    yield reader
    reader.finish()
