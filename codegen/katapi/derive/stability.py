"""Whether rendering a longer conversation can change what was rendered of its beginning.

Two questions are asked, with the preamble (system messages, tools, parameters) fixed. *History*: are the ids of a
conversation that ends with a message of the assistant a prefix of the ids of every continuation by messages of users,
tools and the assistant? *Prompt*: are the ids of a prompt, its generation prefix included, a prefix of those of the
conversation with the reply, and does what was sampled stay as it is afterwards? A key-value cache and training over
several turns need the second.

"Stable" is proven: nothing that is printed depends on what is to come. "Unstable" comes with the smallest conversation
that shows it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from itertools import product

from katapi.derive.conversations import grown, needles, requests, variants
from katapi.derive.cuts import Cuts, GetVocabulary, not_at_hand
from katapi.derive.fold import Constant
from katapi.derive.growth import Change, Growth, growing_roles
from katapi.derive.prompts import Replies
from katapi.model import template as t
from katapi.model.program import Program
from katapi.model.request import ASSISTANT
from katapi.model.types import BoolType, TextType, present
from katapi.runtime.errors import ArtifactError, KatapiError
from katapi.runtime.json_types import Json
from katapi.runtime.model import Model
from katapi.runtime.request_model import RequestModel

_MOST_SETTINGS = 16
_MOST_MESSAGES = 4
_MOST_CONVERSATIONS = 30_000
_TEXTS = ("a", "\n", " a")
_MORE_TEXTS = (" \n",)


class Question(Enum):
    """What a verdict is about."""

    HISTORY = "history"
    PROMPT = "prompt"


@dataclass(frozen=True)
class Witness:
    """A conversation, and a continuation after which its beginning has other ids."""

    beside: Mapping[str, Json]
    """What stands in the request beside the messages: tools and parameters."""
    conversation: tuple[Json, ...]
    behind: tuple[Json, ...]
    prompted: bool
    """Whether the conversation is asked for with its generation prefix."""

    @property
    def beginning(self) -> dict[str, Json]:
        """The request of the conversation."""
        return {"messages": [*self.conversation], **self.beside, "add_generation_prompt": self.prompted}

    @property
    def whole(self) -> dict[str, Json]:
        """The request of the conversation with what comes behind."""
        messages = [*self.conversation, *self.behind]
        return {"messages": messages, **self.beside, "add_generation_prompt": False}

    def parts_at(self, model: Model[RequestModel]) -> int | None:
        """The index of the first id of the beginning that the whole does not have; None where it has them all.

        Raises `KatapiError` where the model refuses one of the two requests.
        """
        short, whole = self.ids(model)
        return next((at for at, token in enumerate(short) if at >= len(whole) or whole[at] != token), None)

    def ids(self, model: Model[RequestModel]) -> tuple[list[int], list[int]]:
        """The ids of the beginning, and those of the whole. Raises `KatapiError` as `parts_at` does."""
        short, whole = (model.assemble(json.dumps(request).encode()) for request in (self.beginning, self.whole))
        return short.input_ids.tolist(), whole.input_ids.tolist()


@dataclass(frozen=True)
class Verdict:
    """What holds for a template under one setting of its parameters."""

    question: Question
    setting: Mapping[str, Constant]
    changes: tuple[Change, ...]
    """What depends on messages to come; where it is empty, nothing does, and the template is stable."""
    witness: Witness | None
    searched: int | None
    """How many conversations were looked at for a witness; None where they had no ids for want of the vocabulary."""

    @property
    def stable(self) -> bool | None:
        """None where something depends on what comes, and no small conversation shows that it matters."""
        return True if not self.changes else False if self.witness is not None else None

    @property
    def word(self) -> str:
        """The verdict in a word or two."""
        return "not decided" if self.stable is None else "stable" if self.stable else "unstable"


def verdicts(program: Program, model: Model[RequestModel], vocabulary: GetVocabulary) -> Iterator[Verdict]:
    """Both answers under each setting of parameters that have a few values alone; `model` is the program, generated.

    `vocabulary` gives the data of its vocabulary, which some proofs need.
    """
    for setting in settings(program):
        history = _searched(program, model, setting, Question.HISTORY, vocabulary)
        yield history
        prompt = _searched(program, model, setting, Question.PROMPT, vocabulary)
        if prompt.stable is not False and history.changes:
            # What was sampled is part of the history as soon as the conversation goes on.
            prompt = Verdict(Question.PROMPT, setting, history.changes, history.witness, history.searched)
        yield prompt


def changes(
    program: Program, setting: Mapping[str, Constant], question: Question, vocabulary: GetVocabulary = not_at_hand
) -> tuple[Change, ...]:
    """What depends on messages to come under a setting of parameters; where there is nothing, that is a proof."""
    by_name = {variable.name: variable.number for variable in program.template.variables}
    generating = next(v.number for v in program.template.variables if v.binding is t.Binding.GENERATING)
    constants: dict[int, Constant | None] = {by_name[name]: value for name, value in setting.items()}
    growth = Growth(program, {**constants, generating: False}, Cuts(program.configuration(), vocabulary))
    return tuple(growth.changes() if question is Question.HISTORY else Replies(program, growth, generating).changes())


def settings(program: Program) -> list[dict[str, Constant]]:
    """The settings that are told apart: all combinations, or where those are many, one parameter at a time."""
    few: dict[str, tuple[Constant, ...]] = {}
    for param in program.request.params:
        match present(param.type):
            case BoolType():
                few[param.name] = (False, True)
            case TextType(choices=choices) if choices is not None:
                few[param.name] = choices
            case _:
                pass
    whole: list[dict[str, Constant]] = [dict(zip(few, values, strict=True)) for values in product(*few.values())]
    if len(whole) <= _MOST_SETTINGS:
        return whole
    return [{}, *({name: value} for name, values in few.items() for value in values)]


def _searched(
    program: Program,
    model: Model[RequestModel],
    setting: Mapping[str, Constant],
    question: Question,
    vocabulary: GetVocabulary,
) -> Verdict:
    """The verdict on one question: where something may change, it does if a small conversation shows it."""
    found = changes(program, setting, question, vocabulary)
    searched = 0
    for searched, witness in enumerate(_candidates(program, setting, question) if found else (), start=1):
        if searched > _MOST_CONVERSATIONS:
            break
        try:
            parts = witness.parts_at(model) is not None
        except ArtifactError:
            return Verdict(question, setting, found, None, None)
        except KatapiError:
            continue
        if parts:
            return Verdict(question, setting, found, witness, searched)
    return Verdict(question, setting, found, None, searched)


def _candidates(program: Program, setting: Mapping[str, Constant], question: Question) -> Iterator[Witness]:
    """Conversations with what may come behind them, the smaller ones first."""
    growing = growing_roles(program)
    asking = tuple(role for role in growing if role != ASSISTANT)
    marked = tuple(f"a{needle}b" for needle in needles(program))
    answers = variants(program, (ASSISTANT,), (*_TEXTS, *marked, *_MORE_TEXTS))
    questions = variants(program, asking, ("a", "b", "\n"))
    plain = [*questions, *variants(program, (ASSISTANT,), ("a",))]
    last, growth = (answers, plain) if question is Question.HISTORY else (questions, answers)
    for conversation, behind in grown(plain, last, growth, _MOST_MESSAGES):
        for beside in requests(program, setting):
            yield Witness(beside, tuple(conversation), tuple(behind), question is Question.PROMPT)
