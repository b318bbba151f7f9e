"""Emits `tests/test_<spec>.py` of a tokenizer without a template: properties that every text must keep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from katapi.artifacts.lock import Artifact
from katapi.emit.environment import render
from katapi.emit.python import Lines, call, imports, string
from katapi.model.program import TokenizerProgram
from katapi.runtime.tokenization import configuration as c


@dataclass(frozen=True, slots=True)
class TokenizerTestsContext:
    """What `tokenizer_tests.py.j2` shows."""

    name: str
    source: str
    imports: list[str]
    needs: str
    ids: str
    controls: str
    undone: bool
    unknown: int | None


def emit_tokenizer_tests(program: TokenizerProgram, package: str, artifact: Artifact | None, ids: Sequence[int]) -> str:
    """The text of the test module; `ids` are those that have a token, ascending.

    They do not count where the table of the artifact is in the user's cache: the tests then ask the tokenizer.
    """
    vocabulary = program.vocabulary
    needs = with_vocabulary("TOKENIZER", artifact)
    used = {
        "hypothesis": ["assume"] if _undone(program) and vocabulary.unknown else [],
        "katapi.runtime.segments": ["Content"],
        "katapi.testing": ["given", *(["known_ids", "with_vocabulary"] if needs else []), "texts_with"],
        package: ["TOKENIZER as DECLARED" if needs else "TOKENIZER"],
        f"{package}.tokenizer": ["CONFIGURATION"] if needs else [],
        f"{package}.vocabulary": [*(["Control"] if needs else []), "SPELLINGS"],
    }
    third = {module: names for module, names in used.items() if module == "hypothesis"}
    own = {module: names for module, names in used.items() if module != "hypothesis" and names}
    unknown = vocabulary.unknown
    controls = "set(SPELLINGS)"
    if unknown is not None:
        controls = f"(SPELLINGS.keys() - {{{unknown.id}}})"
    return render(
        "tokenizer_tests.py.j2",
        TokenizerTestsContext(
            name=program.name,
            source=program.source.name,
            imports=[*imports(third), "from hypothesis import strategies as st", "", *imports(own)],
            needs=needs,
            ids="IDS = known_ids(TOKENIZER, Control)" if needs else _strategy(ids),
            controls=controls,
            undone=_undone(program),
            unknown=None if unknown is None else unknown.id,
        ),
    )


def with_vocabulary(name: str, artifact: Artifact | None) -> str:
    """The statement by which a test module does without what is not in the user's cache; nothing where all is there."""
    if artifact is None or not artifact.cached:
        return ""
    lines = Lines()
    lines.statement(f"{name} = ", call("with_vocabulary", ["DECLARED", "CONFIGURATION", string(artifact.sha256)]))
    lines.add(f'"""Over single bytes where {artifact.name} is not in the cache."""')
    return lines.text()


def undone(program: TokenizerProgram) -> bool:
    """Whether ids stand for just the text that they were made from, if that is in the form that normalization gives."""
    stages = program.tokenizer
    return (
        _keeps(stages.segmentation)
        and all(isinstance(stage, c.Normalize) for stage in stages.normalizers)
        and not any(map(_changes, stages.pretokenizers))
    )


def _strategy(ids: Sequence[int]) -> str:
    """The statement of a strategy of all ids, one part for each stretch without a gap."""
    starts = [token for before, token in pairwise([-2, *ids]) if token != before + 1]
    ends = [token for token, behind in pairwise([*ids, ids[-1] + 2]) if token != behind - 1]
    parts = [f"st.integers({first}, {last})" for first, last in zip(starts, ends, strict=True)]
    lines = Lines()
    one = f"IDS = {' | '.join(parts)}"
    if len(one) <= lines.room():
        lines.add(one)
    else:
        lines.statement("IDS = ", call("st.one_of", parts))
    return lines.text()


def _undone(program: TokenizerProgram) -> bool:
    """Whether ids stand for just the text that they were made from."""
    return undone(program) and not program.tokenizer.normalizers


def _keeps(segmentation: c.Segmentation) -> bool:
    """Whether the tokens of a piece are together the piece."""
    match segmentation:
        case c.BytePairRanks() | c.LongestMatch():
            return True
        case c.BytePairMerges(over_bytes=over_bytes, word_suffix=suffix):
            return over_bytes and not suffix
        case c.BytePairScores() | c.Unigram() | c.WordPiece():
            return False


def _changes(stage: c.PreTokenizer) -> bool:
    """Whether the pieces of a text are not together the text."""
    match stage:
        case c.Split(behaviour=behaviour) | c.Punctuation(behaviour=behaviour):
            return behaviour is c.Behaviour.REMOVED
        case c.ByteLevel(add_prefix_space=adds):
            return adds
        case c.Digits():
            return False
        case c.Metaspace() | c.Whitespace() | c.WhitespaceSplit() | c.BertPreTokenize():
            return True
