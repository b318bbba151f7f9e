"""Emits `tokenizer.py`: the stages of the tokenizer put together. Reads the tokenizer; writes one module."""

from __future__ import annotations

from dataclasses import dataclass

from katapi.emit.environment import render
from katapi.emit.pattern import pattern_lines
from katapi.emit.python import imports
from katapi.model.declarations import Normalizer, Segmentation, Split, Tokenizer
from katapi.model.program import Program

_RUNTIME = "katapi.runtime.tokenization"


@dataclass(frozen=True, slots=True)
class SplitContext:
    """One pattern as a function that compiles it."""

    name: str
    doc: str
    alternatives: list[str]
    unicode: str


@dataclass(frozen=True, slots=True)
class TokenizerContext:
    """What `tokenizer.py.j2` shows."""

    source: str
    tokenizer: str
    version: str
    imports: list[str]
    splits: list[SplitContext]
    summary: str
    body: list[str]
    normalizer: str
    pretokenizer: str
    segmentation: str


def emit_tokenizer(program: Program, package: str) -> str:
    """The text of `tokenizer.py`; `package` is the dotted name of the generated package."""
    tokenizer = program.tokenizer
    used: dict[str, set[str]] = {
        "functools": {"cache"},
        f"{_RUNTIME}.decoding": {"ByteDecoding"},
        f"{_RUNTIME}.engine": {"PieceEngine"},
        f"{_RUNTIME}.interface": {"Tokenizer"},
        f"{_RUNTIME}.pipeline": {"PipelineTokenizer"},
        f"{_RUNTIME}.post_processors": {"Bare"},
        f"{_RUNTIME}.vocabulary": {"Vocabulary"},
        f"{package}.vocabulary": {"SPELLINGS"},
    }
    splits = [_split(s, i, program, used) for i, s in enumerate(tokenizer.splits)]
    normalizer, normalizing = _normalizer(tokenizer, used)
    body, segmentation, segmenting = _segmentation(program, used, package)
    pretokenizer = _pretokenizer(splits, used)
    pattern = {0: "the whole text", 1: "the pattern above"}.get(len(splits), "the patterns above")
    standard = {m: n for m, n in used.items() if not m.startswith(("katapi", package.split(".")[0]))}
    own = {m: n for m, n in used.items() if m not in standard}
    return render(
        "tokenizer.py.j2",
        TokenizerContext(
            source=program.source.name,
            tokenizer=tokenizer.identity.name,
            version=tokenizer.identity.version,
            imports=[*imports(standard), "", *imports(own)],
            splits=splits,
            summary=f"{normalizing}, {pattern}, {segmenting}",
            body=body,
            normalizer=normalizer,
            pretokenizer=pretokenizer,
            segmentation=segmentation,
        ),
    )


def _split(split: Split, number: int, program: Program, used: dict[str, set[str]]) -> SplitContext:
    unicode = program.tokenizer.unicode
    assert unicode is not None, "the resolver asks for it where there is a pattern"
    used["katapi.runtime.patterns.matcher"] = {"Matcher", "compile_pattern"}
    line = program.source.line_column(split.span.start)[0]
    *alternatives, last = pattern_lines(split.regex)
    return SplitContext(
        "pretokens" if len(program.tokenizer.splits) == 1 else f"pretokens_{number + 1}",
        f"The pattern of line {line}, its classes those of Unicode {unicode}.",
        [*alternatives, f"{last},"],
        unicode,
    )


def _pretokenizer(splits: list[SplitContext], used: dict[str, set[str]]) -> str:
    names = used.setdefault(f"{_RUNTIME}.pretokenizers", set())
    if not splits:
        names.add("Whole")
        return "Whole()"
    names.add("Split")
    used[f"{_RUNTIME}.options"] = {"Behaviour"}
    parts = [f"Split({s.name}(), Behaviour.ISOLATED)" for s in splits]
    if len(parts) == 1:
        return parts[0]
    names.add("Chained")
    return f"Chained({', '.join(parts)})"


def _normalizer(tokenizer: Tokenizer, used: dict[str, set[str]]) -> tuple[str, str]:
    match tokenizer.normalizer:
        case Normalizer.NONE:
            used[f"{_RUNTIME}.normalizers"] = {"Unchanged"}
            return "Unchanged()", "text as it is"
        case Normalizer.NFC:
            version = tokenizer.normalizer_unicode
            assert version is not None, "the resolver asks for it"
            used[f"{_RUNTIME}.normal_forms"] = {"Nfc"}
            used[f"katapi.runtime.unicode.normalization_{version.replace('.', '_')}"] = {"TABLE"}
            return "Nfc(TABLE)", f"NFC of Unicode {version}"


def _segmentation(program: Program, used: dict[str, set[str]], package: str) -> tuple[list[str], str, str]:
    match program.tokenizer.segmentation:
        case Segmentation.LONGEST_MATCH:
            unknown = program.vocabulary.unknown
            assert unknown is not None, "the resolver asks for it"
            used[f"{_RUNTIME}.longest_match"] = {"LongestMatch"}
            used[f"{package}.vocabulary"].add("TEXTS")
            body = ["vocabulary = Vocabulary(texts=TEXTS, control=SPELLINGS)"]
            return body, f"LongestMatch(TEXTS, unknown={unknown.id})", "the longest token that matches"
        case Segmentation.BPE_BYTES:
            used["pathlib"] = {"Path"}
            used[f"{_RUNTIME}.byte_pairs"] = {"BytePairs"}
            used[f"{_RUNTIME}.table"] = {"load_table"}
            body = [
                'table = load_table(Path(__file__).with_name("vocabulary.bin"))',
                "vocabulary = Vocabulary(table=table.tokens, control=SPELLINGS)",
            ]
            return body, "BytePairs(table.tokens, table.ranks)", "byte pairs by rank"
