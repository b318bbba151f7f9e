"""Whether the data of an artifact fits what a specification declares of its vocabulary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, pairwise

import numpy as np

from katapi.runtime.errors import ArtifactError
from katapi.runtime.places import quoted
from katapi.runtime.tokenization.vocabulary_data import VocabularyData

_SHOWN = 10  # findings of one kind; a wrong artifact has a hundred thousand


@dataclass(frozen=True, slots=True)
class DeclaredToken:
    """A token that a specification names: `id`, `spelling`, and the `place` where it does so, `spec/x.kata:12:3`."""

    id: int
    spelling: str
    place: str


@dataclass(frozen=True, slots=True)
class DeclaredIds:
    """Ids that no token has, `ids`, and the `place` where a specification says so."""

    ids: range
    place: str


@dataclass(frozen=True, slots=True)
class DeclaredVocabulary:
    """What a specification says of a vocabulary that comes from an artifact.

    `place` is where the declaration begins, `artifact` what the lock calls the file. `control` are the control tokens,
    `added` the added tokens that are text, `unused` ids without a token, `unknown` is the token of what is no token,
    and `size` the id at which all ids end, itself not included. No two tokens have the same id. `bare`: the tokens that
    the artifact lists beside its own count for nothing, and a declared token may have the id of one.
    """

    place: str
    artifact: str
    control: Sequence[DeclaredToken] = ()
    added: Sequence[DeclaredToken] = ()
    unused: Sequence[DeclaredIds] = ()
    unknown: DeclaredToken | None = None
    size: int | None = None
    bare: bool = False

    @property
    def tokens(self) -> tuple[DeclaredToken, ...]:
        """Control tokens and added ones."""
        return (*self.control, *self.added)


def misfits(declared: DeclaredVocabulary, data: VocabularyData) -> list[ArtifactError]:
    """Everything in which the two do not agree; nothing where a tokenizer can be built from them.

    Each is an `ArtifactError` A104, A106, A154 or A160 to A165; none is raised. Of each kind at most the first ten.
    """
    checks = (_tokens, _unknown, _undeclared, _unused, _gaps, _beyond, _alike, _merges)
    return [*chain.from_iterable(islice(_one_a_place(check(declared, data)), _SHOWN) for check in checks)]


def _one_a_place(findings: Iterable[ArtifactError]) -> Iterator[ArtifactError]:
    """Without what is said of the same row of a table again."""
    before: ArtifactError | None = None
    for finding in findings:
        if before is None or finding.code == "A164" or (finding.code, finding.where) != (before.code, before.where):
            yield finding
        before = finding


def _tokens(declared: DeclaredVocabulary, data: VocabularyData) -> Iterator[ArtifactError]:
    """Declared tokens that the artifact lacks, or whose id is that of another token."""
    listed = {token.id: token.content for token in data.added or ()}
    ids = {content: token for token, content in listed.items()}
    for token in declared.tokens:
        if declared.bare and token.id in listed:
            continue
        found = data.tokens[token.id] if data.tokens.has(token.id) else listed.get(token.id, "").encode()
        if found and found != token.spelling.encode():
            yield ArtifactError(
                f"the id {token.id} of {quoted(token.spelling)} is that of {_shown(found)} in {declared.artifact}",
                code="A154",
                where=token.place,
                help="take id and spelling from the artifact, or name another artifact",
            )
        elif not found and data.added is not None and not declared.bare:
            other = ids.get(token.spelling, data.ranks.get(token.spelling.encode()))
            yield ArtifactError(
                f"{declared.artifact} has no token {token.id}, here {quoted(token.spelling)}",
                code="A162",
                where=token.place,
                help="leave it out, or name another artifact"
                if other is None
                else f"{quoted(token.spelling)} has the id {other} there",
            )


def _unknown(declared: DeclaredVocabulary, data: VocabularyData) -> Iterator[ArtifactError]:
    """An unknown token that is no token, or another."""
    token = declared.unknown
    if token is None or token.id in {other.id for other in declared.tokens}:
        return
    found = data.tokens[token.id] if data.tokens.has(token.id) else None
    if found != token.spelling.encode():
        yield ArtifactError(
            f"the unknown token {token.id} {quoted(token.spelling)} is "
            f"{'no token' if found is None else _shown(found)} in {declared.artifact}",
            code="A165",
            where=token.place,
            help="declare the token that stands for what is no token",
        )


def _undeclared(declared: DeclaredVocabulary, data: VocabularyData) -> Iterator[ArtifactError]:
    """Tokens that the artifact lists beside its own: control tokens, and those that could else not be decoded."""
    known = {token.id for token in declared.tokens}
    for token in () if declared.bare else data.added or ():
        if token.id not in known and (token.control or not data.tokens.has(token.id)):
            block = "control" if token.control else "added"
            yield ArtifactError(
                f"{declared.artifact} has the token {token.id} {quoted(token.content)}, which is not declared",
                code="A164",
                where=declared.place,
                help=f"write {token.id} {quoted(token.content)} in the block {block}",
            )


def _unused(declared: DeclaredVocabulary, data: VocabularyData) -> Iterator[ArtifactError]:
    """Ids that are declared to have no token, and have one."""
    for part in declared.unused:
        own = part.ids[: max(0, len(data.tokens) - part.ids.start)]
        taken = next(
            chain((token.id for token in declared.tokens if token.id in part.ids), filter(data.tokens.has, own)),
            None,
        )
        if taken is not None:
            yield ArtifactError(
                f"the id {taken} has a token",
                code="A163",
                where=part.place,
                help="leave it out of the ids that have none",
            )


def _gaps(declared: DeclaredVocabulary, data: VocabularyData) -> Iterator[ArtifactError]:
    """Ids below the highest that no token has, where nothing says so; one finding for ids in a row."""
    known = [range(token.id, token.id + 1) for token in declared.tokens]
    known += [range(first + 1, last) for first, last in pairwise([-1, *sorted(data.tokens.gaps), len(data.tokens)])]
    size = max((ids.stop for ids in known), default=0)
    for first, last in _between([*known, *(part.ids for part in declared.unused)], size):
        ids = f"the id {first}" if first == last else f"the ids {first} to {last}"
        yield ArtifactError(
            f"no token has {ids}",
            code="A160",
            where=declared.place,
            help=f"if none shall have, declare `unused {first}{'' if first == last else f' to {last}'}`",
        )


def _beyond(declared: DeclaredVocabulary, data: VocabularyData) -> Iterator[ArtifactError]:
    """Ids that the declared size does not reach."""
    size = declared.size
    if size is None:
        return
    for token in declared.tokens:
        if token.id >= size:
            yield _too_high(token.id, size, token.place)
    if len(data.tokens) > size:
        yield _too_high(len(data.tokens) - 1, size, declared.place)


def _too_high(token: int, size: int, place: str) -> ArtifactError:
    return ArtifactError(
        f"the id {token} is beyond the declared size, {size}",
        code="A161",
        where=place,
        help="declare the number of rows of the model's embedding",
    )


def _alike(declared: DeclaredVocabulary, data: VocabularyData) -> Iterator[ArtifactError]:
    """Two ids of one token that text can yield."""
    shown = data.hiding({token.id for token in declared.control})
    reachable = shown.is_reachable()
    if len(shown.ranks) == int(reachable.sum()):
        return
    for token in np.flatnonzero(reachable).tolist():
        other = shown.ranks[shown.tokens[token]]
        if other != token:
            yield ArtifactError(
                f"the ids {token} and {other} are both {_shown(shown.tokens[token])}, and text can yield one only",
                code="A104",
                where=f"{declared.artifact}, id {token}",
                help="declare one of them as a control token, or get the artifact again from where it came",
            )


def _merges(declared: DeclaredVocabulary, data: VocabularyData) -> Iterator[ArtifactError]:
    """Merges with a part or a result that is no token."""
    known = np.zeros(len(data.tokens) + 1, dtype=np.bool_)  # one more, for ids that are out of reach
    known[:-1] = True
    known[[*data.tokens.gaps]] = False
    inside = np.where((data.merges >= 0) & (data.merges < len(data.tokens)), data.merges, len(data.tokens))
    for rank in np.flatnonzero(~known[inside].all(axis=1)).tolist():
        ids: list[int] = data.merges[rank].tolist()
        roles = zip(("left part", "right part", "result"), ids, strict=True)
        role, token = next((role, token) for role, token in roles if not data.tokens.has(token))
        yield ArtifactError(
            f"the {role} of merge {rank + 1}, id {token}, is no token",
            code="A106",
            where=f"{declared.artifact}, merge {rank + 1}",
            help="take the vocabulary and the merges from one file",
        )


def _between(known: Iterable[range], size: int) -> Iterator[tuple[int, int]]:
    """The first and the last of the ids in a row that are in none of some ranges, up to a size."""
    expected = 0
    for ids in sorted((ids for ids in known if ids), key=lambda ids: ids.start):
        if expected < min(ids.start, size):
            yield expected, min(ids.start, size) - 1
        expected = max(expected, ids.stop)


def _shown(token: bytes) -> str:
    try:
        return quoted(token.decode())
    except UnicodeDecodeError:
        return repr(token)
