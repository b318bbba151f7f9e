"""The declarations of a vocabulary and a tokenizer that mean what a tokenizer file says."""

from __future__ import annotations

from dataclasses import fields

from katapi.importing import stages
from katapi.importing.declarable import declarable
from katapi.importing.names import control_names
from katapi.importing.nodes import NOWHERE, part, setting, word
from katapi.importing.tokens import added_table, control_table, unused_rows
from katapi.language import syntax as s
from katapi.language.printer import canonical
from katapi.runtime.artifacts.tokenizer_file import TokenizerFile
from katapi.runtime.errors import ArtifactError
from katapi.runtime.tokenization import configuration as c
from katapi.runtime.tokenization.unicode_data import needed_unicode

_VERSION = "1"


def declared_text(file: TokenizerFile, *, name: str, artifact: s.ArtifactRef) -> str:
    """The text of a specification, in canonical form, with a vocabulary and a tokenizer that are both called `name`.

    Raises `ArtifactError` where the file has what no declaration can say.
    """
    vocabulary, tokenizer = declarations(file, name=name, artifact=artifact)
    return f"{canonical(vocabulary)}\n{canonical(tokenizer)}"


def declarations(
    file: TokenizerFile, *, name: str, artifact: s.ArtifactRef
) -> tuple[s.Vocabulary, s.Tokenizer]:
    """The same as syntax trees."""
    configuration = declarable(file.configuration)
    header = s.Header(word(name), _VERSION, span=NOWHERE)
    added = sorted(configuration.added_tokens, key=lambda token: token.id)
    controls = [token for token in added if token.is_control]
    names = control_names(controls)
    vocabulary = s.Vocabulary(
        header, (artifact, *_vocabulary(file, configuration, added, names)), span=NOWHERE
    )
    return vocabulary, s.Tokenizer(header, word(name), _settings(configuration, names), span=NOWHERE)


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
        spelling = beside.get(unknown) or tokens[unknown].decode(errors="replace")
        items.append(s.UnknownRow(unknown, spelling, span=NOWHERE))
    items += unused_rows([token for token in range(size) if not tokens.has(token) and token not in beside])
    return items


def _settings(configuration: c.TokenizerConfiguration, names: dict[int, str]) -> tuple[s.Setting, ...]:
    out = [
        setting("normalize", map(stages.normalizer, configuration.normalizers), "none"),
        setting("pretokenize", map(stages.pretokenizer, configuration.pretokenizers), "none"),
        setting("segment", stages.segmentation(configuration.segmentation), ""),
        setting("post", _frame(configuration.frame, names), "none"),
        setting("decode", map(stages.decoder, configuration.decoders), "concat"),
    ]
    versions = _unicode(configuration)
    return (setting("unicode", versions, ""), *out) if versions else tuple(out)


def _unicode(configuration: c.TokenizerConfiguration) -> list[s.Part]:
    """The version of each kind of Unicode data that a stage needs."""
    needed = needed_unicode(configuration.normalizers, configuration.pretokenizers, configuration.decoders)
    return [
        part(field.name, s.Quoted(getattr(configuration.unicode, field.name), span=NOWHERE))
        for field in fields(configuration.unicode)
        if field.name in needed
    ]


def _frame(frame: c.Frame, names: dict[int, str]) -> list[s.Part]:
    """What the post-processor puts before and behind, by name."""
    nameless = [token for token in (*frame.before, *frame.behind) if token not in names]
    if nameless:
        raise ArtifactError(
            f"the post-processor places the id {nameless[0]}, which is no control token",
            code="A160",
            help="call that token special in the file",
        )
    sides = {"before": frame.before, "behind": frame.behind}
    return [
        part(side, *(s.ControlName(names[token], span=NOWHERE) for token in ids)) for side, ids in sides.items() if ids
    ]
