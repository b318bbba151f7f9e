"""The next input of a conversation: a prompt, the ids that a model gave to it, and what was said then.

No id of the past changes: neither those of the prompt, in which completions of earlier turns may stand, nor those of
the completion.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from katapi.runtime.budget.cut import CutInput
from katapi.runtime.budget.decision import PolicyDecision
from katapi.runtime.budget.policy import Budget
from katapi.runtime.errors import BudgetError, ExtensionError
from katapi.runtime.json_types import JsonObject
from katapi.runtime.messages import messages_of, roles_of
from katapi.runtime.model import Model
from katapi.runtime.model_input import ModelInput, RenderedInput
from katapi.runtime.new_messages import decode_messages, decode_named_reply, decode_reply
from katapi.runtime.record import Extension, Incoming
from katapi.runtime.request_model import RequestModel
from katapi.runtime.splicing import extended, refuse_earlier, refuse_unknown, whole_conversation

if TYPE_CHECKING:
    from katapi.runtime.images.given import Images

R = TypeVar("R", bound=RequestModel)


def extend_input(
    model: Model[R],
    prev: ModelInput,
    completion: Sequence[int],
    new_messages: bytes | Sequence[JsonObject],
    reply: JsonObject | None,
    budget: Budget | None,
    images: Images | None,
    *,
    generate: bool,
) -> ModelInput:
    """What `Model.extend` gives.

    Raises `ExtensionError` X100 for an input without its generation prefix, X101 for one of another model, X104 where
    nothing is said before the next reply, and X108 for an input that was cut; `BudgetError` B100 where the conversation
    is longer than the room; and what `Model.extend` says.
    """
    request = _prompted(model, prev)
    tokenizer = model.tokenizer
    refuse_unknown(completion, tokenizer)
    messages = messages_of(request)
    if reply is None:
        reply = model.parse(completion, prev).message
        new = decode_messages(request, new_messages, invalid_utf8=model.invalid_utf8, max_depth=model.max_depth)
        said = decode_named_reply(request, reply, new.messages)
    else:
        said = decode_reply(request, reply)
        new = decode_messages(request, new_messages, invalid_utf8=model.invalid_utf8, max_depth=model.max_depth)
    if generate and not new.messages:
        raise ExtensionError(
            "there is no new message, and the model would reply to itself",
            code="X104",
            where="new_messages",
            help="add a message, or pass generate=False for the conversation as it ends with this reply",
        )
    ending = request.model_copy(update={"messages": (*messages, said), "add_generation_prompt": False})
    going_on = request.model_copy(
        update={"messages": (*messages, said, *new.messages), "add_generation_prompt": generate}
    )
    place = len(messages)
    going_on = model._with_images(going_on, images, place)
    roles = roles_of(messages_of(going_on))
    sampled = whole_conversation(model.render(ending), roles[: place + 1], place)
    whole = whole_conversation(model.render(going_on), roles, place, sampled)
    refuse_earlier(whole, place)

    result = extended(prev, completion, sampled, whole, place, tokenizer)
    decision = None if budget is None else _decide(budget, len(result.ids))
    extension = Extension(place, *result.completion)
    before = prev._incoming.substitutions
    incoming = Incoming(None, None, model.invalid_utf8, model.max_depth, (*before, *new.substitutions))
    rendered = RenderedInput(result.printed, model.template)
    model._check_images(rendered, going_on)
    return ModelInput(
        result.ids,
        rendered,
        going_on,
        model._declared,
        incoming,
        tokenizer,
        None,
        result.passages,
        decision,
        whole.rendered,
        (*prev._extensions, extension),
    )


def _decide(budget: Budget, count: int) -> PolicyDecision:
    """What a budget says of an input of so many tokens, of which nothing may be left out.

    Raises `BudgetError` B100 where input and reserve exceed the window.
    """
    if count > budget.room:
        raise BudgetError(
            f"the input has {count} tokens and {budget.reserve} are reserved for the answer; "
            f"the window is {budget.window}",
            code="B100",
            where=f"policy {budget.id}",
            help=f"assemble the conversation anew within the budget, or shorten it by {count - budget.room} tokens",
        )
    return PolicyDecision(budget, count)


def _prompted(model: Model[R], prev: ModelInput) -> R:
    """The request of an input that a model can reply to."""
    if not isinstance(prev, ModelInput):
        raise TypeError(f"prev is a ModelInput, not a {type(prev).__name__}")
    if isinstance(prev, CutInput):
        raise ExtensionError(
            f"{prev.first} tokens of the input were cut off",
            code="X108",
            where="prev",
            help="extend `prev.whole`, which has them all",
        )
    source, request = prev._declared, prev.request
    own = (model.name, model.template, model.tokenizer_identity)
    if not isinstance(request, model.request_type) or (source.model, source.template, source.tokenizer) != own:
        raise ExtensionError(
            f"the input is of {source.model} ({source.template.id}), and this is {model.name} ({model.template.id})",
            code="X101",
            where="prev",
            help="extend an input with the model that assembled it",
        )
    if not getattr(request, "add_generation_prompt", True):
        prompted = request.model_copy(update={"add_generation_prompt": True})
        if model.render(prompted) != (prev._official or prev.rendered):
            raise ExtensionError(
                "the input does not end with the generation prefix, so that no model replied to it",
                code="X100",
                where="prev",
                help="assemble it with add_generation_prompt",
            )
    return request
