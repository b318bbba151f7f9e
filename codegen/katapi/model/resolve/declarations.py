"""Vocabulary, tokenizer, serialization and budget blocks → model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from typing import TypeVar

from katapi.language import syntax as s
from katapi.language.source import Span
from katapi.model.declarations import (
    Behaviour,
    Budget,
    ControlToken,
    Decoding,
    Escape,
    Identity,
    KeyOrder,
    Normalizer,
    OrdinaryToken,
    Segmentation,
    Serialization,
    Split,
    Tokenizer,
    Vocabulary,
)
from katapi.model.resolve.findings import Findings, nearest

E = TypeVar("E", bound=Enum)
T = TypeVar("T")


def identity(header: s.Header) -> Identity:
    """The name and version of a declaration."""
    return Identity(header.name.text, header.version)


class Settings:
    """The `key: value` lines of one block: each key is asked for once, and what nobody asked for is an error."""

    def __init__(self, settings: tuple[s.Setting, ...], owner: s.Header, findings: Findings) -> None:
        self._owner = owner
        self._findings = findings
        self._by_key: dict[str, s.Setting] = {}
        self._asked: list[str] = []
        for setting in settings:
            if setting.key.text in self._by_key:
                findings.add("K107", setting.key.span, f"`{setting.key.text}` is set twice", label="again here")
            self._by_key[setting.key.text] = setting

    def _take(self, key: str, remedy: str, required: bool) -> s.Setting | None:
        self._asked.append(key)
        setting = self._by_key.get(key)
        if setting is None and required:
            self._findings.add(
                "K111",
                self._owner.span,
                f"`{self._owner.name.text}` does not say `{key}`",
                help=f"add `{key}: {remedy}`",
            )
        return setting

    def _single(self, key: str, remedy: str, required: bool) -> s.Words | None:
        setting = self._take(key, remedy, required)
        if setting is None:
            return None
        value = setting.values[0]
        if len(setting.values) > 1 or isinstance(value, s.Pattern):
            self._bad(setting.span, key, remedy)
            return None
        return value

    def _bad(self, span: Span, key: str, remedy: str) -> None:
        self._findings.add("K112", span, f"this is no value of `{key}`", help=f"write `{key}: {remedy}`")

    def place(self, key: str) -> Span:
        """Where a setting stands, or its block where it is missing."""
        setting = self._by_key.get(key)
        return self._owner.span if setting is None else setting.span

    def choice(self, key: str, kind: type[E], default: E) -> E:
        """A value in words out of a closed set; `default` only stands in after an error."""
        remedy = " | ".join(str(v.value) for v in kind)
        words = self._single(key, remedy, required=True)
        if words is None:
            return default
        written = " ".join(w.text for w in words.words)
        found = next((v for v in kind if v.value == written), None)
        if found is None or words.text is not None or words.number is not None:
            self._bad(words.span, key, remedy)
            return default
        return found

    def choice_and_text(self, key: str, kind: type[E], default: E, bare: E) -> tuple[E, str | None]:
        """A value in words out of a closed set, and the quoted text that belongs to all but the `bare` one."""
        remedy = " | ".join(str(v.value) if v is bare else f'{v.value} "…"' for v in kind)
        words = self._single(key, remedy, required=True)
        if words is None:
            return default, None
        written = " ".join(w.text for w in words.words)
        found = next((v for v in kind if v.value == written), None)
        if found is None or (words.text is None) is not (found is bare) or words.number is not None:
            self._bad(words.span, key, remedy)
            return default, None
        return found, words.text

    def text(self, key: str, example: str, *, required: bool = True) -> str | None:
        """A quoted text."""
        words = self._single(key, example, required)
        if words is None:
            return None
        if words.text is None or words.words:
            self._bad(words.span, key, example)
            return None
        return words.text

    def number(self, key: str, example: str, *, required: bool = True) -> int | None:
        """A whole number."""
        words = self._single(key, example, required)
        if words is None:
            return None
        if words.number is None or words.words:
            self._bad(words.span, key, example)
            return None
        return words.number

    def separator(self, key: str, written: str | None, sign: str) -> None:
        """Insists that a separator of JSON is its sign with white space around it."""
        if written is not None and written.strip(" \t\n\r") != sign:
            message = f"with this `{key}` what is written is no JSON"
            self._findings.add("K112", self.place(key), message, help=f"write `{sign}` in it, and only spaces beside")

    def splits(self, key: str) -> tuple[Split, ...]:
        """`none`, or patterns that are applied one after the other."""
        remedy = "none` or, in backquotes, `pattern isolated"
        setting = self._take(key, remedy, required=True)
        if setting is None:
            return ()
        out: list[Split] = []
        for value in setting.values:
            match value:
                case s.Pattern(regex=regex, behaviour=behaviour) if behaviour.text == Behaviour.ISOLATED.value:
                    out.append(Split(regex, Behaviour.ISOLATED, value.span))
                case s.Words(words=(s.Name(text="none"),), text=None, number=None) if len(setting.values) == 1:
                    pass
                case _:
                    self._bad(value.span, key, remedy)
        return tuple(out)

    def finish(self) -> None:
        """Reports the keys that mean nothing here."""
        for key, setting in self._by_key.items():
            if key not in self._asked:
                self._findings.add("K110", setting.key.span, f"unknown setting `{key}`", help=nearest(key, self._asked))


@contextmanager
def _settings(settings: tuple[s.Setting, ...], owner: s.Header, findings: Findings) -> Iterator[Settings]:
    reader = Settings(settings, owner, findings)
    yield reader
    reader.finish()


def _once(rows: tuple[T, ...], span_of: Callable[[T], Span], what: str, findings: Findings) -> T | None:
    for extra in rows[1:]:
        findings.add("K107", span_of(extra), f"a vocabulary has one {what}", label="a second one")
    return rows[0] if rows else None


def resolve_vocabulary(node: s.Vocabulary, findings: Findings) -> Vocabulary:
    """Checks that ids and names are used once, and that the tokens have one source."""
    artifact = _once(node.artifacts, lambda r: r.span, "artifact", findings)
    unknown = _once(node.unknowns, lambda r: r.span, "unknown token", findings)
    rows: list[tuple[int, str, Span]] = [(r.id, r.spelling, r.span) for r in node.controls]
    rows += [(r.id, r.text, r.span) for r in node.texts]
    rows += [(r.id, r.spelling, r.span) for r in node.unknowns[:1]]
    ids: dict[int, Span] = {}
    spellings: dict[str, int] = {}
    for number, spelling, span in rows:
        if number in ids:
            findings.add("K701", span, f"the id {number} is given twice", first=ids[number])
        if spelling in spellings:
            findings.add("K702", span, f"“{spelling}” has two ids, {spellings[spelling]} and {number}")
        if not spelling:
            findings.add("K703", span, f"the token {number} has no text")
        ids.setdefault(number, span)
        spellings.setdefault(spelling, number)
    names: dict[str, str] = {}
    seen: set[str] = set()
    for row in node.controls:
        member = "end_" + row.name[1:] if row.name.startswith("/") else row.name
        other = names.setdefault(member, row.name)
        if other == row.name and row.name in seen:
            findings.add("K107", row.span, f"the control token `@{row.name}` is declared twice")
        elif other != row.name:
            findings.add("K107", row.span, f"`@{row.name}` and `@{other}` would have one name in Python")
        seen.add(row.name)
    if artifact is not None and node.texts:
        findings.add(
            "K704",
            node.texts[0].span,
            "a vocabulary comes from an artifact or is written out, not both",
            help="remove the `text` block or the `artifact` line",
        )
    if artifact is None and not node.texts:
        findings.add("K704", node.header.span, "a vocabulary needs an `artifact` or a `text` block")
    if artifact is None and ids and ids.keys() != set(range(len(ids))):
        missing = next(i for i in range(max(ids) + 1) if i not in ids)
        findings.add("K705", node.header.span, f"the ids have a gap: no token has id {missing}")
    return Vocabulary(
        identity(node.header),
        None if artifact is None else artifact.name,
        tuple(ControlToken(r.id, r.name, r.spelling) for r in node.controls),
        tuple(OrdinaryToken(r.id, r.text) for r in node.texts),
        None if unknown is None else OrdinaryToken(unknown.id, unknown.spelling),
        node.span,
    )


class _Post(Enum):
    NONE = "none"


def resolve_tokenizer(node: s.Tokenizer, vocabulary: Vocabulary | None, findings: Findings) -> Tokenizer:
    """The stages, and that they fit each other and the vocabulary."""
    before = len(findings.diagnostics)
    with _settings(node.settings, node.header, findings) as read:
        normalizer, normalizer_unicode = read.choice_and_text(
            "normalize", Normalizer, Normalizer.NONE, bare=Normalizer.NONE
        )
        splits = read.splits("pretokenize")
        segmentation = read.choice("segment", Segmentation, Segmentation.BPE_BYTES)
        read.choice("post", _Post, _Post.NONE)
        decoding = read.choice("decode", Decoding, Decoding.BYTES)
        unicode = read.text("unicode", '"16.0"', required=bool(splits))
    if vocabulary is not None and len(findings.diagnostics) == before:
        _check_fit(node, vocabulary, segmentation, decoding, read.place("decode"), findings)
    return Tokenizer(
        identity(node.header), unicode, normalizer, normalizer_unicode, splits, segmentation, decoding, node.header.span
    )


def _check_fit(
    node: s.Tokenizer,
    vocabulary: Vocabulary,
    segmentation: Segmentation,
    decoding: Decoding,
    place: Span,
    findings: Findings,
) -> None:
    wanted = {Segmentation.LONGEST_MATCH: Decoding.CONCAT, Segmentation.BPE_BYTES: Decoding.BYTES}[segmentation]
    if decoding is not wanted:
        findings.add(
            "K706",
            place,
            f"`segment: {segmentation.value}` is undone by `decode: {wanted.value}`, not `{decoding.value}`",
        )
    if segmentation is Segmentation.LONGEST_MATCH and vocabulary.unknown is None:
        findings.add("K707", node.over.span, "longest match needs an `unknown` token in its vocabulary")
    if segmentation is Segmentation.LONGEST_MATCH and vocabulary.artifact is not None:
        findings.add("K707", node.over.span, "longest match needs a vocabulary that is written out")
    if segmentation is Segmentation.BPE_BYTES and vocabulary.artifact is None:
        findings.add("K707", node.over.span, "byte-level BPE needs a vocabulary with an artifact of merge ranks")


class _Floats(Enum):
    PYTHON = "python"


class _Nan(Enum):
    REJECT = "reject"


class _Absent(Enum):
    OMITTED = "omitted"


def resolve_serialization(
    node: s.Serialization, known: dict[str, s.Serialization], findings: Findings
) -> Serialization:
    """The settings of a serialization; `like` takes those of an earlier one first."""
    settings = _inherited(node, known, findings)
    with _settings(settings, node.header, findings) as read:
        order = read.choice("order", KeyOrder, KeyOrder.AS_RECEIVED)
        item_separator = read.text("item_separator", '", "')
        key_separator = read.text("key_separator", '": "')
        escape = read.choice("escape", Escape, Escape.MINIMAL)
        read.choice("floats", _Floats, _Floats.PYTHON)
        read.choice("nan", _Nan, _Nan.REJECT)
        read.choice("absent", _Absent, _Absent.OMITTED)
        indent = read.number("indent", "4", required=False)
        read.separator("item_separator", item_separator, ",")
        read.separator("key_separator", key_separator, ":")
    return Serialization(identity(node.header), order, item_separator or "", key_separator or "", escape, indent)


def _inherited(node: s.Serialization, known: dict[str, s.Serialization], findings: Findings) -> tuple[s.Setting, ...]:
    if node.like is None:
        return node.settings
    base = known.get(node.like.text)
    if base is None:
        findings.add(
            "K105",
            node.like.span,
            f"no serialization `{node.like.text}` stands before this one",
            help=nearest(node.like.text, known),
        )
        return node.settings
    own = {setting.key.text for setting in node.settings}
    return tuple(t for t in _inherited(base, known, findings) if t.key.text not in own) + node.settings


class _Overflow(Enum):
    REJECT = "reject"


def resolve_budget(node: s.Budget, findings: Findings) -> Budget:
    """Window and reserve, both in tokens."""
    with _settings(node.settings, node.header, findings) as read:
        window = read.number("window", "40960") or 0
        reserve = read.number("reserve", "8192") or 0
        read.choice("overflow", _Overflow, _Overflow.REJECT)
    if reserve >= window > 0:
        findings.add("K708", read.place("reserve"), f"a reserve of {reserve} leaves nothing of a window of {window}")
    return Budget(identity(node.header), window, reserve)
