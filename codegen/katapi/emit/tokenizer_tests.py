"""Emits `tests/test_<spec>.py` of a tokenizer without a template: properties that every text must keep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from katapi.emit.environment import render
from katapi.emit.python import imports
from katapi.model.program import TokenizerProgram
from katapi.runtime.tokenization import configuration as c


@dataclass(frozen=True, slots=True)
class TokenizerTestsContext:
    """What `tokenizer_tests.py.j2` shows."""

    name: str
    source: str
    imports: list[str]
    ids: str
    controls: str
    changes_text: bool
    unknown: int | None


def emit_tokenizer_tests(program: TokenizerProgram, package: str, ids: Sequence[int]) -> str:
    """The text of the test module; `ids` are those that have a token, ascending."""
    vocabulary = program.vocabulary
    used = {
        "hypothesis": [*(["assume"] if vocabulary.unknown else []), "given"],
        "katapi.runtime.segments": ["Content"],
        "katapi.testing": ["texts_with"],
        package: ["TOKENIZER"],
        f"{package}.vocabulary": ["SPELLINGS"],
    }
    third = {module: names for module, names in used.items() if module == "hypothesis"}
    own = {module: names for module, names in used.items() if module != "hypothesis"}
    unknown = vocabulary.unknown
    controls = "set(SPELLINGS)"
    if unknown is not None:
        controls = f"(SPELLINGS.keys() - {{{unknown.id}}})"
    gaps = sorted(set(range(ids[-1] + 1)) - set(ids))
    strategy = f"st.integers(0, {ids[-1]})"
    if gaps:
        strategy += f".filter(lambda token: token not in {{{', '.join(map(str, gaps))}}})"
    return render(
        "tokenizer_tests.py.j2",
        TokenizerTestsContext(
            name=program.name,
            source=program.source.name,
            imports=[*imports(third), "from hypothesis import strategies as st", "", *imports(own)],
            ids=strategy,
            controls=controls,
            changes_text=_changes_text(program),
            unknown=None if unknown is None else unknown.id,
        ),
    )


def _changes_text(program: TokenizerProgram) -> bool:
    """Whether the ids of a text may stand for another text."""
    return bool(program.tokenizer.normalizers) or any(map(_removes, program.tokenizer.pretokenizers))


def _removes(stage: c.PreTokenizer) -> bool:
    match stage:
        case c.Split(behaviour=behaviour) | c.Punctuation(behaviour=behaviour):
            return behaviour is c.Behaviour.REMOVED
        case c.ByteLevel(add_prefix_space=adds):
            return adds
        case c.Digits():
            return False
        case c.Metaspace() | c.Whitespace() | c.WhitespaceSplit() | c.BertPreTokenize():
            return True
