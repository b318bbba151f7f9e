"""How model families cut text, for files that hold tokens but not the patterns.

The patterns are those of the families' own tokenizer.json or rank files. GGUF files name a family in the key
`tokenizer.ggml.pre`, under the names that llama.cpp gives them.
"""

from __future__ import annotations

from katapi.runtime.dataclass import dataclass
from katapi.runtime.patterns.syntax import Dialect
from katapi.runtime.tokenization import configuration as c


@dataclass(frozen=True, slots=True)
class Family:
    """The stages `pretokenizers`, and two settings that a file may leave open."""

    pretokenizers: tuple[c.PreTokenizer, ...]
    whole: bool = False
    """Whether a piece that is a token is that token, whatever the merges say (`ignore_merges`)."""
    begins: bool = False
    """Whether the token of the beginning stands before every input."""


def _split(*stages: str | c.PreTokenizer) -> tuple[c.PreTokenizer, ...]:
    """Pre-tokenizers that isolate the matches of patterns, one after the other, and the change to bytes."""
    bytes_ = c.ByteLevel(add_prefix_space=False, use_regex=False)
    return (*[_isolate(stage) if isinstance(stage, str) else stage for stage in stages], bytes_)


def _isolate(pattern: str) -> c.Split:
    return c.Split(c.Regex(pattern, Dialect.TOKENIZERS), c.Behaviour.ISOLATED, invert=False)


_GPT2 = (c.ByteLevel(add_prefix_space=False, use_regex=True),)
_ONE_DIGIT = c.Digits(individual=True)

R50K = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
"""The pattern of GPT-2 and of r50k_base, in the dialects of both engines."""
CL100K = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""That of cl100k_base, Llama 3 and GLM 4."""
QWEN2 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""That of Qwen2, Qwen2.5 and Qwen3: digits one by one."""
QWEN35 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""That of Qwen3.5 and Qwen3.6: letters with their marks."""
O200K = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""That of o200k_base and Llama 4: by the case of letters."""
TEKKEN = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""That of Mistral's tekken.json."""
KIMI = (
    r"[\p{Han}]+"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""That of Kimi K2: Han by itself."""
_DEEPSEEK3 = (
    r"\p{N}{1,3}",
    "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
    (
        "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"
        "| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"
    ),
)
_EAST_ASIAN = "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"
_DEEPSEEK_LETTERS = (
    "A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u01ba\u01bc-\u01bf\u01c4-\u0293\u0295-\u02af\u0370-\u0373"
    "\u0376\u0377\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-\u03f5\u03f7-\u0481\u048a-\u052f"
    "\u0531-\u0556\u10a0-\u10c5\u13a0-\u13f5\u13f8-\u13fd\u1c90-\u1cba\u1cbd-\u1cbf\u1d00-\u1d2b\u1d6b-\u1d77"
    "\u1d79-\u1d9a\u1e00-\u1f15\u1f18-\u1f1d\u1f20-\u1f45\u1f48-\u1f4d\u1f50-\u1f57\u1f59\u1f5b\u1f5d"
    "\u1f5f-\u1f7d\u1f80-\u1fb4\u1fb6-\u1fbc\u1fbe\u1fc2-\u1fc4\u1fc6-\u1fcc\u1fd0-\u1fd3\u1fd6-\u1fdb"
    "\u1fe0-\u1fec\u1ff2-\u1ff4\u1ff6-\u1ffc\u2102\u2107\u210a-\u2113\u2115\u2119-\u211d\u2124\u2126\u2128"
    "\u212a-\u212d\u212f-\u2134\u2139\u213c-\u213f\u2145-\u2149\u214e\u2183\u2184\u2c00-\u2c7b\u2c7e-\u2ce4"
    "\u2ceb-\u2cee\u2cf2\u2cf3\ua640-\ua66d\ua680-\ua69b\ua722-\ua76f\ua771-\ua787\ua78b-\ua78e\uab70-\uabbf"
    "\ufb00-\ufb06\ufb13-\ufb17\uff21-\uff3a\uff41-\uff5a\U00010400-\U0001044f\U000104b0-\U000104d3"
    "\U000104d8-\U000104fb\U00010c80-\U00010cb2\U00010cc0-\U00010cf2\U000118a0-\U000118df\U0001e900-\U0001e943"
)
_DEEPSEEK_LLM = (
    "[\r\n]",
    f"\\s?[{_DEEPSEEK_LETTERS}]+",
    "\\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+",
    r"\s+$",
    _EAST_ASIAN,
    _ONE_DIGIT,
)
_FALCON = (
    c.Punctuation(c.Behaviour.CONTIGUOUS),
    *_GPT2,
    c.Digits(individual=False),
    _isolate("[0-9][0-9][0-9]"),
)

_LLAMA3 = Family(_split(CL100K), whole=True, begins=True)
_DEFAULT = Family(_split(r"[\p{P}\$\+<=>\^~\|]+", R50K, r"\p{N}+", "[0-9][0-9][0-9]"))
_DIGITS_THEN_GPT2 = Family((_ONE_DIGIT, *_GPT2))

FAMILIES = {
    "chatglm-bpe": Family(_split(CL100K)),
    "command-r": Family((_ONE_DIGIT, *_GPT2), begins=True),
    "deepseek-coder": Family(_split("[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", _EAST_ASIAN, _ONE_DIGIT)),
    "deepseek-llm": Family(_split(*_DEEPSEEK_LLM)),
    "deepseek-r1-qwen": Family(_split(QWEN2)),
    "deepseek-v3": Family(_split(*_DEEPSEEK3)),
    "default": _DEFAULT,
    "falcon": Family(_FALCON),
    "glm4": Family(_split(CL100K), whole=True),
    "gpt-2": Family(_GPT2),
    "gpt-4o": Family(_split(O200K), whole=True),
    "kimi-k2": Family(_split(KIMI), whole=True),
    "llama-bpe": _LLAMA3,
    "llama3": _LLAMA3,
    "llama-v3": _LLAMA3,
    "llama4": Family(_split(O200K), whole=True, begins=True),
    "minimax-m2": Family(_split(O200K)),
    "modern-bert": Family(_GPT2),
    "mpt": Family(_GPT2),
    "olmo": Family(_GPT2),
    "phi-2": Family(_GPT2),
    "qwen2": Family(_split(QWEN2)),
    "qwen35": Family(_split(QWEN35)),
    "refact": _DIGITS_THEN_GPT2,
    "roberta-bpe": Family(_GPT2),
    "smollm": _DIGITS_THEN_GPT2,
    "starcoder": _DIGITS_THEN_GPT2,
    "tekken": Family(_split(TEKKEN), whole=True, begins=True),
}
"""By the name that GGUF files give them; `default` is what llama.cpp does where a file names none."""
