"""Stages of a tokenizer → the parts of settings that declare them: the way back of `model.resolve.tokenizers`."""

from __future__ import annotations

from typing import assert_never

from katapi.importing.nodes import NOWHERE, number, part, quoted
from katapi.language import syntax as s
from katapi.runtime.tokenization import configuration as c


def normalizer(stage: c.Normalizer) -> s.Part:
    """A part of `normalize`."""
    match stage:
        case c.Normalize(form):
            return part(form.value.lower())
        case c.Lowercase():
            return part("lowercase")
        case c.StripAccents():
            return part("strip_accents")
        case c.Nmt():
            return part("nmt")
        case c.Replace(pattern, content):
            return part("replace", _pattern(pattern), quoted(content))
        case c.Prepend(text):
            return part("prepend", quoted(text))
        case c.Strip(left, right):
            return part("strip", "both" if left and right else "left" if left else "right")
        case c.BertNormalize():
            flags = {
                "clean_text": stage.clean_text,
                "chinese_characters": stage.handle_chinese_chars,
                "strip_accents": bool(stage.strip_accents),
                "lowercase": stage.lowercase,
            }
            return part("bert", *_set(flags))
        case c.Precompiled():
            return part("charsmap", "graphemes")
        case c.CharacterMap():
            return part("charsmap", "longest")
        case c.Spaces():
            flags = {"dummy": stage.dummy, "remove_extra": stage.remove_extra, "behind": stage.behind}
            return part("spaces", quoted(stage.mark), *_set(flags))
        case _:
            assert_never(stage)


def pretokenizer(stage: c.PreTokenizer) -> s.Part:
    """A part of `pretokenize`."""
    match stage:
        case c.Split(pattern, behaviour, invert):
            return part(_pattern(pattern), behaviour.name.lower(), *_set({"inverted": invert}))
        case c.ByteLevel(prefix_space, use_regex):
            return part("bytes", *_set({"prefix_space": prefix_space, "gpt2": use_regex}))
        case c.Metaspace(mark, scheme, split):
            return part("metaspace", quoted(mark), scheme.value, *_set({"split": split}))
        case c.Digits(individual):
            return part("digits", "individual" if individual else "runs")
        case c.Punctuation(behaviour):
            return part("punctuation", behaviour.name.lower())
        case c.Whitespace():
            return part("words")
        case c.WhitespaceSplit():
            return part("white_space")
        case c.BertPreTokenize():
            return part("bert")
        case _:
            assert_never(stage)


def segmentation(rules: c.Segmentation) -> tuple[s.Part, ...]:
    """The parts of `segment`: the algorithm, and its options."""
    match rules:
        case c.LongestMatch():
            return (part("longest_match"),)
        case c.BytePairRanks():
            return (part("bpe", "ranks"),)
        case c.BytePairMerges():
            flags = {
                "ignore_merges": rules.ignore_merges,
                "byte_fallback": rules.byte_fallback,
                "fuse_unknown": rules.fuse_unknown,
            }
            return (
                part("bpe", "merges"),
                part("bytes" if rules.over_bytes else "characters"),
                *map(part, _set(flags)),
                *_affix("continuing_prefix", rules.continuing_prefix),
                *_affix("word_suffix", rules.word_suffix),
            )
        case c.BytePairScores(byte_fallback):
            return (part("bpe", "scores"), *map(part, _set({"byte_fallback": byte_fallback})))
        case c.Unigram(byte_fallback, binary32):
            flags = {"byte_fallback": byte_fallback, "binary32": binary32}
            return (part("unigram"), *map(part, _set(flags)))
        case c.WordPiece(prefix, longest):
            return (
                part("wordpiece"),
                *_affix("continuing_prefix", prefix),
                part("longest_word", number(longest)),
            )
        case _:
            assert_never(rules)


def decoder(stage: c.Decoder) -> s.Part:
    """A part of `decode`."""
    match stage:
        case c.DecodeBytes():
            return part("bytes")
        case c.DecodeByteFallback():
            return part("byte_fallback")
        case c.DecodeMetaspace(mark, scheme):
            return part("metaspace", quoted(mark), scheme.value)
        case c.DecodeWordPiece(prefix, cleanup):
            return part("wordpiece", quoted(prefix), *_set({"cleanup": cleanup}))
        case c.DecodeSuffix(suffix):
            return part("suffix", quoted(suffix))
        case c.DecodeReplace(pattern, content):
            return part("replace", _pattern(pattern), quoted(content))
        case c.DecodeStrip(content, start, stop):
            return part("strip", quoted(content), number(start), number(stop))
        case c.Fuse():
            return part("fuse")
        case c.Spaced():
            return part("spaced")
        case _:
            assert_never(stage)


def _pattern(pattern: c.Pattern) -> s.Quoted | s.Regex:
    match pattern:
        case c.Verbatim(text):
            return quoted(text)
        case c.Regex(source):
            return s.Regex(source, span=NOWHERE)
        case _:
            assert_never(pattern)


def _set(flags: dict[str, bool]) -> list[str]:
    """The words of the flags that are set."""
    return [name for name, value in flags.items() if value]


def _affix(key: str, text: str) -> tuple[s.Part, ...]:
    return (part(key, quoted(text)),) if text else ()
