"""Every stage that the runtime has can be declared: written, parsed and resolved it is itself again."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from katapi.importing.tokenizer import declarations
from katapi.language import syntax as s
from katapi.language.parser import parse
from katapi.language.printer import canonical, format_source
from katapi.language.source import Source
from katapi.model.declarations import Tokenizer
from katapi.model.resolve.findings import Findings
from katapi.model.resolve.tokenizers import resolve_tokenizer
from katapi.runtime.artifacts.tokenizer_file import TokenizerFile
from katapi.runtime.errors import ArtifactError
from katapi.runtime.patterns.syntax import Dialect
from katapi.runtime.tokenization import configuration as c
from katapi.runtime.tokenization.tokens import Tokens
from katapi.runtime.tokenization.vocabulary_data import VocabularyData

StageT = TypeVar("StageT")

FLAGS = st.booleans()
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
SOURCES = st.text(st.characters(exclude_categories=["Cc", "Cs"]) | st.sampled_from(r"`\"'#{}"), min_size=1, max_size=8)
PATTERNS = st.one_of(st.builds(c.Verbatim, TEXTS.filter(bool)), st.builds(c.Regex, SOURCES, st.just(Dialect.TIKTOKEN)))
BEHAVIOURS = st.sampled_from(c.Behaviour)
SCHEMES = st.sampled_from(c.PrependScheme)
NUMBERS = st.integers(0, (1 << 32) - 1)
MARKS = st.characters(exclude_categories=["Cs"])

NORMALIZERS: dict[type, st.SearchStrategy[c.Normalizer]] = {
    c.Normalize: st.builds(c.Normalize, st.sampled_from(c.NormalForm)),
    c.Lowercase: st.just(c.Lowercase()),
    c.StripAccents: st.just(c.StripAccents()),
    c.Nmt: st.just(c.Nmt()),
    c.Replace: st.builds(c.Replace, PATTERNS, TEXTS),
    c.Prepend: st.builds(c.Prepend, TEXTS),
    c.Strip: st.builds(c.Strip, FLAGS, FLAGS).filter(lambda stage: stage.left or stage.right),
    c.BertNormalize: st.builds(c.BertNormalize, FLAGS, FLAGS, FLAGS, FLAGS),
    c.Precompiled: st.just(c.Precompiled()),
    c.CharacterMap: st.just(c.CharacterMap()),
    c.Spaces: st.builds(c.Spaces, FLAGS, FLAGS, MARKS, FLAGS),
}
PRETOKENIZERS: dict[type, st.SearchStrategy[c.PreTokenizer]] = {
    c.Split: st.builds(c.Split, PATTERNS, BEHAVIOURS, FLAGS),
    c.ByteLevel: st.builds(c.ByteLevel, FLAGS, FLAGS),
    c.Metaspace: st.builds(c.Metaspace, MARKS, SCHEMES, FLAGS),
    c.Digits: st.builds(c.Digits, FLAGS),
    c.Punctuation: st.builds(c.Punctuation, BEHAVIOURS),
    c.Whitespace: st.just(c.Whitespace()),
    c.WhitespaceSplit: st.just(c.WhitespaceSplit()),
    c.BertPreTokenize: st.just(c.BertPreTokenize()),
}
SEGMENTATIONS: dict[type, st.SearchStrategy[c.Segmentation]] = {
    c.LongestMatch: st.just(c.LongestMatch()),
    c.BytePairRanks: st.just(c.BytePairRanks()),
    c.BytePairMerges: st.builds(
        c.BytePairMerges,
        over_bytes=FLAGS,
        ignore_merges=FLAGS,
        byte_fallback=FLAGS,
        fuse_unknown=FLAGS,
        continuing_prefix=TEXTS,
        word_suffix=TEXTS,
    ),
    c.BytePairScores: st.builds(c.BytePairScores, FLAGS),
    c.Unigram: st.builds(c.Unigram, FLAGS, FLAGS),
    c.WordPiece: st.builds(c.WordPiece, TEXTS, NUMBERS.filter(bool)),
}
DECODERS: dict[type, st.SearchStrategy[c.Decoder]] = {
    c.DecodeBytes: st.just(c.DecodeBytes()),
    c.DecodeByteFallback: st.just(c.DecodeByteFallback()),
    c.DecodeMetaspace: st.builds(c.DecodeMetaspace, MARKS, SCHEMES),
    c.DecodeWordPiece: st.builds(c.DecodeWordPiece, TEXTS, FLAGS),
    c.DecodeSuffix: st.builds(c.DecodeSuffix, TEXTS),
    c.DecodeReplace: st.builds(c.DecodeReplace, PATTERNS, TEXTS),
    c.DecodeStrip: st.builds(c.DecodeStrip, TEXTS, NUMBERS, NUMBERS),
    c.Fuse: st.just(c.Fuse()),
    c.Spaced: st.just(c.Spaced()),
}
RULES = st.builds(
    c.TokenizerConfiguration,
    normalizers=st.lists(st.one_of(*NORMALIZERS.values()), max_size=4).map(tuple),
    pretokenizers=st.lists(st.one_of(*PRETOKENIZERS.values()), max_size=4).map(tuple),
    segmentation=st.one_of(*SEGMENTATIONS.values()),
    frame=st.just(c.Frame()),
    decoders=st.lists(st.one_of(*DECODERS.values()), max_size=4).map(tuple),
)
PLAIN = c.TokenizerConfiguration((), (), c.BytePairRanks(), c.Frame(), ())


def written(configuration: c.TokenizerConfiguration) -> str:
    """The tokenizer as text; the vocabulary is none that matters."""
    file = TokenizerFile(configuration, VocabularyData(Tokens.of([b"a"])))
    _, tokenizer = declarations(file, name="X", artifact="x", sha256="0" * 64)
    return canonical(tokenizer)


def resolved(text: str) -> Tokenizer:
    """What a text declares."""
    file, diagnostics = parse(Source("x.kata", text))
    assert not diagnostics
    [node] = file.declarations
    assert isinstance(node, s.Tokenizer)
    findings = Findings()
    tokenizer = resolve_tokenizer(node, None, findings)
    assert tokenizer is not None, findings.diagnostics
    return tokenizer


@pytest.mark.parametrize(
    ("kinds", "union"),
    [
        (NORMALIZERS, c.Normalizer),
        (PRETOKENIZERS, c.PreTokenizer),
        (SEGMENTATIONS, c.Segmentation),
        (DECODERS, c.Decoder),
    ],
)
def test_every_kind_of_stage_is_drawn(kinds: dict[type, object], union: object) -> None:
    assert [*kinds] == [*get_args(union)]


@given(RULES)
def test_what_is_declared_is_what_was_there(rules: c.TokenizerConfiguration) -> None:
    text = written(rules)
    tokenizer = resolved(text)
    assert tokenizer.normalizers == rules.normalizers
    assert tokenizer.pretokenizers == rules.pretokenizers
    assert tokenizer.segmentation == rules.segmentation
    assert tokenizer.decoders == rules.decoders
    assert format_source(Source("x.kata", text)) == text


@pytest.mark.parametrize(
    ("stage", "text"),
    [
        (c.Normalize(c.NormalForm.NFKC), "nfkc"),
        (c.Replace(c.Regex("`+", Dialect.TIKTOKEN), "\n"), r'replace ```+` "\n"'),
        (c.Strip(left=False, right=True), "strip right"),
        (c.BertNormalize(True, False, None, True), "bert clean_text strip_accents lowercase"),
        (c.BertNormalize(False, True, None, False), "bert chinese_characters"),
        (c.Spaces(dummy=True, remove_extra=False, mark="▁", behind=True), 'spaces "▁" dummy behind'),
        (c.Strip(left=False, right=False), "none"),
    ],
)
def test_normalizers_as_they_are_written(stage: c.Normalizer, text: str) -> None:
    assert f"\n  normalize: {text}\n" in written(replace(PLAIN, normalizers=(stage,)))


def test_patterns_of_tokenizer_json_are_written_in_the_dialect_of_the_language() -> None:
    split = c.Split(c.Regex("a{2,3}+\n", Dialect.TOKENIZERS), c.Behaviour.REMOVED, invert=True)
    text = written(replace(PLAIN, pretokenizers=(split,)))
    restated = c.Regex(r"(?:a{2,3})+\n", Dialect.TIKTOKEN)
    assert resolved(text).pretokenizers == (replace(split, pattern=restated),)


def test_a_pattern_that_is_none_is_refused() -> None:
    split = c.Split(c.Regex("(", Dialect.TOKENIZERS), c.Behaviour.ISOLATED, invert=False)
    with pytest.raises(ArtifactError, match=r"the pattern .* cannot be used"):
        written(replace(PLAIN, pretokenizers=(split,)))


def test_unicode_versions_are_those_that_the_stages_need() -> None:
    versions = c.UnicodeVersions(normalization="16.0")
    rules = replace(PLAIN, normalizers=(c.Normalize(c.NormalForm.NFC), c.Lowercase()), unicode=versions)
    assert '\n  unicode: normalization "16.0", characters "17.0"\n' in written(rules)
    assert "unicode" not in written(PLAIN)


def test_a_post_processor_needs_control_tokens() -> None:
    with pytest.raises(ArtifactError) as caught:
        written(replace(PLAIN, frame=c.Frame(before=(7,))))
    assert caught.value.code == "A166"
