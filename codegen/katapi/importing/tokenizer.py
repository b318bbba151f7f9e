"""The declarations of a vocabulary and a tokenizer that mean what a tokenizer file says."""

from __future__ import annotations

from dataclasses import fields

from katapi.analyse import analyse
from katapi.importing import stages
from katapi.importing.declarable import declarable
from katapi.importing.names import control_names
from katapi.importing.nodes import NOWHERE, part, quoted, setting, word
from katapi.importing.tokens import added_table, control_table, unused_rows
from katapi.language import syntax as s
from katapi.language.printer import canonical
from katapi.language.source import Source
from katapi.runtime.artifacts.tokenizer_file import TokenizerFile
from katapi.runtime.errors import ArtifactError
from katapi.runtime.tokenization import configuration as c
from katapi.runtime.tokenization.unicode_kinds import needed_unicode

_VERSION = "1"


def declared_text(file: TokenizerFile, *, name: str, artifact: str, sha256: str) -> str:
    """The text of a specification, in canonical form, with a vocabulary and a tokenizer that are both called `name`.

    `artifact` is what the lock calls the file, `sha256` its digest. Raises `ArtifactError` A108, A166 or A167 where the
    file has what the language cannot name, and `SpecError` where what is declared does not fit together.
    """
    vocabulary, tokenizer = declarations(file, name=name, artifact=artifact, sha256=sha256)
    text = f"{canonical(vocabulary)}\n{canonical(tokenizer)}"
    analyse(name, Source(f"{name}.kata", text))
    return text


def declarations(file: TokenizerFile, *, name: str, artifact: str, sha256: str) -> tuple[s.Vocabulary, s.Tokenizer]:
    """The same as syntax trees, not yet checked. Raises `ArtifactError` A108, A166 and A167."""
    configuration = declarable(file.configuration)
    added = sorted(configuration.added_tokens, key=lambda token: token.id)
    names = control_names([token for token in added if token.control])
    header = s.Header(word(name), _VERSION, span=NOWHERE)
    source = s.ArtifactRef(artifact, sha256, span=NOWHERE)
    items = _vocabulary(file, configuration, added, names)
    return (
        s.Vocabulary(header, (source, *items), span=NOWHERE),
        s.Tokenizer(header, word(name), _settings(configuration, names), span=NOWHERE),
    )


def _vocabulary(
    file: TokenizerFile, configuration: c.TokenizerConfiguration, added: list[c.AddedToken], names: dict[int, str]
) -> list[s.VocabularyItem]:
    """What stands behind the artifact."""
    tokens, frame, unknown = file.data.tokens, configuration.frame, configuration.unknown
    beside = {token.id: token.content for token in added}
    size = max([len(tokens), *(token + 1 for token in beside)])
    items: list[s.VocabularyItem] = [s.SizeRow(size, span=NOWHERE)]
    alone = {*frame.before, *frame.behind} | ({unknown} if unknown is not None else set())
    controls = [token for token in added if token.id in names]
    # The unknown token has a row of its own, which tells its spelling.
    texts = [token for token in added if token.id not in names and token.id != unknown]
    if controls:
        items.append(control_table(controls, names, alone))
    if texts:
        items.append(added_table(texts))
    if unknown is not None and unknown in names:
        items.append(s.UnknownControl(word(names[unknown]), span=NOWHERE))
    elif unknown is not None:
        items.append(s.UnknownRow(unknown, beside.get(unknown) or _text(tokens[unknown]), span=NOWHERE))
    items += unused_rows([token for token in range(size) if not tokens.has(token) and token not in beside])
    return items


def _text(token: bytes) -> str:
    """What an unknown token spells."""
    try:
        return token.decode()
    except UnicodeDecodeError:
        raise ArtifactError(f"the unknown token is {token!r}, which is no text in UTF-8", code="A167") from None


def _settings(configuration: c.TokenizerConfiguration, names: dict[int, str]) -> tuple[s.Setting, ...]:
    none = [part("none")]
    versions = _unicode(configuration)
    return (
        *([setting("unicode", versions)] if versions else []),
        setting("normalize", [*map(stages.normalizer, configuration.normalizers)] or none),
        setting("pretokenize", [*map(stages.pretokenizer, configuration.pretokenizers)] or none),
        setting("segment", stages.segmentation(configuration.segmentation)),
        setting("post", _frame(configuration.frame, names) or none),
        setting("decode", [*map(stages.decoder, configuration.decoders)] or [part("concat")]),
    )


def _unicode(configuration: c.TokenizerConfiguration) -> list[s.Part]:
    """The version of each kind of Unicode data that a stage needs."""
    needed = needed_unicode(configuration)
    return [
        part(field.name, quoted(str(getattr(configuration.unicode, field.name))))
        for field in fields(configuration.unicode)
        if field.name in needed
    ]


def _frame(frame: c.Frame, names: dict[int, str]) -> list[s.Part]:
    """What the post-processor puts before and behind, by name."""
    nameless = [token for token in (*frame.before, *frame.behind) if token not in names]
    if nameless:
        raise ArtifactError(
            f"the post-processor places the id {nameless[0]}, which is no control token",
            code="A166",
            help="call that token special in the file",
        )
    sides = {"before": frame.before, "behind": frame.behind}
    return [
        part(side, *(s.ControlName(names[token], span=NOWHERE) for token in ids)) for side, ids in sides.items() if ids
    ]
