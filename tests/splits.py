"""Conversations of the vectors, split at each reply: the prompt, the ids that were sampled, and what was said then."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from katapi.runtime.errors import KatapiError
from katapi.runtime.json_types import Json, JsonObject
from katapi.runtime.model import Model
from katapi.runtime.model_input import ModelInput
from katapi.runtime.request_model import RequestModel
from tests.vectors.test_chat_models import cases


class Split(NamedTuple):
    """One reply of a conversation."""

    case: str
    """The id of the case, and the index of the reply."""
    at: int
    """The index of the reply."""
    prompt: ModelInput
    """The conversation before the reply, with its generation prefix."""
    completion: list[int]
    """What of the conversation that ends with the reply the model itself generates, behind the prompt's own ids."""
    reply: JsonObject
    new: list[JsonObject]
    """What stands between the reply and the next one."""
    whole: ModelInput
    """The conversation up to the next reply, assembled anew."""

    @property
    def kept(self) -> bool:
        """Whether the whole conversation begins with the ids of the prompt and of the completion."""
        past = [*self.prompt.input_ids.tolist(), *self.completion]
        ids: list[int] = self.whole.input_ids.tolist()
        return ids[: len(past)] == past


def conversations(model: Model[RequestModel], path: Path, most: int | None) -> Iterator[list[Split]]:
    """The replies of each conversation of a file of vectors, but for those that the template does not take or print.

    `most` says how many conversations are looked at, from all parts of the file alike.
    """
    listed = [*cases(path)]
    for raw, case in listed[:: 1 if most is None else max(1, len(listed) // most)]:
        found: list[Split] = []
        request: dict[str, Json] = json.loads(raw)
        messages = request["messages"]
        assert isinstance(messages, list)
        replies = [at for at, message in enumerate(messages) if message["role"] == "assistant"]
        for at, following in zip(replies, [*replies[1:], len(messages)], strict=False):
            try:
                prompt = assembled(model, request, messages[:at], prompted=True)
                ending = assembled(model, request, messages[: at + 1], prompted=False)
                whole = assembled(model, request, messages[:following], prompted=following > at + 1)
            except KatapiError:
                continue
            (flags,) = np.nonzero(ending.loss_mask([at]))
            if not len(flags):
                continue
            ids, before = ending.input_ids.tolist(), prompt.input_ids.tolist()
            start = len(before) if ids[: len(before)] == before else int(flags[0])
            completion = ids[start : int(flags[-1]) + 1]
            name = f"{case['id']}[{at}]"
            found.append(Split(name, at, prompt, completion, messages[at], messages[at + 1 : following], whole))
        yield found


def assembled(
    model: Model[RequestModel], request: JsonObject, messages: Sequence[Json], *, prompted: bool
) -> ModelInput:
    """A request with these messages in place of its own."""
    return model.assemble(json.dumps({**request, "messages": messages, "add_generation_prompt": prompted}).encode())
