"""The templates of TRL under transformers, with the model's own tokenizer."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol
from unittest.mock import patch

from katapi.artifacts.fetch import artifact_bytes
from katapi.artifacts.lock import Lock
from katapi.runtime.json_types import Json
from tools.official_templates.places import NotFound, at_place
from tools.training_masks.kinds import Spelling

FACTS = Path(__file__).with_name("templates.toml")
PACKAGE = "trl"


@dataclass(frozen=True)
class Fact:
    """The two templates of a model, each with the digest that it is known by, and the tokens that end its replies."""

    original: str
    original_sha256: str
    training: str
    training_sha256: str
    stops: tuple[str, ...]


def facts() -> dict[str, Fact]:
    """What is known of TRL's templates, by model."""
    return {
        model: Fact(f["original"], f["original_sha256"], f["training"], f["training_sha256"], tuple(f["stops"]))
        for model, f in tomllib.loads(FACTS.read_text(encoding="utf-8")).items()
    }


def template(path: str, sha256: str) -> str:
    """The text of a template of the installed package. Raises NotFound where it is another."""
    found = at_place(f"{PACKAGE}:{path}")
    if found.sha256 != sha256:
        raise NotFound(f"{found.place} has the digest {found.sha256}, expected {sha256}")
    return found.text


@dataclass(frozen=True)
class Conversation:
    """What a template is given."""

    messages: list[dict[str, Json]]
    tools: list[Json] | None
    params: dict[str, Json]


class _Encoding(Protocol):
    """What transformers gives for a conversation."""

    def __getitem__(self, name: str) -> list[int]: ...


class _Tokenizer(Protocol):
    """The part of a tokenizer of transformers that is used."""

    @property
    def added_tokens_decoder(self) -> Mapping[int, object]: ...

    def apply_chat_template(
        self, conversation: list[dict[str, Json]], *, chat_template: str, tools: list[Json] | None, tokenize: bool,
        return_dict: bool, return_assistant_tokens_mask: bool, add_generation_prompt: bool, **params: Json,
    ) -> _Encoding: ...  # fmt: skip

    def decode(self, token_ids: list[int]) -> str: ...

    def convert_tokens_to_ids(self, tokens: str) -> int: ...


class Refused(Exception):
    """A template fails; the text is its error."""


class Peer:
    """A model's tokenizer in transformers. What it renders is remembered for one conversation at a time."""

    def __init__(self, tokenizer_json: str, bos: str | None, eos: str | None, now: datetime) -> None:
        os.environ["TRANSFORMERS_VERBOSITY"] = "error"
        from tokenizers import Tokenizer
        from transformers import PreTrainedTokenizerFast

        self._tokenizer: _Tokenizer = PreTrainedTokenizerFast(
            tokenizer_object=Tokenizer.from_str(tokenizer_json), bos_token=bos, eos_token=eos
        )
        self._now = now
        self.spelling = Spelling(
            lambda ids: self._tokenizer.decode([*ids]), frozenset(self._tokenizer.added_tokens_decoder)
        )

    def id_of(self, token: str) -> int:
        """The id of a control token."""
        return self._tokenizer.convert_tokens_to_ids(token)

    def ids(self, chat_template: str, conversation: Conversation, *, generate: bool = False) -> list[int]:
        """The ids of a conversation, with or without the generation prompt. Raises Refused."""
        return self._applied(chat_template, conversation, generate=generate, mask=False)["input_ids"]

    def masked(self, chat_template: str, conversation: Conversation) -> tuple[list[int], list[bool]]:
        """The ids of a conversation without a generation prompt, and which of them are marked. Raises Refused."""
        encoding = self._applied(chat_template, conversation, generate=False, mask=True)
        return encoding["input_ids"], [flag == 1 for flag in encoding["assistant_masks"]]

    def _applied(self, chat_template: str, given: Conversation, *, generate: bool, mask: bool) -> _Encoding:
        try:
            with _clock(self._now):
                return self._tokenizer.apply_chat_template(
                    given.messages,
                    chat_template=chat_template,
                    tools=given.tools,
                    tokenize=True,
                    return_dict=True,
                    return_assistant_tokens_mask=mask,
                    add_generation_prompt=generate,
                    **given.params,
                )
        except Exception as error:  # noqa: BLE001  # a template may fail in any way
            raise Refused(f"{type(error).__name__}: {error}") from None


@contextmanager
def _clock(now: datetime) -> Iterator[None]:
    """Lets the clock of templates stand still."""

    class Standing(datetime):
        """A clock that always tells the same time."""

        @classmethod
        def now(cls, tz: object = None) -> datetime:  # type: ignore[override]  # templates give no time zone
            return now

    with patch("transformers.utils.chat_template_utils.datetime", Standing):
        yield


def tokenizer_json(sha256: str, lock: Lock) -> str:
    """The tokenizer.json that vectors were made with, by its digest."""
    name = next((a.name for a in lock.artifacts.values() if a.sha256 == sha256), None)
    if name is None:
        raise NotFound(f"{lock.path} names no artifact with the digest {sha256}")
    return artifact_bytes(name, lock).decode()
