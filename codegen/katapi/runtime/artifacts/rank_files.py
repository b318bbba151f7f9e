"""The tokenizers of `.tiktoken` files, which hold ranks and nothing of how text is cut.

What is missing comes from the library that the file belongs to: tiktoken 0.14 (`openai_public.py`), or the tokenizer of
the model. A file is known by its digest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import field

from katapi.runtime.artifacts.families import CL100K, KIMI, O200K, QWEN2, QWEN35, R50K
from katapi.runtime.artifacts.tiktoken import read_ranks
from katapi.runtime.artifacts.tokenizer_file import TokenizerFile
from katapi.runtime.dataclass import dataclass
from katapi.runtime.errors import ArtifactError
from katapi.runtime.patterns.syntax import Dialect
from katapi.runtime.tokenization import configuration as c
from katapi.runtime.tokenization.tokens import Tokens
from katapi.runtime.tokenization.vocabulary_data import VocabularyData


@dataclass(frozen=True, slots=True)
class _Supplement:
    """What a rank file does not say: the pattern, the normalizers, and the ids of control tokens."""

    pattern: str
    normalizers: tuple[c.Normalizer, ...] = ()
    controls: Mapping[str, int] = field(default_factory=dict)


def read_rank_file(data: bytes, *, where: str, pattern: str | None = None) -> TokenizerFile:
    """The tokenizer of a rank file; `where` names it in errors.

    `pattern` says how text is cut, in the dialect of tiktoken; without it the file must be one that is known here.
    Raises `ArtifactError` A138 where it is not, and A131 as `read_ranks` does.
    """
    supplement = _KNOWN.get(hashlib.sha256(data).hexdigest()) if pattern is None else _Supplement(pattern)
    passed_over = [] if supplement is None else supplement.controls.values()
    vocabulary = read_rank_vocabulary(data, where=where, passed_over=passed_over)
    if supplement is None:
        raise ArtifactError(
            "a file of ranks does not say how text is cut, and this one is not known",
            code="A138",
            where=where,
            help="give the pattern by which the model's tokenizer cuts text",
        )
    split = c.Split(c.Regex(supplement.pattern, Dialect.TIKTOKEN), c.Behaviour.ISOLATED, invert=False)
    configuration = c.TokenizerConfiguration(
        normalizers=supplement.normalizers,
        pretokenizers=(split, c.ByteLevel(add_prefix_space=False, use_regex=False)),
        segmentation=c.BytePairRanks(),
        frame=c.Frame(),
        decoders=(c.DecodeBytes(),),
        added_tokens=tuple(c.AddedToken(token, text, control=True) for text, token in supplement.controls.items()),
    )
    return TokenizerFile(configuration, vocabulary)


def read_rank_vocabulary(data: bytes, *, where: str, passed_over: Collection[int] = ()) -> VocabularyData:
    """The tokens of a rank file; none has an id in `passed_over`. Raises `ArtifactError` A131 as `read_ranks` does."""
    ranks = read_ranks(data, where=where, passed_over=passed_over)
    return VocabularyData(Tokens.by_id({token: spelled for spelled, token in ranks.items()}))


_NFC = (c.Normalize(c.NormalForm.NFC),)
_END_OF_50K = {"<|endoftext|>": 50256}

_KNOWN = {
    # r50k_base
    "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930": _Supplement(R50K, controls=_END_OF_50K),
    # p50k_base
    "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069": _Supplement(R50K, controls=_END_OF_50K),
    # cl100k_base
    "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7": _Supplement(
        CL100K,
        controls={
            "<|endoftext|>": 100257,
            "<|fim_prefix|>": 100258,
            "<|fim_middle|>": 100259,
            "<|fim_suffix|>": 100260,
            "<|endofprompt|>": 100276,
        },
    ),
    # o200k_base
    "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d": _Supplement(
        O200K, controls={"<|endoftext|>": 199999, "<|endofprompt|>": 200018}
    ),
    # Qwen2.5 and Qwen3
    "b2b1b8dfb5cc5f024bafc373121c6aba3f66f9a5a0269e243470a1de16a33186": _Supplement(QWEN2, _NFC),
    # Qwen3.5 and Qwen3.6
    "8dde380a6405e935f5de16a99eb61c824f3f814dd1ed298784c72babb7a03cdd": _Supplement(QWEN35, _NFC),
    # Llama 3
    "82e9d31979e92ab929cd544440f129d9ecd797b69e327f80f17e1c50d5551b55": _Supplement(CL100K),
    # Llama 4
    "d0bdbaf59b0762c8c807617e2d8ea51420eb1b1de266df2495be755c8e0ed6ed": _Supplement(O200K),
    # Kimi K2
    "b6c497a7469b33ced9c38afb1ad6e47f03f5e5dc05f15930799210ec050c5103": _Supplement(KIMI),
}
