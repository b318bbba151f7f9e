"""The rules of a tokenizer as a specification states them: patterns in Katapi's dialect, nothing left open."""

from __future__ import annotations

from dataclasses import replace

from katapi.runtime.errors import ArtifactError
from katapi.runtime.patterns.printer import restate
from katapi.runtime.patterns.syntax import Dialect, PatternError
from katapi.runtime.places import quoted
from katapi.runtime.tokenization import configuration as c


def declarable(configuration: c.TokenizerConfiguration) -> c.TokenizerConfiguration:
    """Rules that mean the same, of which every stage has its words in the language.

    Raises `ArtifactError` A108 where a pattern is not well formed or not supported.
    """
    return replace(
        configuration,
        normalizers=tuple(_normalizer(stage) for stage in configuration.normalizers if not _does_nothing(stage)),
        pretokenizers=tuple(map(_pretokenizer, configuration.pretokenizers)),
        decoders=tuple(map(_decoder, configuration.decoders)),
    )


def _does_nothing(stage: c.Normalizer) -> bool:
    return stage == c.Strip(left=False, right=False)


def _normalizer(stage: c.Normalizer) -> c.Normalizer:
    match stage:
        case c.Replace(pattern, content):
            return c.Replace(_pattern(pattern), content)
        case c.BertNormalize(strip_accents=None):
            return replace(stage, strip_accents=stage.lowercase)
        case _:
            return stage


def _pretokenizer(stage: c.PreTokenizer) -> c.PreTokenizer:
    return replace(stage, pattern=_pattern(stage.pattern)) if isinstance(stage, c.Split) else stage


def _decoder(stage: c.Decoder) -> c.Decoder:
    return replace(stage, pattern=_pattern(stage.pattern)) if isinstance(stage, c.DecodeReplace) else stage


def _pattern(pattern: c.Pattern) -> c.Pattern:
    match pattern:
        case c.Regex(source, Dialect.TOKENIZERS):
            try:
                return c.Regex(restate(source), Dialect.TIKTOKEN)
            except PatternError as error:
                raise ArtifactError(f"the pattern {quoted(source)} cannot be used: {error}", code="A108") from None
        case _:
            return pattern
