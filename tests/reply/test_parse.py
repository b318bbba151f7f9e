"""`Model.parse` and `Model.parser`: what was written is read back, and what was not written right is told."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

import katapi
from katapi.runtime.json_types import Json, JsonObject
from katapi.runtime.reply.message import AssistantMessage, Delta
from tests.specs import model_named

QWEN3 = katapi.load("qwen3")
TOOL: JsonObject = {
    "type": "function",
    "function": {
        "name": "f",
        "parameters": {"type": "object", "properties": {"a": {"type": "string"}, "n": {"type": "integer"}}},
    },
}


def ids_of(text: str, name: str = "qwen3") -> list[int]:
    """The ids of a reply that is written as the official tokenizer reads it: what spells a control token is one."""
    of = model_named(name)
    controls = {of.decode_text([token]): token for token in of._grammar().controls}
    out: list[int] = []
    while text:
        found = [(at, spelling) for spelling in controls if (at := text.find(spelling)) >= 0]
        at, spelling = min(found, key=lambda one: (one[0], -len(one[1])), default=(len(text), ""))
        out += of.encode(text[:at]) if at else []
        out += [controls[spelling]] if spelling else []
        text = text[at + len(spelling) :]
    return out


def read(text: str, name: str = "qwen3", **params: Json) -> AssistantMessage:
    """A reply to a prompt with a tool."""
    body = {"messages": [{"role": "user", "content": "x"}], "tools": [TOOL], **params}
    return model_named(name).parse(ids_of(text, name), model_named(name).assemble(json.dumps(body).encode()))


def calls(message: AssistantMessage) -> list[tuple[str, JsonObject]]:
    return [(call.name, call.arguments) for call in message.tool_calls]


THOUGHT = "<think>\nHm.\n</think>\n\n"
CALL = '<tool_call>\n{"name": "f", "arguments": {"a": "1"}}\n</tool_call>'


def test_a_reply_is_taken_apart() -> None:
    message = read(f"{THOUGHT}Wait.\n{CALL}\n{CALL}<|im_end|>")
    assert (message.content, message.reasoning) == ("Wait.", "Hm.")
    assert calls(message) == [("f", {"a": "1"})] * 2
    assert message.complete
    assert not message.faults


def test_the_message_goes_back_into_a_request_and_gives_the_same_ids() -> None:
    ids = ids_of(f"{THOUGHT}Wait.\n{CALL}<|im_end|>")
    question = {"role": "user", "content": "x"}
    prompt = QWEN3.assemble(json.dumps({"messages": [question]}).encode())
    body = {"messages": [question, QWEN3.parse(ids, prompt).message], "add_generation_prompt": False}
    assert QWEN3.assemble(json.dumps(body).encode()).input_ids.tolist() == [
        *prompt.input_ids.tolist(),
        *ids,
        *QWEN3.encode("\n"),
    ]


def test_a_token_that_is_only_spelled_is_text() -> None:
    spelled = f"{THOUGHT}{CALL}<|im_end|>"
    message = QWEN3.parse([*QWEN3.encode(spelled), *ids_of("<|im_end|>")])
    assert message.content == spelled
    assert message.reasoning is None
    assert not message.tool_calls
    assert not message.faults


def test_a_reply_that_was_cut_off_gives_what_there_is() -> None:
    ids = ids_of(f"{THOUGHT}Wait.\n{CALL}<|im_end|>")
    whole = QWEN3.parse(ids)
    for end in range(len(ids)):
        part = QWEN3.parse(ids[:end])
        assert not part.complete
        assert whole.content.startswith(part.content.rstrip("\n"))
        assert (whole.reasoning or "").startswith((part.reasoning or "").rstrip("\n"))
        assert part.tool_calls in ((), whole.tool_calls)
    assert [fault.kind for fault in QWEN3.parse(ids[:-3]).faults] == ["unfinished call"]


def test_what_is_certain_comes_as_it_is_pushed() -> None:
    ids = ids_of(f"{THOUGHT}Wait.\n{CALL}\n{CALL}<|im_end|>")
    parser = QWEN3.parser()
    deltas = [parser.push(token) for token in ids]
    message = parser.finish()
    assert message == QWEN3.parse(ids)
    assert "".join(delta.content for delta in deltas) == "Wait."
    assert "".join(delta.reasoning for delta in deltas) == "Hm."
    assert tuple(call for delta in deltas for call in delta.tool_calls) == message.tool_calls
    assert deltas[0] == Delta()
    with pytest.raises(katapi.TokenizerError, match="V104"):
        parser.push(ids[0])


def test_a_line_break_that_may_be_the_template_s_is_held_back() -> None:
    parser = QWEN3.parser()
    seen = [parser.push(token).content for token in ids_of("<think>\n\n</think>\n\nOne.\n")]
    assert "".join(seen) == "One."
    assert "".join(parser.push(token).content for token in ids_of("Two.")) == "\nTwo."


@pytest.mark.parametrize(
    ("written", "codes"),
    [
        ("<think>Hm.</think>Wait.<|im_end|>", []),
        ("<think>\n\nHm.\n\n\n</think>\n\n\n\nWait.<|im_end|>", []),
        ("<think>\nHm.\n</think>\n\nWait.", []),
        ("<think>\nHm.\n</think>\n\nWait.<|im_end|>\n", []),
        ("<think>\nHm.\n</think>\n\nWait.<|endoftext|>", []),
        ("<think>\nHm.\n</think>\n\nWait.<|im_end|>More.", ["behind the end"]),
        ("<think>\nHm.\n</think>\n\n<|fim_pad|>Wait.<|im_end|>", ["misplaced"]),
    ],
)
def test_what_the_template_would_not_print_is_passed_over(written: str, codes: list[str]) -> None:
    message = read(written)
    assert (message.content, message.reasoning) == ("Wait.", "Hm.")
    assert [fault.kind for fault in message.faults] == codes


@pytest.mark.parametrize(
    "broken",
    [
        '<tool_call>\n{"name": "f", "arguments": {"a": "1"}\n</tool_call>',
        '<tool_call>\n{"nam": "f", "arguments": {}}\n</tool_call>',
        "<tool_call>\nf(a=1)\n</tool_call>",
        "<tool_call>\n</tool_call>",
        '<tool_call>\n{"name": "f", "arguments": [1]}\n</tool_call>',
        '<tool_call>\n{"name": 1, "arguments": {}}\n</tool_call>',
    ],
)
def test_a_call_that_cannot_be_read_takes_no_other_with_it(broken: str) -> None:
    for order in ([broken, CALL], [CALL, broken], [CALL, broken, CALL]):
        message = read(f"{THOUGHT}Wait.\n{chr(10).join(order)}<|im_end|>")
        assert calls(message) == [("f", {"a": "1"})] * order.count(CALL)
        assert {fault.kind for fault in message.faults} == {"unreadable call"}
        assert message.content == "Wait."
        assert message.complete


def test_json_of_any_spacing_and_order_is_a_call_and_is_kept_as_it_was_written() -> None:
    message = read('<think>\n\n</think>\n\n<tool_call>{"arguments" : {"a":"1"} ,"name":"f"}</tool_call><|im_end|>')
    assert calls(message) == [("f", {"a": "1"})]
    assert message.message["tool_calls"] == [{"function": {"name": "f", "arguments": '{"a":"1"}'}}]


@pytest.mark.parametrize("written", ["7", '"7"', "[7]", "x </parameter> y", "", " 7 ", "true", "None"])
def test_the_schema_of_a_tool_says_what_a_bare_value_is(written: str) -> None:
    reply = (
        "\n</think>\n\n<tool_call>\n<function=f>\n"
        f"<parameter=a>\n{written}\n</parameter>\n<parameter=n>\n7\n</parameter>\n</function>\n</tool_call><|im_end|>"
    )
    assert calls(read(reply, "qwen3.5")) == [("f", {"a": written, "n": 7})]


def test_without_a_schema_a_value_is_what_the_template_would_have_written_so() -> None:
    def value(written: str) -> Json:
        call = f"<tool_call>\n<function=g>\n<parameter=a>\n{written}\n</parameter>\n</function>\n</tool_call>"
        return read(f"\n</think>\n\n{call}<|im_end|>", "qwen3.5").tool_calls[0].arguments["a"]

    assert [value(one) for one in ("7", "True", "None", '{"b": 1}', "1.5")] == [7, True, None, {"b": 1}, 1.5]
    other = ["true", "07", "1e3", '{"b":1}', "seven"]
    assert [value(one) for one in other] == other


@pytest.mark.parametrize(
    "written",
    [
        "<|channel|>commentary to=functions.f <|constrain|>json<|message|>{}<|call|>",
        "<|channel|>commentary to=functions.f<|message|>{}<|call|>",
        " to=functions.f<|channel|>commentary <|constrain|>json<|message|>{}<|call|>",
        " to=functions.f<|channel|>commentary json<|message|>{}<|call|>",
    ],
)
def test_gpt_oss_names_the_recipient_of_a_call_in_several_ways(written: str) -> None:
    thought = "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant"
    message = read(thought + written, "gpt-oss", now="2025-01-01T00:00:00")
    assert (message.reasoning, calls(message), message.faults) == ("Hm.", [("f", {})], ())
    cut = read((thought + written).removesuffix("<|call|>"), "gpt-oss", now="2025-01-01T00:00:00")
    assert (calls(cut), cut.complete, cut.faults) == ([("f", {})], False, ())
    final = read(f"{thought}<|channel|>final<|message|>Yes.<|return|>", "gpt-oss", now="2025-01-01T00:00:00")
    assert (final.reasoning, final.content, final.complete) == ("Hm.", "Yes.", True)


@pytest.mark.parametrize(
    ("name", "written", "expected"),
    [
        ("deepseek-r1", "Hm.\n</think>\n\nYes.<｜end▁of▁sentence｜>", ("Hm.", "Yes.")),
        ("qwq-32b", "Hm.\n</think>\n\nYes.<|im_end|>", ("Hm.", "Yes.")),
        ("qwen3-next-thinking", "Hm.\n</think>\n\nYes.<|im_end|>", ("Hm.", "Yes.")),
        ("minimax-m2", "Hm.\n</think>\n\nYes.[e~[", ("Hm.", "Yes.")),
        ("glm-4.5", "\n<think>Hm.</think>\nYes.<|user|>", ("Hm.", "Yes.")),
        ("kimi-k2", "Yes.<|im_end|>", (None, "Yes.")),
    ],
)
def test_a_thought_that_the_prompt_opened_is_one(name: str, written: str, expected: tuple[str | None, str]) -> None:
    for message in (read(written, name), model_named(name).parse(ids_of(written, name))):
        assert (message.reasoning, message.content) == expected
        assert message.complete
        assert not message.faults


def test_the_prompt_says_whether_a_reply_is_thought_first() -> None:
    written = "Hm.</think>Yes.<｜end▁of▁sentence｜>"
    thinking = read(written, "deepseek-v3.1", thinking=True)
    assert (thinking.reasoning, thinking.content, thinking.faults) == ("Hm.", "Yes.", ())
    quick = read("Yes.<｜end▁of▁sentence｜>", "deepseek-v3.1", thinking=False)
    assert (quick.reasoning, quick.content, quick.faults) == (None, "Yes.", ())


def test_sentencepiece_spaces_are_those_of_the_text() -> None:
    for name in ("mistral-v3", "llama2", "gemma3", "phi-3-mini"):
        for text in ("Yes.", " Yes.", "a  b"):
            body = {"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": text}]}
            whole = model_named(name).assemble(json.dumps({**body, "add_generation_prompt": False}).encode())
            ids = whole.input_ids[whole.sampled].tolist()
            prompt = model_named(name).assemble(json.dumps({"messages": body["messages"][:1]}).encode())
            message = model_named(name).parse(ids, prompt)
            assert not message.faults
            again = {"messages": [body["messages"][0], message.message], "add_generation_prompt": False}
            assert model_named(name).assemble(json.dumps(again).encode()).input_ids.tolist() == whole.input_ids.tolist()


def test_an_unknown_id_is_an_error() -> None:
    with pytest.raises(katapi.TokenizerError, match="V102"):
        QWEN3.parse([200_000])
    with pytest.raises(TypeError, match="an id is an integer"):
        QWEN3.parse(["a"])  # type: ignore[list-item]  # what a caller without a type checker may pass


def test_long_replies_take_time_in_proportion() -> None:
    def steps(count: int) -> Sequence[int]:
        return ids_of("<think>\n\n</think>\n\n" + "One.\n<a>{\n" * count + "<|im_end|>")

    assert QWEN3.parse(steps(2000)).content == ("One.\n<a>{\n" * 2000)
