"""What an extension adds, keeps and refuses, on requests that can be checked by eye."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import pytest

from katapi.runtime.departures import Departure
from katapi.runtime.errors import BudgetError, ExtensionError, RequestError, TemplateError
from katapi.runtime.json_types import Json, JsonObject
from katapi.runtime.model_input import ModelInput
from katapi.runtime.record import Extension
from katapi.runtime.segments import NOWHERE, Content, ContentSegment, ControlSegment
from katapi_models import glm_4_5, gpt_oss, qwen2_5, qwen3
from katapi_models.gemma4_tokens.vocabulary import Control as GemmaControl
from katapi_models.qwen.vocabulary import Control
from tests.specs import model_named

MODEL = qwen2_5.MODEL
END = Control.IM_END.id
ASK: list[JsonObject] = [{"role": "user", "content": "b"}]


def prompt(*contents: str, name: str = "qwen2.5", **params: Json) -> ModelInput:
    """A prompt whose messages are said in turn, first by the user."""
    messages: list[Json] = [
        {"role": ("user", "assistant")[at % 2], "content": content} for at, content in enumerate(contents)
    ]
    return model_named(name).assemble(json.dumps({"messages": messages, **params}).encode())


def said(content: str) -> JsonObject:
    return {"role": "assistant", "content": content}


def tail(before: ModelInput, completion: Sequence[int], after: ModelInput) -> str:
    """What was put behind a completion."""
    return MODEL.decode_text(after.input_ids[len(before) + len(completion) :].tolist())


def test_a_reply_is_closed_where_sampling_was_cut_off() -> None:
    before = prompt("a")
    whole, cut = [*MODEL.encode("yes"), END], MODEL.encode("yes")
    rest = "\n<|im_start|>user\nb<|im_end|>\n<|im_start|>assistant\n"
    closed, opened = (MODEL.extend(before, completion, ASK, reply=said("yes")) for completion in (whole, cut))
    assert tail(before, whole, closed) == rest
    assert tail(before, cut, opened) == f"<|im_end|>{rest}"
    assert closed.input_ids.tolist() == opened.input_ids.tolist()
    assert np.flatnonzero(closed.sampled).tolist() == [*range(len(before), len(before) + len(whole))]
    assert np.flatnonzero(opened.sampled).tolist() == [*range(len(before), len(before) + len(cut))]
    assert closed.departures == opened.departures == ()


def test_results_name_the_calls_that_were_read_in_order() -> None:
    encode = model_named("gemma4").encode
    calls = [
        *[GemmaControl.TOOL_CALL.id, *encode("call:f{a:1}"), GemmaControl.END_TOOL_CALL.id],
        *[GemmaControl.TOOL_CALL.id, *encode("call:g{}"), GemmaControl.END_TOOL_CALL.id],
    ]
    before = prompt("a", name="gemma4")
    results: list[JsonObject] = [
        {"role": "tool", "content": content, "tool_call_id": identity} for content, identity in (("x", "1"), ("y", "2"))
    ]
    after = model_named("gemma4").extend(before, calls, results)
    assert 'response:f{value:<|"|>x<|"|>}' in after.text
    assert 'response:g{value:<|"|>y<|"|>}' in after.text


def test_nothing_sampled_is_an_empty_reply() -> None:
    before = prompt("a")
    after = MODEL.extend(before, [], ASK, reply=said(""))
    assert tail(before, [], after) == "<|im_end|>\n<|im_start|>user\nb<|im_end|>\n<|im_start|>assistant\n"
    assert not after.sampled.any()
    assert after.departures == ()


def test_without_generation_prefix_a_conversation_may_end() -> None:
    before = prompt("a")
    completion = [*MODEL.encode("yes"), END]
    after = MODEL.extend(before, completion, [], reply=said("yes"), generate=False)
    assert after.input_ids.tolist() == prompt("a", "yes", add_generation_prompt=False).input_ids.tolist()
    assert after.loss_mask([1]).tolist() == after.sampled.tolist()


def test_other_control_tokens_may_stand_behind_the_closing_one() -> None:
    before = prompt("a")
    completion = [*MODEL.encode("yes"), END, Control.ENDOFTEXT.id]
    after = MODEL.extend(before, completion, ASK, reply=said("yes"))
    assert tail(before, completion, after).startswith("\n<|im_start|>user")
    assert [(d.text, d.official, d.message) for d in after.departures] == [("<|endoftext|>", "", 1)]


def test_a_reply_in_an_unusual_cut_keeps_its_ids_and_says_so() -> None:
    before = prompt("a")
    odd = [*MODEL.encode("h"), *MODEL.encode("ello"), END]
    assert odd != [*MODEL.encode("hello"), END]
    after = MODEL.extend(before, odd, ASK, reply=said("hello"))
    (departure,) = after.departures
    start = after.text.index("hello") - len("assistant\n")
    first = len(before) - 2
    assert departure == Departure(
        start, "assistant\nhello", "assistant\nhello", (first, len(before) + 2), 1, departure.site
    )
    assert [after.origins[len(before) + at].segments[0] for at in range(2)] == [
        ContentSegment(Content("hello"), ("messages", 1, "content"), 0)
    ] * 2


def test_a_character_that_breaks_off_is_of_the_message() -> None:
    before = prompt("a")
    part = MODEL.encode("\U000e0001")[:1]
    assert MODEL.decode_text(part) == "\ufffd"
    after = MODEL.extend(before, part, ASK, reply=said("?"))
    (origin,) = after.origins[len(before) : len(before) + 1]
    assert (origin.kind, origin.message, origin.field) == ("content", 1, None)
    assert after.text == MODEL.decode_text(after.input_ids.tolist())


def test_a_control_token_that_no_line_prints_has_no_site() -> None:
    before = prompt("a")
    after = MODEL.extend(before, [Control.TOOL_CALL.id, *MODEL.encode("x"), END], ASK, reply=said("x"))
    origin = after.origins[len(before)]
    (segment,) = origin.segments
    assert isinstance(segment, ControlSegment)
    assert (segment.text, segment.site, origin.kind, origin.sites) == ("<tool_call>", NOWHERE, "control", ())
    assert len(after.origins[len(before) + 2].sites) == 1


def test_old_reasoning_stays_and_the_departure_names_it() -> None:
    model = qwen3.MODEL
    before = prompt("a", name="qwen3")
    thought = [Control.THINK.id, *model.encode("\nhm\n"), Control.END_THINK.id, *model.encode("\n\nyes"), END]
    reply = {"role": "assistant", "reasoning_content": "hm", "content": "yes"}
    after = model.extend(before, thought, ASK, reply=reply)
    assert after.input_ids[: len(before) + len(thought)].tolist() == [*before.input_ids.tolist(), *thought]
    (departure,) = after.departures
    assert (departure.text, departure.official) == ("<think>\nhm\n</think>\n\n", "")
    assert departure.message == 1
    assert departure.site is not None
    assert model.extend(before, thought, [], reply=reply, generate=False).departures == ()


def test_a_closing_that_is_another_one_in_history() -> None:
    """What gpt-oss ends a reply with is written otherwise in history: the sampled token stays."""
    model = gpt_oss.MODEL
    before = prompt("a", name="gpt-oss", now="2025-03-09")
    controls = type(next(s.token for s in before.rendered.payload if isinstance(s, ControlSegment)))
    by_name = {token.spelling: token.id for token in controls}
    completion = [
        by_name["<|channel|>"],
        *model.encode("final"),
        by_name["<|message|>"],
        *model.encode("yes"),
        by_name["<|return|>"],
    ]
    after = model.extend(before, completion, ASK, reply=said("yes"))
    behind = model.decode_text(after.input_ids[len(before) + len(completion) :].tolist())
    assert behind == "<|start|>user<|message|>b<|end|><|start|>assistant"
    assert [(d.text, d.official) for d in after.departures] == [("<|return|>", "<|end|>")]
    cut = model.extend(before, completion[:-1], ASK, reply=said("yes"))
    assert cut.departures == ()
    analysis = [completion[0], *model.encode("analysis"), completion[2], *model.encode("hm"), by_name["<|end|>"]]
    analysis += [by_name["<|start|>"], *model.encode("assistant"), *completion]
    thought = model.extend(before, analysis, ASK, reply={**said("yes"), "thinking": "hm"})
    assert [(d.text, d.official) for d in thought.departures] == [
        (model.decode_text(analysis).removeprefix("<|channel|>"), "final<|message|>yes<|end|>")
    ]


def test_the_model_may_open_what_comes_next() -> None:
    """GLM stops at the token of the next role, Gemma 4 at that of the results: neither is printed twice."""
    model = glm_4_5.MODEL
    before = prompt("a", name="glm-4.5")
    (user,) = {s.token.id for s in before.rendered.payload if isinstance(s, ControlSegment) and "user" in s.text}
    completion = model.encode("\nyes")
    plain = model.extend(before, completion, ASK, reply=said("yes"))
    opened = model.extend(before, [*completion, user], ASK, reply=said("yes"))
    assert plain.input_ids.tolist() == opened.input_ids.tolist()
    assert opened.sampled.sum() == plain.sampled.sum() + 1

    model4 = model_named("gemma4")
    call: dict[str, Json] = {"function": {"name": "f", "arguments": {}}}
    reply: dict[str, Json] = {"role": "assistant", "content": "", "tool_calls": [call]}
    asked: dict[str, Json] = {"role": "user", "content": "a"}
    ending = model4.assemble(json.dumps({"messages": [asked, reply], "add_generation_prompt": False}).encode())
    start = prompt("a", name="gemma4")
    sampled = ending.input_ids[len(start) :].tolist()
    result: dict[str, Json] = {"role": "tool", "content": "r"}
    after = model4.extend(start, sampled, [result], reply=reply)
    whole = model4.assemble(json.dumps({"messages": [asked, reply, result]}).encode())
    assert model4.decode_text(sampled[-1:]) == "<|tool_response>"
    assert after.input_ids.tolist() == whole.input_ids.tolist()


def test_a_closing_that_is_text_is_written_to_its_end() -> None:
    """What ends a turn of Hermes 3 is text over this vocabulary: it may be there, begun, or missing."""
    model = model_named("hermes-3-llama-3.1")
    before = prompt("a", name="hermes-3-llama-3.1")
    whole = model.encode("yes<|im_end|>")
    rest = "\n<|im_start|>user\nb<|im_end|>\n<|im_start|>assistant\n"
    (stop,) = {s.token.id for s in before.rendered.payload if isinstance(s, ControlSegment)}
    for completion, behind in [
        (whole, rest),
        (whole[:-1], f"{model.decode_text(whole[-1:])}{rest}"),
        (model.encode("yes"), f"<|im_end|>{rest}"),
        (model.encode("yes<"), f"|im_end|>{rest}"),
        ([*whole, stop], rest),
        ([*whole[:-1], stop], f"<|im_end|>{rest}"),
        ([], f"<|im_end|>{rest}"),
    ]:
        after = model.extend(before, completion, ASK, reply=said("yes"))
        assert model.decode_text(after.input_ids[len(before) + len(completion) :].tolist()) == behind


def test_a_thought_that_was_cut_off_is_closed_as_a_reply() -> None:
    model = qwen3.MODEL
    before = prompt("a", name="qwen3")
    completion = [Control.THINK.id, *model.encode("\nhm")]
    reply = {"role": "assistant", "reasoning_content": "hm", "content": ""}
    after = model.extend(before, completion, ASK, reply=reply)
    behind = model.decode_text(after.input_ids[len(before) + len(completion) :].tolist())
    assert behind == "<|im_end|>\n<|im_start|>user\nb<|im_end|>\n<|im_start|>assistant\n"
    assert [(d.text, d.official) for d in after.departures] == [("<think>\nhm", "")]


def thinking(thought: str, answer: str) -> tuple[list[int], JsonObject]:
    """A completion of Qwen3, and the message that it is."""
    encode = qwen3.MODEL.encode
    ids = [Control.THINK.id, *encode(f"\n{thought}\n"), Control.END_THINK.id, *encode(f"\n\n{answer}"), END]
    return ids, {"role": "assistant", "reasoning_content": thought, "content": answer}


def test_each_departure_stands_by_itself() -> None:
    now = prompt("a", name="qwen3")
    for thought in ("one", "two", "three"):
        completion, reply = thinking(thought, "so")
        now = qwen3.MODEL.extend(now, completion, [{"role": "user", "content": "go on"}], reply=reply)
    thoughts = [f"<think>\n{thought}\n</think>\n\n" for thought in ("one", "two", "three")]
    assert [d.text for d in now.departures] == thoughts
    assert [d.message for d in now.departures] == [1, 3, 5]
    assert [now.text[d.start :].startswith(d.text) for d in now.departures] == [True] * 3


def test_what_the_normalizer_changes_keeps_its_places() -> None:
    """The ids are those of the composed character, and the message has it in two parts."""
    before = prompt("a", name="qwen3")
    completion, reply = thinking("e\u0301 so", "x")
    after = qwen3.MODEL.extend(before, completion, [], reply=reply, generate=False)
    request = {"messages": [{"role": "user", "content": "a"}, reply], "add_generation_prompt": False}
    whole = qwen3.MODEL.assemble(json.dumps(request).encode())
    assert after.input_ids.tolist() == whole.input_ids.tolist()
    assert [o.paths for o in after.origins] == [o.paths for o in whole.origins]


def test_white_space_behind_a_control_token_that_strips_gives_no_id() -> None:
    model = model_named("phi-3-mini")
    before = prompt("a", name="phi-3-mini")
    for completion in (model.encode("yes"), [*model.encode("yes"), before.input_ids[-2].item()]):
        after = model.extend(before, completion, ASK, reply=said("yes"))
        assert after.input_ids.tolist() == prompt("a", "yes", "b", name="phi-3-mini").input_ids.tolist()


def test_what_is_no_prompt_cannot_go_on() -> None:
    completion = [*MODEL.encode("yes"), END]
    ended = MODEL.extend(prompt("a"), completion, [], reply=said("yes"), generate=False)
    with pytest.raises(ExtensionError) as caught:
        MODEL.extend(ended, completion, ASK, reply=said("yes"))
    assert caught.value.code == "X100"


def test_where_there_is_no_generation_prefix_none_is_missed() -> None:
    model = model_named("mistral-v3")
    before = prompt("a", name="mistral-v3")
    odd = [*model.encode("y"), *model.tokenizer.encode("es", first=False)]
    asked = model.extend(before, odd, ASK, reply=said("yes"), generate=False)
    assert asked.departures
    following = model.extend(asked, odd, ASK, reply=said("yes"))
    assert following.input_ids[: len(asked)].tolist() == asked.input_ids.tolist()


def test_new_messages_nest_as_deep_as_in_a_request() -> None:
    deep = model_depth = MODEL.max_depth - 2
    for depth, code in [(deep, "R113"), (model_depth + 1, "R109")]:
        raw = b'[{"role": "user", "content": ' + b"[" * (depth - 1) + b"]" * (depth - 1) + b"}]"
        with pytest.raises(RequestError) as caught:
            MODEL.extend(prompt("a"), [END], raw, reply=said(""))
        assert caught.value.code == code
        request = b'{"messages": ' + raw + b"}"
        with pytest.raises(RequestError) as of_request:
            MODEL.assemble(request)
        assert of_request.value.code == code


def test_messages_come_as_bytes_or_as_values() -> None:
    before = prompt("a")
    completion = [*MODEL.encode("yes"), END]
    values = MODEL.extend(before, completion, ASK, reply=said("yes"))
    raw = MODEL.extend(before, np.array(completion), json.dumps(ASK).encode(), reply=said("yes"))
    assert values.input_ids.tolist() == raw.input_ids.tolist()
    assert values.record == raw.record


@pytest.mark.parametrize(
    ("new", "code", "where"),
    [
        pytest.param(b"", "R100", "1:1", id="no text"),
        pytest.param(b'[{"role": "user", "role": "user"}]', "R104", "new_messages[0].role", id="a key twice"),
        pytest.param(b"{}", "R113", "new_messages", id="no list"),
        pytest.param(b'[{"role": "wizard"}]', "R110", "new_messages[0].role", id="a role"),
        pytest.param([{"role": "user", "content": 1}], "R113", "new_messages[0].content", id="a kind"),
        pytest.param([*ASK, {"role": "user"}], "R112", "new_messages[1].content", id="a field"),
    ],
)
def test_faults_of_new_messages_name_their_place(new: bytes | list[JsonObject], code: str, where: str) -> None:
    with pytest.raises(RequestError) as caught:
        MODEL.extend(prompt("a"), [END], new, reply=said(""))
    assert (caught.value.code, caught.value.where) == (code, where)


def test_what_the_template_rejects_is_its_own_error() -> None:
    with pytest.raises(TemplateError) as caught:
        model_named("llama2").extend(prompt("a", name="llama2"), [], [*ASK, *ASK], reply=said("x"))
    assert caught.value.code == "T100"


@pytest.mark.parametrize(
    ("completion", "where"),
    [
        pytest.param([0, 999_999, 0], "completion_ids[1]", id="no token"),
        pytest.param([0, -1], "completion_ids[1]", id="negative"),
    ],
)
def test_an_id_that_is_no_token_is_refused_with_its_place(completion: list[int], where: str) -> None:
    with pytest.raises(ExtensionError) as caught:
        MODEL.extend(prompt("a"), completion, ASK)
    assert (caught.value.code, caught.value.where) == ("X102", where)


def test_text_behind_the_closing_token_is_refused_with_its_place() -> None:
    with pytest.raises(ExtensionError) as caught:
        MODEL.extend(prompt("a"), [0, END, Control.IM_START.id, 0], ASK, reply=said("!"))
    assert (caught.value.code, caught.value.where) == ("X103", "completion_ids[3]")


def test_values_that_no_type_checker_lets_through() -> None:
    with pytest.raises(TypeError, match="prev is a ModelInput, not a list"):
        MODEL.extend([1, 2], [0], ASK)  # type: ignore[arg-type]  # on purpose
    with pytest.raises(TypeError, match="ids are a sequence of integers"):
        MODEL.extend(prompt("a"), "yes", ASK)  # type: ignore[arg-type]  # on purpose


def test_a_budget_holds_for_an_extension() -> None:
    before = prompt("a")
    after = MODEL.extend(before, [END], ASK, reply=said(""), policy="Qwen")
    assert after.record.decision is not None
    assert after.record.decision.input == len(after)
    with pytest.raises(BudgetError) as caught:
        MODEL.extend(before, [0] * 40_000, ASK, reply=said("!"), policy="Qwen")
    assert caught.value.code == "B100"


def test_a_record_tells_the_completions() -> None:
    before = prompt("a")
    first = MODEL.extend(before, [0, END], ASK, reply=said("!"))
    second = MODEL.extend(first, [1], [*ASK, *ASK], reply=said('"'))
    starts = len(before), len(first)
    assert second.record.extensions == (
        Extension(1, starts[0], starts[0] + 2),
        Extension(3, starts[1], starts[1] + 1),
    )
    assert second.record.to_json()["extensions"] == [
        {"reply": 1, "start": starts[0], "end": starts[0] + 2},
        {"reply": 3, "start": starts[1], "end": starts[1] + 1},
    ]
    assert second.record.request_sha256 is None
    messages = second.record.request["messages"]
    assert isinstance(messages, Sequence)
    assert len(messages) == 6
    assert before.record.extensions == ()
    assert second.loss_mask([3]).nonzero()[0].tolist() == [starts[1]]
    assert second.loss_mask("last").tolist() == second.loss_mask([3]).tolist()


def test_many_turns_do_not_nest() -> None:
    now = prompt("a")
    for _ in range(300):
        now = MODEL.extend(now, [0, END], ASK, reply=said("!"))
    assert now.sampled.sum() == 600
    assert now.departures == ()
