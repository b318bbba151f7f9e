"""Stages from their configuration: what stands before the model, and the decoders.

Unicode data is imported where a stage needs it, since most tokenizers need little.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from katapi.runtime.errors import ArtifactError
from katapi.runtime.patterns.matcher import compile_pattern
from katapi.runtime.patterns.syntax import Dialect, PatternError
from katapi.runtime.places import quoted
from katapi.runtime.tokenization import character_normalizers as characters
from katapi.runtime.tokenization import character_splits, normal_forms, normalizers, pretokenizers
from katapi.runtime.tokenization import configuration as c
from katapi.runtime.tokenization import decoder_stages as decoders
from katapi.runtime.tokenization.byte_letters import ByteLetters
from katapi.runtime.tokenization.charsmap import CharacterMap
from katapi.runtime.tokenization.decoding import ByteDecoding, TextDecoding
from katapi.runtime.tokenization.matching import Matcher, Verbatim
from katapi.runtime.tokenization.precompiled import LongestPrefixes, Precompiled
from katapi.runtime.tokenization.spaces import Spaces
from katapi.runtime.tokenization.stages import Decoding, Normalizer, PreTokenizer
from katapi.runtime.tokenization.vocabulary import Vocabulary
from katapi.runtime.unicode.codepoints import CodePoints

_UNICODE = "16.0"  # of the classes in patterns
_GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_WORDS = r"\w+|[^\w\s]+"


def build_normalizer(stages: Sequence[c.Normalizer], charsmap: bytes = b"") -> Normalizer:
    """One normalizer that does the work of all; `charsmap` is the character map of the vocabulary.

    Raises `ArtifactError` where a pattern or the character map cannot be used.
    """
    built = [_normalizer(stage, charsmap) for stage in stages]
    return built[0] if len(built) == 1 else normalizers.InTurn(*built) if built else normalizers.Unchanged()


def build_pretokenizer(stages: Sequence[c.PreTokenizer]) -> PreTokenizer:
    """One pre-tokenizer that does the work of all.

    What "ByteLevel" does to bytes is left to a model over bytes, unless other pre-tokenizers stand behind it.
    """
    built = [part for index, stage in enumerate(stages) for part in _pretokenizer(stage, last=index == len(stages) - 1)]
    return built[0] if len(built) == 1 else pretokenizers.Chained(*built) if built else pretokenizers.Whole()


def build_decoding(stages: Sequence[c.Decoder], vocabulary: Vocabulary) -> Decoding:
    """What turns the tokens of `vocabulary` into bytes, or into text that all stages have worked on.

    Raises `ArtifactError` where tokens that are bytes should go through further stages.
    """
    if c.DecodeBytes() not in stages:
        return TextDecoding(vocabulary, *[_decoder(stage) for stage in stages])
    if len(stages) > 1:
        raise ArtifactError("a decoder of bytes is supported by itself only, not with others", code="A109")
    return ByteDecoding(vocabulary)


def build_matcher(pattern: c.Pattern) -> Matcher:
    """What finds the matches of a pattern. Raises `ArtifactError` where it is not well formed or not supported."""
    match pattern:
        case c.Verbatim():
            return Verbatim(pattern.text)
        case c.Regex():
            return _regex(pattern.source, pattern.dialect)
        case _:
            assert_never(pattern)


def _regex(source: str, dialect: Dialect) -> Matcher:
    try:
        return compile_pattern(source, unicode=_UNICODE, dialect=dialect)
    except PatternError as error:
        raise ArtifactError(f"the pattern {quoted(source)} cannot be used: {error}", code="A108") from None


def _normalizer(stage: c.Normalizer, charsmap: bytes) -> Normalizer:
    match stage:
        case c.Normalize():
            return _normal_form(stage.form)
        case c.Lowercase():
            from katapi.runtime.unicode.lower_case_17_0 import TABLE

            return characters.Lowercase(TABLE)
        case c.StripAccents():
            from katapi.runtime.unicode.classes_9_0 import M

            return characters.strip_accents(M)
        case c.Nmt():
            return characters.nmt()
        case c.Replace(c.Verbatim(text), content) if text:
            return normalizers.ReplaceText(text, content)
        case c.Replace():
            return normalizers.Replace(build_matcher(stage.pattern), stage.content)
        case c.Prepend():
            return normalizers.Prepend(stage.text)
        case c.Strip():
            return normalizers.Strip(_characters(_white_space()), left=stage.left, right=stage.right)
        case c.BertNormalize():
            return _bert(stage)
        case c.Precompiled():
            from katapi.runtime.unicode.graphemes_17_0 import TABLE as GRAPHEMES

            return Precompiled(_character_map(charsmap), GRAPHEMES)
        case c.CharacterMap():
            return LongestPrefixes(_character_map(charsmap))
        case c.Spaces():
            return Spaces(dummy=stage.dummy, remove_extra=stage.remove_extra, mark=stage.mark, behind=stage.behind)
        case _:
            assert_never(stage)


def _character_map(charsmap: bytes) -> CharacterMap:
    if not charsmap:
        raise ArtifactError("the vocabulary has no precompiled character map", code="A107")
    return CharacterMap(charsmap)


def _normal_form(form: c.NormalForm) -> Normalizer:
    from katapi.runtime.unicode.compatibility_9_0 import TABLE as COMPATIBILITY
    from katapi.runtime.unicode.normalization_9_0 import TABLE

    match form:
        case c.NormalForm.NFC:
            return normal_forms.Nfc(TABLE)
        case c.NormalForm.NFD:
            return normal_forms.Nfd(TABLE)
        case c.NormalForm.NFKC:
            return normal_forms.Nfkc(COMPATIBILITY)
        case c.NormalForm.NFKD:
            return normal_forms.Nfkd(COMPATIBILITY)
        case _:
            assert_never(form)


def _bert(stage: c.BertNormalize) -> Normalizer:
    from katapi.runtime.unicode import classes_8_0
    from katapi.runtime.unicode.lower_case_17_0 import TABLE as LOWER_CASE
    from katapi.runtime.unicode.normalization_9_0 import TABLE

    return characters.bert_normalizer(
        clean_text=stage.clean_text,
        handle_chinese_chars=stage.handle_chinese_chars,
        strip_accents=stage.strip_accents,
        lowercase=stage.lowercase,
        white_space=_white_space(),
        removed=(classes_8_0.Cc, classes_8_0.Cf, classes_8_0.Co),
        decomposition=TABLE,
        nonspacing=classes_8_0.Mn,
        lower_case=LOWER_CASE,
    )


def _pretokenizer(stage: c.PreTokenizer, *, last: bool) -> list[PreTokenizer]:
    match stage:
        case c.Split():
            return [pretokenizers.Split(build_matcher(stage.pattern), stage.behaviour, invert=stage.invert)]
        case c.ByteLevel():
            return _byte_level(stage, letters=not last)
        case c.Metaspace():
            return [pretokenizers.Metaspace(stage.replacement, stage.scheme, split=stage.split)]
        case c.Digits():
            from katapi.runtime.unicode.classes_17_0 import N

            return [character_splits.digits(N, individual=stage.individual)]
        case c.Punctuation():
            return [character_splits.punctuation(_punctuation(), stage.behaviour)]
        case c.Whitespace():
            words = _regex(_WORDS, Dialect.TIKTOKEN)
            return [pretokenizers.Split(words, c.Behaviour.REMOVED, invert=True)]
        case c.WhitespaceSplit():
            return [character_splits.white_space_split(_white_space())]
        case c.BertPreTokenize():
            return [character_splits.bert_split(_white_space(), _punctuation())]
        case _:
            assert_never(stage)


def _byte_level(stage: c.ByteLevel, *, letters: bool) -> list[PreTokenizer]:
    stages: list[PreTokenizer] = []
    if stage.add_prefix_space:
        stages.append(pretokenizers.PrefixSpace())
    if stage.use_regex:
        stages.append(pretokenizers.Split(_regex(_GPT2, Dialect.TOKENIZERS), c.Behaviour.ISOLATED))
    if letters:
        stages.append(ByteLetters())
    return stages


def _decoder(stage: c.Decoder) -> decoders.DecoderStage:
    match stage:
        case c.DecodeBytes():
            raise AssertionError("bytes are decoded without stages")
        case c.DecodeByteFallback():
            return decoders.ByteFallbackDecoder()
        case c.DecodeMetaspace():
            return decoders.metaspace_decoder(stage.replacement, stage.scheme)
        case c.DecodeWordPiece():
            return decoders.word_piece_decoder(stage.prefix, cleanup=stage.cleanup)
        case c.DecodeSuffix():
            return decoders.SuffixDecoder(stage.suffix)
        case c.DecodeReplace(c.Verbatim(text), content) if text:
            return decoders.ReplaceTextDecoder(text, content)
        case c.DecodeReplace():
            return decoders.replace_decoder(build_matcher(stage.pattern), stage.content)
        case c.DecodeStrip():
            return decoders.StripDecoder(stage.content, stage.start, stage.stop)
        case c.Fuse():
            return decoders.FuseDecoder()
        case c.Spaced():
            return decoders.spaced()
        case _:
            assert_never(stage)


def _white_space() -> CodePoints:
    from katapi.runtime.unicode.classes_16_0 import WS

    return WS


def _punctuation() -> CodePoints:
    from katapi.runtime.unicode.classes_8_0 import P

    return P


def _characters(members: CodePoints) -> str:
    return "".join(chr(code) for first, last in members.ranges for code in range(first, last + 1))
