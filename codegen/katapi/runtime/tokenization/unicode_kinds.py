"""Which kinds of Unicode data the stages of a tokenizer use: those whose version a declaration has to name."""

from __future__ import annotations

from typing import assert_never

from katapi.runtime.tokenization import configuration as c


def needed_unicode(configuration: c.TokenizerConfiguration) -> frozenset[str]:
    """The fields of `UnicodeVersions` that change what the tokenizer does."""
    stages = (*configuration.normalizers, *configuration.pretokenizers, *configuration.decoders)
    return frozenset(kind for stage in stages for kind in _kinds(stage))


def _kinds(stage: c.Normalizer | c.PreTokenizer | c.Decoder) -> tuple[str, ...]:
    match stage:
        case c.Replace(c.Regex()) | c.Split(c.Regex()) | c.DecodeReplace(c.Regex()):
            return ("patterns",)
        case c.Strip() | c.Whitespace() | c.WhitespaceSplit():
            return ("patterns",)
        case c.ByteLevel():
            return ("patterns",) if stage.use_regex else ()
        case c.Normalize() | c.StripAccents():
            return ("normalization",)
        case c.Lowercase() | c.Digits():
            return ("characters",)
        case c.Punctuation():
            return ("categories",)
        case c.BertPreTokenize():
            return ("patterns", "categories")
        case c.BertNormalize():
            return ("patterns", "normalization", "characters", "categories")
        case c.Precompiled():
            return ("graphemes",)
        case c.Replace() | c.Nmt() | c.Prepend() | c.CharacterMap() | c.Spaces() | c.Split() | c.Metaspace():
            return ()
        case (
            c.DecodeBytes()
            | c.DecodeByteFallback()
            | c.DecodeMetaspace()
            | c.DecodeWordPiece()
            | c.DecodeSuffix()
            | c.DecodeReplace()
            | c.DecodeStrip()
            | c.Fuse()
            | c.Spaced()
        ):
            return ()
        case _:
            assert_never(stage)
