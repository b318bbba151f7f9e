"""Reads a tokenizer file of any format, which its content tells."""

from __future__ import annotations

import re
from collections.abc import Collection

from katapi.runtime.artifacts.gguf import read_gguf
from katapi.runtime.artifacts.gguf_header import MAGIC
from katapi.runtime.artifacts.json_file import read_json
from katapi.runtime.artifacts.rank_files import read_rank_file, read_rank_vocabulary
from katapi.runtime.artifacts.sentencepiece_model import read_sentencepiece
from katapi.runtime.artifacts.tekken import tokenizer_of_tekken
from katapi.runtime.artifacts.tokenizer_file import TokenizerFile
from katapi.runtime.artifacts.tokenizer_json import tokenizer_of_json
from katapi.runtime.errors import ArtifactError
from katapi.runtime.tokenization.vocabulary_data import VocabularyData

_JSON = re.compile(rb"\s*\{")
_RANKS = re.compile(rb"[A-Za-z0-9+/]+=* \d+\r?(\n|\Z)")
_PIECE = b"\x0a"  # field 1 of a SentencePiece model, a message


def read_tokenizer_file(data: bytes, *, where: str, pattern: str | None = None) -> TokenizerFile:
    """The tokenizer that a file describes; `where` names the file in errors.

    `pattern` says how text is cut, for a file of ranks that is not known. Raises `ArtifactError` A139 where the file is
    of no known format, and A106, A131 to A133 or A135 to A138 where it is not as its format asks.
    """
    if data.startswith(MAGIC):
        return read_gguf(data, where=where)
    if _JSON.match(data):
        root = read_json(data, where=where)
        return tokenizer_of_tekken(root) if {"config", "vocab"} <= {*root.members()} else tokenizer_of_json(root)
    if _RANKS.match(data):
        return read_rank_file(data, where=where, pattern=pattern)
    if data.startswith(_PIECE):
        return read_sentencepiece(data, where=where)
    raise ArtifactError(
        "the file is of no known format",
        code="A139",
        where=where,
        help="known: tokenizer.json, .tiktoken, tekken.json, SentencePiece .model, GGUF; unpack what is compressed",
    )


def read_vocabulary(data: bytes, *, where: str, passed_over: Collection[int] = ()) -> VocabularyData:
    """What a file of any format says of its vocabulary, whatever it says of the stages.

    In a file of ranks no token has an id in `passed_over`. Raises `ArtifactError` A139, and A106, A131 to A133 or A135
    to A137, as `read_tokenizer_file` does.
    """
    if _RANKS.match(data):
        return read_rank_vocabulary(data, where=where, passed_over=passed_over)
    return read_tokenizer_file(data, where=where).data
