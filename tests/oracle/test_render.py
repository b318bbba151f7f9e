"""What each construct prints, in templates of a line or two."""

from __future__ import annotations

import pytest

from katapi.language.parser import parse
from katapi.language.source import Source
from katapi.model.program import Program
from katapi.model.resolve import resolve
from katapi.model.resolve.findings import Findings
from katapi.oracle.render import plain, render
from katapi.oracle.request import canonical
from katapi.runtime.errors import TemplateError
from katapi.runtime.json_types import Json
from katapi.runtime.segments import Rendering

HEAD = """
vocabulary V version "1" {
  control { 0 @a "<a>" 1 @/a "</a>" 2 @b "<b>" }
  text { 3 "x" }
  unknown 4 "?"
}
tokenizer V version "1" over V { normalize: none pretokenize: none segment: longest_match post: none decode: concat }
serialization json version "1" {
  order: as_received item_separator: "," key_separator: ":" indent: none escape: minimal
  floats: python integers: exact nan: reject absent: omitted
}
request V version "1" {
  bytes: utf8 strict
  depth: 64
  role system, user { content: text }
  role assistant { content: text? calls: [call]? }
  role tool { content: text }
  record call { name: text arguments: object from text verbatim strict: bool? }
  tools: [object]?
  param n: int = 3
  param limit: int?
  param flag: bool = true
  param mode: "low" | "high" = "low"
  param name: text?
  param data: json?
  param obj: object?
  param words: [text]?
}
template V version "1" for V {
"""
BODY_LINE = HEAD.count("\n") + 1

CHAT: list[Json] = [
    {"role": "system", "content": "S"},
    {"role": "user", "content": "U1"},
    {"role": "assistant", "content": "A1", "calls": [{"name": "f", "arguments": '{"k": 1}'}]},
    {"role": "tool", "content": "T1"},
    {"role": "tool", "content": "T2"},
    {"role": "user", "content": "U2"},
    {"role": "assistant"},
]


def program(body: str) -> Program:
    source = Source("v.kata", f"{HEAD}{body}\n}}\n")
    file, diagnostics = parse(source)
    findings = Findings()
    resolved = resolve("v", source, file, findings)
    assert [d.render(source) for d in [*diagnostics, *findings.diagnostics]] == []
    assert isinstance(resolved, Program)
    return resolved


def rendering(body: str, *messages: Json, **more: Json) -> Rendering:
    made = program(body)
    return render(made, canonical(made, {"messages": list(messages), **more}))


def text(body: str, *messages: Json, **more: Json) -> str:
    return "".join(segment.text for segment in rendering(body, *messages, **more).segments)


# ---- what is printed, and where it came from


def test_controls_literals_and_content_with_their_places() -> None:
    out = rendering('@a "x" name ?? "y" @/a', name="N")
    assert plain(out) == [
        ("control", 0, "<a>", BODY_LINE, 1),
        ("literal", "x", BODY_LINE, 4),
        ("content", "N", ("name",), 0),
        ("control", 1, "</a>", BODY_LINE, 20),
    ]
    assert plain(rendering('@a "x" name ?? "y"'))[2] == ("literal", "y", BODY_LINE, 16)


def test_a_block_text_is_one_literal_between_two_interpolations() -> None:
    out = rendering('"""\n  one\n    two ${@a}${mode} $${x}\n\n  """')
    assert plain(out) == [
        ("literal", "one\n  two ", BODY_LINE + 1, 3),
        ("control", 0, "<a>", BODY_LINE + 2, 11),
        ("content", "low", ("mode",), 0),
        ("literal", " ${x}\n", BODY_LINE + 2, 21),
    ]


def test_empty_texts_are_printed_and_neighbours_stay_apart() -> None:
    assert plain(rendering('"" mode "" ""', mode="high")) == [
        ("literal", "", BODY_LINE, 1),
        ("content", "high", ("mode",), 0),
        ("literal", "", BODY_LINE, 9),
        ("literal", "", BODY_LINE, 12),
    ]


def test_whole_numbers() -> None:
    out = rendering("n let size = messages.length size", n=7)
    assert plain(out) == [("content", "7", ("n",), None), ("literal", "0", BODY_LINE, 30)]


def test_a_role_is_a_literal() -> None:
    out = rendering("each m in messages { when system, user, assistant, tool { m.role } }", CHAT[3])
    assert plain(out) == [("literal", "tool", BODY_LINE, 59)]


def test_a_let_keeps_where_its_value_came_from() -> None:
    out = rendering('let t = if flag then name ?? "none" else "off" "-" t', name="N")
    assert plain(out)[1] == ("content", "N", ("name",), 0)
    out = rendering('let t = if flag then name ?? "none" else "off" "-" t', flag=False)
    assert plain(out)[1] == ("literal", "off", BODY_LINE, 42)


@pytest.mark.parametrize(
    ("cut", "left", "start"),
    [
        ("trim()", "a=b=c", 2),
        ("trim_start()", "a=b=c \n", 2),
        ("trim_end()", "\t a=b=c", 0),
        ('trim("\\t\\n ac")', "=b=", 3),
        ('before("=")', "\t a", 0),
        ('before_last("=")', "\t a=b", 0),
        ('after("=")', "b=c \n", 4),
        ('after_last("=")', "c \n", 6),
        ('after("#")', "\t a=b=c \n", 0),
        ('before_last("#")', "\t a=b=c \n", 0),
        ('after("=").before("=").trim()', "b", 4),
    ],
)
def test_a_cut_leaves_a_stretch_that_knows_where_it_stood(cut: str, left: str, start: int) -> None:
    out = rendering(f'let t = name ?? "" t.{cut}', name="\t a=b=c \n")
    assert plain(out) == [("content", left, ("name",), start)]


def test_a_cut_literal_stays_at_its_place() -> None:
    assert plain(rendering('" x ".trim()')) == [("literal", "x", BODY_LINE, 1)]


def test_trim_takes_all_white_space_and_nothing_else() -> None:
    white = "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000"
    assert text('let t = name ?? "" t.trim()', name=f"{white}\u200bx\ufeff{white}") == "\u200bx\ufeff"


# ---- tests


@pytest.mark.parametrize(
    ("condition", "given", "truth"),
    [
        ("given name", {}, False),
        ("given name", {"name": ""}, False),
        ("given name", {"name": " "}, True),
        ("exists name", {"name": ""}, True),
        ("exists name", {"name": None}, False),
        ("given tools", {"tools": []}, False),
        ("given tools", {"tools": [{}]}, True),
        ("exists tools", {"tools": []}, True),
        ("given n", {"n": 0}, False),
        ("given data", {"data": 0.0}, False),
        ("given data", {"data": False}, False),
        ("given data", {"data": {}}, False),
        ("given data", {"data": [None]}, True),
        ("exists data", {"data": False}, True),
        ("given messages", {}, False),
        ("exists data.a.b", {"data": {"a": {"b": 0}}}, True),
        ("exists data.a.b", {"data": {"a": [1]}}, False),
        ("exists data.a", {"data": {"a": None}}, False),
        ("data == 1", {"data": 1}, True),
        ("data == 1", {"data": 1.0}, True),
        ("data == 1", {"data": True}, False),
        ("data == true", {"data": 1}, False),
        ("data == true", {"data": True}, True),
        ("data != true", {"data": 1}, True),
        ('data == "1"', {"data": "1"}, True),
        ('data == "1"', {"data": 1}, False),
        ("data == 1", {"data": [1]}, False),
        ("data == name", {}, True),
        ("data == name", {"data": "x", "name": "x"}, True),
        ("n < 3 or n > 3", {}, False),
        ("n <= 3 and n >= 3", {}, True),
        ("not n == 3", {}, False),
        ("n in [1, 2, 3]", {}, True),
        ("n in [1, 2]", {}, False),
        ('data in ["a", "b"]', {"data": "b"}, True),
        ("data in [1]", {"data": True}, False),
        ('exists data and data has "k"', {"data": {"k": None}}, True),
        ('exists data and data has "k"', {"data": {}}, False),
        ('exists data and data has "k"', {"data": ["k"]}, False),
        ('exists data and data has "k"', {}, False),
        ('mode.starts_with("l") and mode.ends_with("w") and mode has "o"', {}, True),
        ('mode.starts_with("o")', {}, False),
        ("data is text", {"data": "1"}, True),
        ("data is integer", {"data": True}, False),
        ("data is integer", {"data": 1.0}, False),
        ("data is number", {"data": 1.0}, True),
        ("data is not null", {}, False),
        ("data is list | object", {"data": {}}, True),
        ("generating", {"add_generation_prompt": False}, False),
    ],
)
def test_conditions(condition: str, given: dict[str, Json], truth: bool) -> None:
    assert text(f'if {condition} {{ "yes" }} else {{ "no" }}', **given) == ("yes" if truth else "no")


def test_what_a_test_does_not_reach_is_not_evaluated() -> None:
    assert text('if flag or "a" == "a" { "1" } if not flag and "a" == "a" { "2" } else if n == 3 { "3" }') == "13"


# ---- loops and branches


def test_each_filters_and_joins_the_rounds_that_ran() -> None:
    body = 'let ws = words ?? [] each w in ws where w != "b" join ", " { w }'
    assert text(body, words=["b", "a", "b", "c", ""]) == "a, c, "
    out = rendering(body, words=["a", "c"])
    assert plain(out) == [
        ("content", "a", ("words", 0), 0),
        ("literal", ", ", BODY_LINE, 22),
        ("content", "c", ("words", 1), 0),
    ]


def test_pairs_of_an_object_come_in_order_with_their_keys() -> None:
    out = rendering('if exists obj { each k, v in obj join ";" { k "=" v as json } }', obj={"b": [1], "a": None})
    assert plain(out) == [
        ("content", "b", ("obj", "b"), None),
        ("literal", "=", BODY_LINE, 47),
        ("content", "[1]", ("obj", "b"), None),
        ("literal", ";", BODY_LINE, 17),
        ("content", "a", ("obj", "a"), None),
        ("literal", "=", BODY_LINE, 47),
        ("content", "null", ("obj", "a"), None),
    ]


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        ("low", "word"),
        ("x", "text x"),
        (1, "int 1"),
        (1.5, "other 1.5"),
        (True, "other true"),
        (None, "null"),
        ([0], "list [0]"),
        ([], "other []"),
        ({}, "other {}"),
    ],
)
def test_the_first_arm_that_fits_matches(value: Json, printed: str) -> None:
    body = """match data {
      when "low", "high" { "word" }
      when text { "text " data }
      when integer { "int " data }
      when list where given data { "list " data as json }
      when null { "null" }
      when other { "other " data as json }
    }"""
    assert text(body, data=value) == printed


def test_a_match_that_nothing_fits_is_an_error() -> None:
    with pytest.raises(TemplateError) as caught:
        text('match mode { when "high" { "h" } }')
    assert (caught.value.code, caught.value.where) == ("T102", f"v.kata:{BODY_LINE}")


def test_a_def_prints_with_its_arguments_and_may_call_itself() -> None:
    body = """
    def deep(v: json, mark: control, between: text) {
      match v {
        when list { mark each x in v join "," { deep(x, mark, between) } @/a }
        when object { each k, x in v { k between deep(x, mark, between) } }
        when other { v as json }
      }
    }
    if exists data { deep(data, @b, ":") }"""
    assert text(body, data=[1, [], {"k": [None]}]) == "<b>1,<b></a>,k:<b>null</a></a>"
    out = rendering(body, data=[{"k": 1}])
    assert ("control", 2, "<b>", BODY_LINE + 8, 33) in plain(out)
    assert ("literal", ":", BODY_LINE + 8, 37) in plain(out)


def test_reject_names_its_line() -> None:
    with pytest.raises(TemplateError) as caught:
        text('if flag {\n reject "No."\n}')
    assert (caught.value.code, caught.value.message, caught.value.where) == ("T100", "No.", f"v.kata:{BODY_LINE + 1}")


def test_drop_prints_nothing() -> None:
    assert plain(rendering("drop mode drop n")) == []


# ---- serialization


def test_an_object_leaves_out_what_is_absent_and_keeps_nulls() -> None:
    out = rendering('object { a: n, b: name, c: data, d: "x", e: [flag], f: obj } as json', data=None, obj={"q": None})
    assert plain(out) == [("content", '{"a":3,"d":"x","e":[true],"f":{"q":null}}', (), None)]
    out = rendering("if exists obj { object { x: obj.x, y: obj.y } as json }", obj={"x": None})
    assert plain(out) == [("content", '{"x":null,"y":null}', ("obj",), None)]


def test_an_object_comes_from_the_place_that_its_values_share() -> None:
    body = """each m in messages {
      when assistant { if given m.calls { each c in m.calls { object { n: c.name, t: "x", a: c.arguments } as json } } }
      when system, user, tool { drop m.content }
    }"""
    assert plain(rendering(body, *CHAT)) == [
        ("content", '{"n":"f","t":"x","a":{"k": 1}}', ("messages", 2, "calls", 0), None)
    ]


# ---- messages


ALL = 'when system, user, tool { m.content } when assistant { m.content ?? "-" }'


@pytest.mark.parametrize(
    ("query", "printed"),
    [
        ("any u in messages where u is tool", "true"),
        ("any u in messages where u is not user", "true"),
        ("all u in messages where u is user or u is assistant", "false"),
        ('all u in messages where u is not system or u.content == "S"', "true"),
        ("count u in messages where u is tool", "2"),
    ],
)
def test_queries_that_give_a_value(query: str, printed: str) -> None:
    assert text(f"object {{ v: {query} }} as json", *CHAT) == f'{{"v":{printed}}}'


def test_a_query_over_nothing() -> None:
    body = "object { any: any m in messages where m is user, all: all m in messages where m is user } as json"
    assert text(body) == '{"any":false,"all":true}'


def test_first_and_last_give_the_message_and_its_place() -> None:
    body = 'let q = {} u in messages where u is user if exists q {{ q.content }} else {{ "none" }}'
    assert plain(rendering(body.format("first"), *CHAT)) == [("content", "U1", ("messages", 1, "content"), 0)]
    assert plain(rendering(body.format("last"), *CHAT)) == [("content", "U2", ("messages", 5, "content"), 0)]
    assert text(body.format("last")) == "none"
    assert text("(let x = 1)"[1:-1] + ' let w = words ?? [] w.first ?? "-" w.last ?? "-"', words=["a", "b"]) == "ab"
    assert text('let w = words ?? [] w.first ?? "-"') == "-"


def test_neighbours_and_ends_in_what_is_walked() -> None:
    body = """take all tool as tools_
    each m in messages {
      when system, user, assistant {
        let p = prev m let n_ = next m
        if m is first { "^" } if exists p { p.role } ">" if exists n_ { n_.role } if m is last { "$" } "\\n"
      }
    }"""
    assert text(body, *CHAT) == ("^>user\nsystem>assistant\nuser>user\nassistant>assistant\nuser>$\n")


def test_before_and_after_go_by_the_place_in_the_request() -> None:
    body = """take leading system as sys
    let q = last u in messages where u is user
    each m in messages {
      when user, assistant, tool {
        if m is before q { "<" } if m is after q { ">" } if m is not before q and m is not after q { "=" }
        if sys is before m { "s" }
      }
    }"""
    assert text(body, *CHAT) == "<s<s<s<s=s>s"
    without = [message for message in CHAT if message in (CHAT[2], CHAT[3])]
    assert text(body, *without) == "=="


def test_take_leading_takes_the_first_message_or_none() -> None:
    body = 'take leading system, tool as t else {{ "no " }} if exists t {{ t.role ":" }} each m in messages {{ {} }}'
    body = body.format(ALL)
    assert text(body, *CHAT[:2]) == "system:U1"
    assert text(body, CHAT[1], CHAT[0]) == "no U1S"
    assert text(body) == "no "


def test_take_all_takes_them_wherever_they_are() -> None:
    body = 'take all system, tool as ts else { "no " } ts.length each x in ts { x.content } each m in messages '
    body += f"{{ {ALL} }}"
    assert text(body, *CHAT) == "3ST1T2U1A1U2-"
    assert text(body, CHAT[1]) == "no 0U1"


def test_a_run_takes_all_that_follow_of_its_role() -> None:
    body = """each m in messages {
      when tool+ as rs where rs.length > 1 { "[" each r in rs join "," { r.content } "]" }
      when system, user, tool { m.content }
      when assistant { m.content ?? "-" }
    }"""
    assert text(body, *CHAT) == "SU1A1[T1,T2]U2-"
    assert text(body, CHAT[3], CHAT[1], CHAT[4]) == "T1U1T2"


def test_then_takes_what_follows_one_message() -> None:
    body = """each m in messages {
      when assistant then tool* as rs { m.content ?? "-" rs.length each r in rs { r.content } if m is last { "$" } }
      when system, user { m.content }
      when tool { "stray " m.content }
    }"""
    assert text(body, CHAT[3], *CHAT) == "stray T1SU1A12T1T2U2-0$"


def test_a_message_that_no_arm_fits_is_an_error() -> None:
    with pytest.raises(TemplateError) as caught:
        text(
            'each m in messages { when user where m.content == "U1" { m.content } when system { m.content } }',
            *CHAT[:3],
        )
    assert (caught.value.code, caught.value.where) == ("T101", "messages[2]")


# ---- what the model generates


def test_sampled_ranges_count_segments_and_leave_out_empty_ones() -> None:
    out = rendering('"a" sampled { "b" sampled { "c" "d" } sampled { if not flag { "e" } } } "f" sampled { drop n }')
    assert out.sampled == [(2, 4), (1, 4)]


def test_the_generation_prefix_is_printed_once_if_it_is_asked_for() -> None:
    assert text("@b generate { @a }") == "<b><a>"
    assert text("@b generate { @a }", add_generation_prompt=False) == "<b>"
    assert text("@b generate where not flag { @a }") == "<b>"
    assert text("@b generate where not flag { @/a } generate { @a } generate { @b }") == "<b><a>"
    assert text("take all system as s generate where given messages { messages.length }", CHAT[0], CHAT[1]) == "1"


# ---- joined


@pytest.mark.parametrize(
    ("given", "printed"),
    [
        ({}, "low"),
        ({"name": "N"}, "N, low"),
        ({"name": "N", "words": ["a", "b"]}, "N, ab, low"),
        ({"name": "", "words": ["", "b"], "flag": False}, "b, low, no"),
    ],
)
def test_a_text_stands_between_what_prints_something(given: dict[str, Json], printed: str) -> None:
    body = 'joined ", " { name ?? "" each w in words ?? [] { w } { let x = mode x "" } if not flag { "no" } }'
    assert text(body, **given) == printed


def test_the_text_between_stands_outside_of_what_is_sampled() -> None:
    out = rendering('joined "," { "a" sampled { "" "b" joined "-" { "c" "d" } } "e" }')
    assert "".join(segment.text for segment in out.segments) == "a,bc-d,e"
    (region,) = out.sampled
    assert "".join(segment.text for segment in out.segments[slice(*region)]) == "bc-d"


# ---- texts that blocks print


def test_a_text_that_is_kept_prints_the_pieces_it_was_printed_in() -> None:
    out = plain(
        rendering('let x = text { "<" name ?? "" each w in words ?? [] { w } }  x', name="N", words=["ab", "cd"])
    )
    assert out == [
        ("literal", "<", BODY_LINE, 16),
        ("content", "N", ("name",), 0),
        ("content", "ab", ("words", 0), 0),
        ("content", "cd", ("words", 1), 0),
    ]


def test_cuts_of_a_kept_text_leave_stretches_of_its_pieces() -> None:
    body = 'let x = text { name ?? "" "-" each w in words ?? [] { w } }'
    given: dict[str, Json] = {"name": "  N", "words": ["ab", "=cd", "e "]}
    assert plain(rendering(f"{body} x.trim()", **given)) == [
        ("content", "N", ("name",), 2),
        ("literal", "-", BODY_LINE, 27),
        ("content", "ab", ("words", 0), 0),
        ("content", "=cd", ("words", 1), 0),
        ("content", "e", ("words", 2), 0),
    ]
    assert plain(rendering(f'{body} x.after("b=")', **given)) == [
        ("content", "cd", ("words", 1), 1),
        ("content", "e ", ("words", 2), 0),
    ]
    assert plain(rendering(f'{body} x.replace("a", "A")', **given)) == [("content", "  N-Ab=cde ", (), None)]


def test_tests_see_the_whole_of_a_kept_text() -> None:
    body = 'let x = text { "a" mode } if x.length == 4 and x == "alow" and x has "al" and given x { x }'
    assert text(body) == "alow"


# ---- counters


def test_a_counter_goes_up_across_defs_and_prints_as_a_literal() -> None:
    body = """counter n_calls
    def call(name: text) { name ":" n_calls advance n_calls }
    each w in words ?? [] join " " { call(w) if n_calls == 2 { "!" } }
    n_calls"""
    out = rendering(body, words=["a", "b", "c"])
    assert "".join(segment.text for segment in out.segments) == "a:0 b:1! c:23"
    assert plain(out)[-1] == ("literal", "3", BODY_LINE + 3, 5)


def test_a_counter_in_a_name_stays_what_it_was() -> None:
    assert text("counter k let before_it = k advance k advance k before_it k") == "02"
