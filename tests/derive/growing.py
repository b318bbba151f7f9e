"""Random conversations that go on, and pairs of requests of which one should begin like the other."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache, partial
from typing import NamedTuple

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from katapi.derive.cuts import GetVocabulary, not_at_hand
from katapi.derive.fold import Constant
from katapi.derive.growth import growing_roles
from katapi.derive.stability import Question, changes, settings
from katapi.model.program import Program
from katapi.model.request import ASSISTANT
from katapi.runtime.errors import KatapiError
from katapi.runtime.json_types import Json
from katapi.runtime.messages import INSTRUCTING
from katapi.runtime.model import Model
from katapi.runtime.request_model import RequestModel
from tests.requests import Requests
from tests.specs import ARTIFACTS, OWN, Spec, program_of

Setting = tuple[tuple[str, Constant], ...]


class Pair(NamedTuple):
    """A conversation, and the same one gone on, both as requests."""

    short: dict[str, Json]
    whole: dict[str, Json]


def vocabulary(spec: Spec) -> GetVocabulary:
    """The vocabulary that a proof may need; that of a spec of the tests need not be at hand."""
    return partial(ARTIFACTS.data_of, program_of(*spec)) if spec.path in OWN else not_at_hand


@cache
def proven(spec: Spec, question: Question, setting: Setting) -> bool:
    """Whether a template is stable by proof. The prompt asks for the history, too."""
    asked = dict.fromkeys((Question.HISTORY, question))
    return not any(changes(program_of(*spec), dict(setting), one, vocabulary(spec)) for one in asked)


@cache
def proven_settings(spec: Spec, question: Question) -> list[Setting]:
    """The settings of the parameters under which it is."""
    whole = [tuple(one.items()) for one in settings(program_of(*spec))]
    return [one for one in whole if proven(spec, question, one)]


@cache
def conversations(spec: Spec, setting: Setting) -> SearchStrategy[dict[str, Json]]:
    """Requests with a setting, whose messages are a preamble and then roles that come and go, mostly by turns."""
    program = program_of(*spec)
    requests = Requests(program)
    by_role = requests.messages
    growing = growing_roles(program)
    asking = [role for role in growing if role != ASSISTANT]
    opening = sorted(INSTRUCTING & {*by_role})

    @st.composite
    def messages(draw: DrawFn) -> Json:
        roles: list[str] = draw(st.lists(st.sampled_from(opening), max_size=1)) if opening else []
        by_turns = draw(st.integers(0, 2))
        for _ in range(draw(st.integers(1, 3))):
            roles += [asking[0] if by_turns else draw(st.sampled_from(asking)), ASSISTANT]
            roles += [] if by_turns == 2 else draw(st.lists(st.sampled_from(growing), max_size=1))
        return [draw(by_role[role]) for role in roles]

    return requests.with_messages(messages()).map(partial(_with_setting, program, dict(setting)))


def _with_setting(program: Program, setting: Mapping[str, Constant], request: Json) -> dict[str, Json]:
    assert isinstance(request, dict)
    given = {key for param in program.request.params if param.name in setting for key in param.spellings}
    return {key: value for key, value in request.items() if key not in given} | dict(setting)


def accepted(model: Model[RequestModel], request: dict[str, Json]) -> dict[str, Json]:
    """The request with those messages that the template takes, some of them without a field that it refuses."""
    kept: list[Json] = []
    messages = request["messages"]
    assert isinstance(messages, list)
    for message in messages:
        assert isinstance(message, dict)
        for candidate in _simpler(message):
            longer = request | {"messages": [*kept, candidate], "add_generation_prompt": False}
            try:
                model.render(json.dumps(longer).encode())
            except KatapiError:
                continue
            kept.append(candidate)
            break
    return request | {"messages": kept}


def _simpler(message: dict[str, Json]) -> Iterator[dict[str, Json]]:
    yield message
    fields = [key for key in message if key != "role"]
    for dropped in fields:
        yield {key: value for key, value in message.items() if key != dropped}
    for kept in fields:
        yield {key: value for key, value in message.items() if key in ("role", kept)}
    yield {key: message[key] for key in message if key == "role"} | {"content": "a"}


def pairs(program: Program, question: Question, request: dict[str, Json]) -> Iterator[Pair]:
    """The pairs that a conversation holds: each beginning of it, gone on by one message or more."""
    growing = growing_roles(program)
    messages = request["messages"]
    assert isinstance(messages, list)
    roles = [message["role"] for message in messages if isinstance(message, dict)]
    ends = {ASSISTANT} if question is Question.HISTORY else {*growing} - {ASSISTANT}
    for cut in range(1, len(messages)):
        goes_on = question is Question.HISTORY or roles[cut] == ASSISTANT
        if roles[cut - 1] in ends and goes_on and all(role in growing for role in roles[cut:]):
            prompt = question is Question.PROMPT
            short = request | {"messages": messages[:cut], "add_generation_prompt": prompt}
            for end in range(cut + 1, len(messages) + 1):
                yield Pair(short, request | {"messages": messages[:end], "add_generation_prompt": False})


def ids(model: Model[RequestModel], request: dict[str, Json]) -> list[int] | None:
    """The ids of a request, or None where it is refused."""
    try:
        found: list[int] = model.assemble(json.dumps(request).encode()).input_ids.tolist()
    except KatapiError:
        return None
    return found
