"""Stages from their configuration: what stands before the model, and the decoders.

Stages that few tokenizers have, and Unicode data, are imported where they are declared: a tokenizer needs little of
all there is. Each kind of data is taken from the version that the configuration names for it; one that is not here is
an `ArtifactError`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, assert_never

from katapi.runtime.errors import ArtifactError
from katapi.runtime.patterns.syntax import Dialect, PatternError
from katapi.runtime.places import quoted
from katapi.runtime.tokenization import configuration as c
from katapi.runtime.tokenization import normalizers, pretokenizers
from katapi.runtime.tokenization.decoding import ByteDecoding
from katapi.runtime.tokenization.matching import Matcher, Verbatim
from katapi.runtime.tokenization.stages import Decoding, Normalizer, PreTokenizer
from katapi.runtime.tokenization.vocabulary import Vocabulary
from katapi.runtime.unicode import tables
from katapi.runtime.unicode.codepoints import CodePoints

if TYPE_CHECKING:
    from katapi.runtime.tokenization.charsmap import CharacterMap
    from katapi.runtime.tokenization.decoder_stages import DecoderStage

GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
"""GPT-2's pattern, which "ByteLevel" cuts by."""
_WORDS = r"\w+|[^\w\s]+"


def build_normalizer(stages: Sequence[c.Normalizer], unicode: c.UnicodeVersions, charsmap: bytes = b"") -> Normalizer:
    """One normalizer that does the work of all; `charsmap` is the character map of the vocabulary.

    Raises `ArtifactError` A107 and A108 where the character map or a pattern cannot be used, and A124 where there is no
    Unicode data of a version.
    """
    built = [_normalizer(stage, unicode, charsmap) for stage in stages]
    return built[0] if len(built) == 1 else normalizers.InTurn(*built) if built else normalizers.Unchanged()


def build_pretokenizer(stages: Sequence[c.PreTokenizer], unicode: c.UnicodeVersions) -> PreTokenizer:
    """One pre-tokenizer that does the work of all.

    What "ByteLevel" does to bytes is left to a model over bytes, unless other pre-tokenizers stand behind it. Raises
    `ArtifactError` A108 where a pattern cannot be used, and A124 as `build_normalizer` does.
    """
    if len(stages) > 1:
        from katapi.runtime.tokenization.joint_split import joint_split  # many have one stage

        joint = joint_split(stages, unicode)
        if joint is not None:
            return joint
    last = len(stages) - 1
    built = [part for index, stage in enumerate(stages) for part in _pretokenizer(stage, unicode, last=index == last)]
    return built[0] if len(built) == 1 else pretokenizers.Chained(*built) if built else pretokenizers.Whole()


def build_decoding(
    stages: Sequence[c.Decoder], vocabulary: Vocabulary, unicode: c.UnicodeVersions, *, pure: bool = False
) -> Decoding:
    """What turns the tokens of `vocabulary` into bytes, or into text that all stages have worked on.

    Where they can be joined by compiled code, they are, unless the `pure` form is asked for.

    Raises `ArtifactError` A109 where tokens that are bytes should go through further stages, A108 where a pattern
    cannot be used, and A124 as `build_normalizer` does.
    """
    if c.DecodeBytes() not in stages:
        from katapi.runtime.tokenization.text_decoding import TextDecoding

        return TextDecoding(vocabulary, *[_decoder(stage, unicode) for stage in stages], pure=pure)
    if len(stages) > 1:
        raise ArtifactError("a decoder of bytes is supported by itself only, not with others", code="A109")
    return ByteDecoding(vocabulary, pure=pure)


def build_matcher(pattern: c.Pattern, unicode: c.UnicodeVersions) -> Matcher:
    """What finds the matches of a pattern.

    Raises `ArtifactError` A108 where it is not well formed or not supported, and A124 as `build_normalizer` does.
    """
    match pattern:
        case c.Verbatim():
            return Verbatim(pattern.text)
        case c.Regex():
            return _regex(pattern.source, pattern.dialect, unicode)
        case _:
            assert_never(pattern)


def _regex(source: str, dialect: Dialect, unicode: c.UnicodeVersions) -> Matcher:
    from katapi.runtime.patterns.matcher import compile_pattern

    tables.need_version("patterns", unicode.patterns)
    try:
        return compile_pattern(source, unicode=unicode.patterns, dialect=dialect)
    except PatternError as error:
        raise ArtifactError(f"the pattern {quoted(source)} cannot be used: {error}", code="A108") from None


def _normalizer(stage: c.Normalizer, unicode: c.UnicodeVersions, charsmap: bytes) -> Normalizer:
    match stage:
        case c.Normalize():
            return _normal_form(stage.form, unicode.normalization)
        case c.Lowercase() | c.StripAccents() | c.Nmt() | c.BertNormalize():
            return _of_characters(stage, unicode)
        case c.Replace(c.Verbatim(text), content) if text:
            return normalizers.ReplaceText(text, content)
        case c.Replace():
            return normalizers.Replace(build_matcher(stage.pattern, unicode), stage.content)
        case c.Prepend():
            return normalizers.Prepend(stage.text)
        case c.Strip():
            return normalizers.Strip(_characters(_white_space(unicode)), left=stage.left, right=stage.right)
        case c.Precompiled():
            from katapi.runtime.tokenization.ascii_runs import AsciiRuns
            from katapi.runtime.tokenization.precompiled import Precompiled

            precompiled = Precompiled(_character_map(charsmap), tables.graphemes(unicode.graphemes))
            return AsciiRuns(precompiled, precompiled.ties, precompiled.is_plain)
        case c.CharacterMap():
            from katapi.runtime.tokenization.precompiled import LongestPrefixes

            return LongestPrefixes(_character_map(charsmap))
        case c.Spaces():
            from katapi.runtime.tokenization.spaces import Spaces

            return Spaces(dummy=stage.dummy, remove_extra=stage.remove_extra, mark=stage.mark, behind=stage.behind)
        case _:
            assert_never(stage)


def _character_map(charsmap: bytes) -> CharacterMap:
    from katapi.runtime.tokenization.charsmap import CharacterMap

    if not charsmap:
        raise ArtifactError("the vocabulary has no precompiled character map", code="A107")
    return CharacterMap(charsmap)


def _normal_form(form: c.NormalForm, version: str) -> Normalizer:
    from katapi.runtime.tokenization import normal_forms

    match form:
        case c.NormalForm.NFC:
            return normal_forms.Nfc(tables.normalization(version))
        case c.NormalForm.NFD:
            return normal_forms.Nfd(tables.normalization(version))
        case c.NormalForm.NFKC:
            return normal_forms.Nfkc(tables.compatibility(version))
        case c.NormalForm.NFKD:
            return normal_forms.Nfkd(tables.compatibility(version))
        case _:
            assert_never(form)


def _of_characters(
    stage: c.Lowercase | c.StripAccents | c.Nmt | c.BertNormalize, unicode: c.UnicodeVersions
) -> Normalizer:
    """The normalizers that look at one character at a time."""
    from katapi.runtime.tokenization import character_normalizers as characters

    match stage:
        case c.Lowercase():
            from katapi.runtime.tokenization.ascii_runs import AsciiRuns

            return AsciiRuns(characters.Lowercase(tables.lower_case(unicode.characters)))
        case c.StripAccents():
            tables.need_version("normalization", unicode.normalization)
            return characters.strip_accents(tables.general_category("M", unicode.normalization))
        case c.Nmt():
            return characters.nmt()
        case c.BertNormalize():
            return characters.bert_normalizer(
                clean_text=stage.clean_text,
                handle_chinese_chars=stage.handle_chinese_chars,
                strip_accents=stage.strip_accents,
                lowercase=stage.lowercase,
                white_space=_white_space(unicode),
                removed=tuple(tables.general_category(name, unicode.categories) for name in ("Cc", "Cf", "Co")),
                decomposition=tables.normalization(unicode.normalization),
                nonspacing=tables.general_category("Mn", unicode.categories),
                lower_case=tables.lower_case(unicode.characters),
            )
        case _:
            assert_never(stage)


def _pretokenizer(stage: c.PreTokenizer, unicode: c.UnicodeVersions, *, last: bool) -> list[PreTokenizer]:
    match stage:
        case c.Split():
            return [pretokenizers.Split(build_matcher(stage.pattern, unicode), stage.behaviour, invert=stage.invert)]
        case c.ByteLevel():
            return _byte_level(stage, unicode, letters=not last)
        case c.Metaspace():
            return [pretokenizers.Metaspace(stage.replacement, stage.scheme, split=stage.split)]
        case c.Digits() | c.Punctuation() | c.WhitespaceSplit() | c.BertPreTokenize():
            return [_by_characters(stage, unicode)]
        case c.Whitespace():
            words = _regex(_WORDS, Dialect.TIKTOKEN, unicode)
            return [pretokenizers.Split(words, c.Behaviour.REMOVED, invert=True)]
        case _:
            assert_never(stage)


def _by_characters(
    stage: c.Digits | c.Punctuation | c.WhitespaceSplit | c.BertPreTokenize, unicode: c.UnicodeVersions
) -> PreTokenizer:
    """The pre-tokenizers that cut by the class of single characters."""
    from katapi.runtime.tokenization import character_splits

    match stage:
        case c.Digits():
            tables.need_version("characters", unicode.characters)
            numerals = tables.general_category("N", unicode.characters)
            return character_splits.digits(numerals, individual=stage.individual)
        case c.Punctuation():
            return character_splits.punctuation(_punctuation(unicode), stage.behaviour)
        case c.WhitespaceSplit():
            return character_splits.white_space_split(_white_space(unicode))
        case c.BertPreTokenize():
            return character_splits.bert_split(_white_space(unicode), _punctuation(unicode))
        case _:
            assert_never(stage)


def _byte_level(stage: c.ByteLevel, unicode: c.UnicodeVersions, *, letters: bool) -> list[PreTokenizer]:
    stages: list[PreTokenizer] = []
    if stage.add_prefix_space:
        stages.append(pretokenizers.PrefixSpace())
    if stage.use_regex:
        stages.append(pretokenizers.Split(_regex(GPT2, Dialect.TOKENIZERS, unicode), c.Behaviour.ISOLATED))
    if letters:
        from katapi.runtime.tokenization.byte_letters import ByteLetters

        stages.append(ByteLetters())
    return stages


def _decoder(stage: c.Decoder, unicode: c.UnicodeVersions) -> DecoderStage:
    from katapi.runtime.tokenization import decoder_stages as decoders

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
            return decoders.replace_decoder(build_matcher(stage.pattern, unicode), stage.content)
        case c.DecodeStrip():
            return decoders.StripDecoder(stage.content, stage.start, stage.stop)
        case c.Fuse():
            return decoders.FuseDecoder()
        case c.Spaced():
            return decoders.spaced()
        case _:
            assert_never(stage)


def _white_space(unicode: c.UnicodeVersions) -> CodePoints:
    tables.need_version("patterns", unicode.patterns)
    return tables.WHITE_SPACE


def _punctuation(unicode: c.UnicodeVersions) -> CodePoints:
    return tables.general_category("P", unicode.categories)


def _characters(members: CodePoints) -> str:
    return "".join(chr(code) for first, last in members.ranges for code in range(first, last + 1))
