"""Emits `tokenizer.py`: the stages of the tokenizer as data, and what is built of them on first use."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from katapi.artifacts.lock import Artifact
from katapi.emit.environment import render
from katapi.emit.names import control_member
from katapi.emit.pattern import pattern_lines
from katapi.emit.python import Lines, call, imports, string
from katapi.emit.values import Values
from katapi.model.program import TokenizerProgram

_RUNTIME = "katapi.runtime.tokenization"


@dataclass(frozen=True, slots=True)
class PatternRow:
    """A regular expression as a constant: its name, its lines, and its line in the spec."""

    name: str
    lines: list[str]
    line: int


@dataclass(frozen=True, slots=True)
class TokenizerContext:
    """What `tokenizer.py.j2` shows."""

    source: str
    tokenizer: str
    version: str
    imports: list[str]
    patterns: list[PatternRow]
    configuration: str
    line: int
    data: str
    arguments: str


def emit_tokenizer(program: TokenizerProgram, package: str, artifact: Artifact | None) -> str:
    """The text of `tokenizer.py`; `package` is the dotted name of the generated package."""
    tokenizer, vocabulary = program.tokenizer, program.vocabulary
    patterns = _patterns(program)
    values = Values({source: row.name for source, row in patterns.items()})
    lines = Lines()
    added = "added_tokens(SPELLINGS, ADDED)" if vocabulary.added_texts() else "added_tokens(SPELLINGS)"
    versions = ", ".join(f"{kind}={string(version)}" for kind, version in tokenizer.unicode.items())
    unicode = {"unicode": f"UnicodeVersions({versions})"} if versions else {}
    lines.statement("CONFIGURATION = ", values.expression(program.configuration(), {"added_tokens": added, **unicode}))
    used: dict[str, set[str]] = {
        "functools": {"cache"},
        f"{_RUNTIME}.build": {"build_tokenizer"},
        **values.modules,
        f"{_RUNTIME}.interface": {"Tokenizer"},
        f"{package}.vocabulary": {"SPELLINGS"},
    }
    used[f"{_RUNTIME}.configuration"].add("added_tokens")
    if versions:
        used[f"{_RUNTIME}.configuration"].add("UnicodeVersions")
    if patterns:
        used[f"{_RUNTIME}.configuration"].add("Regex")
        used["katapi.runtime.patterns.syntax"] = {"Dialect"}
    if artifact is None:
        used[f"{_RUNTIME}.vocabulary_data"] = {"VocabularyData"}
        used[f"{package}.vocabulary"].add("TEXTS")
        data = "VocabularyData.of_texts(TEXTS)"
    elif artifact.cached:
        used["katapi.artifacts.vocabularies"] = {"cached_vocabulary"}
        data = call("cached_vocabulary", [string(artifact.name), string(artifact.sha256), "SPELLINGS"])
    else:
        used["pathlib"] = {"Path"}
        used[f"{_RUNTIME}.table"] = {"load_table"}
        data = f"load_table(Path(__file__).parents[1] / {string(table_file(artifact).as_posix())})"
    body = Lines(1)
    body.statement("data = ", data)
    if vocabulary.added_texts():
        used[f"{package}.vocabulary"].add("ADDED")
    arguments = ["CONFIGURATION", "data"]
    if (pad := vocabulary.pad) is not None:
        used[f"{package}.vocabulary"].add("Control")
        arguments.append(f"pad_id=Control.{control_member(pad)}.id")
    standard = {m: n for m, n in used.items() if not m.startswith(("katapi", package.split(".")[0]))}
    own = {m: n for m, n in used.items() if m not in standard}
    return render(
        "tokenizer.py.j2",
        TokenizerContext(
            source=program.source.name,
            tokenizer=tokenizer.identity.name,
            version=tokenizer.identity.version,
            imports=[*imports(standard), "", *imports(own)],
            patterns=[*patterns.values()],
            configuration=lines.text(),
            line=program.source.line_column(tokenizer.span.start)[0],
            data=body.text(),
            arguments=", ".join(arguments),
        ),
    )


def table_file(artifact: Artifact) -> Path:
    """Where the table of an artifact stands, seen from the folder of all generated packages."""
    return Path("tables", re.sub(r"[^A-Za-z0-9._-]+", "-", artifact.name) + ".bin")


def _patterns(program: TokenizerProgram) -> dict[str, PatternRow]:
    """The constants of the regular expressions, by their sources."""
    sources = {pattern.source: pattern for pattern in reversed(program.tokenizer.patterns)}
    ordered = [sources[source] for source in dict.fromkeys(p.source for p in program.tokenizer.patterns)]
    return {
        pattern.source: PatternRow(
            "PATTERN" if len(ordered) == 1 else f"PATTERN_{number}",
            pattern_lines(pattern.source),
            program.source.line_column(pattern.span.start)[0],
        )
        for number, pattern in enumerate(ordered, start=1)
    }
