"""Reads tekken.json, the format of Mistral's byte-level vocabularies (mistral-common 1.13).

The ids of control tokens come first, as many as `config.default_num_special_tokens` says; then come the ranks. The
vocabulary is cut to `config.default_vocab_size` ids.
"""

from __future__ import annotations

import base64
import binascii

from katapi.runtime.artifacts.json_file import Node, read_json
from katapi.runtime.artifacts.tokenizer_file import TokenizerFile
from katapi.runtime.patterns.syntax import Dialect
from katapi.runtime.tokenization import configuration as c
from katapi.runtime.tokenization.tokens import Tokens
from katapi.runtime.tokenization.vocabulary_data import VocabularyData

_MAX_ID = (1 << 32) - 1
_MOST_CONTROLS = 1 << 16  # each of them gets a spelling

# The control tokens of files that list none (versions before v7), by id; the rest are fillers.
_OLD_CONTROLS = (
    "<unk>",
    "<s>",
    "</s>",
    "[INST]",
    "[/INST]",
    "[AVAILABLE_TOOLS]",
    "[/AVAILABLE_TOOLS]",
    "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]",
    "[TOOL_CALLS]",
    "[IMG]",
    "<pad>",
    "[IMG_BREAK]",
    "[IMG_END]",
    "[PREFIX]",
    "[MIDDLE]",
    "[SUFFIX]",
    "[SYSTEM_PROMPT]",
    "[/SYSTEM_PROMPT]",
    "[TOOL_CONTENT]",
)


def read_tekken(data: bytes, *, where: str) -> TokenizerFile:
    """The tokenizer of a tekken.json; `where` names the file in errors.

    Raises `ArtifactError` A133 where it is not JSON, and A132, naming the path, where it is not of that form, a token
    or a rank comes twice, or a rank is missing.
    """
    return tokenizer_of_tekken(read_json(data, where=where))


def tokenizer_of_tekken(root: Node) -> TokenizerFile:
    """The same from JSON that has been read. Raises `ArtifactError` A132."""
    config = root["config"]
    size = config["default_vocab_size"].integer(_MAX_ID)
    special = config["default_num_special_tokens"].integer(min(size, _MOST_CONTROLS))
    added = _controls(root["special_tokens"], special)
    tokens = _tokens(root["vocab"], special, size)
    configuration = c.TokenizerConfiguration(
        normalizers=(),
        pretokenizers=(
            c.Split(c.Regex(config["pattern"].text(), Dialect.TIKTOKEN), c.Behaviour.ISOLATED, invert=False),
            c.ByteLevel(add_prefix_space=False, use_regex=False),
        ),
        segmentation=c.BytePairRanks(),
        frame=c.Frame(),
        decoders=(c.DecodeBytes(),),
        added_tokens=added,
    )
    return TokenizerFile(configuration, VocabularyData(tokens, added=added))


def _tokens(node: Node, special: int, size: int) -> Tokens:
    """The tokens of the vocabulary that are in use, behind as many ids as there are control tokens."""
    ranks: dict[bytes, int] = {}
    for rank, item in enumerate(node):
        if rank == size - special:
            break
        if item["rank"].integer(_MAX_ID) != rank:
            raise item["rank"].fault(f"expected the rank {rank}: ranks must ascend by 1")
        token = _bytes(item["token_bytes"])
        if ranks.setdefault(token, rank + special) != rank + special:
            raise item["token_bytes"].fault(f"the token {token!r} has the rank {ranks[token] - special} as well")
    if len(ranks) != size - special:
        raise node.fault(f"expected {size - special} tokens, found {len(ranks)}")
    return Tokens.of([*[b""] * special, *ranks], gaps=range(special))


def _bytes(node: Node) -> bytes:
    try:
        token = base64.b64decode(node.text(), validate=True)
    except (binascii.Error, ValueError):
        token = b""
    if not token:
        raise node.fault("expected the bytes of a token in base64")
    return token


def _controls(node: Node, special: int) -> tuple[c.AddedToken, ...]:
    spellings: dict[int, str] = {}
    if node.is_null:
        spellings = dict(enumerate(_OLD_CONTROLS[:special]))
    else:
        for item in node:
            token, text = item["rank"].integer(_MAX_ID), item["token_str"].text()
            if token >= special:
                raise item["rank"].fault(f"a control token beyond the {special} that the file declares")
            if token in spellings or text in spellings.values():
                raise item.fault("the rank or the text is that of another control token as well")
            spellings[token] = text
    fillers = {token: f"<SPECIAL_{token}>" for token in range(special) if token not in spellings}
    return tuple(c.AddedToken(token, text, control=True) for token, text in sorted((spellings | fillers).items()))
