"""What the checks let pass and what they refuse, case by case; the wording is tested by the fixtures in `fail/`."""

from __future__ import annotations

import time

import pytest

from katapi.analyse import analyse
from katapi.language.diagnostics import SpecError
from katapi.language.source import Source

HEAD = """
vocabulary V version "1" {
  control { 0 @user "<user>" 1 @model "<model>" 2 @end "<end>" }
  text { 3 "a" }
  unknown 4 "<unk>"
}
tokenizer V version "1" over V { normalize: none pretokenize: none segment: longest_match post: none decode: concat }
"""
JSON = """
serialization json version "1" {
  order: as_received item_separator: ", " key_separator: ": " indent: none escape: minimal
  floats: python integers: exact nan: reject absent: omitted
}
"""
USER = "when user { @user m.content @end }"
MODEL = "when assistant { @model sampled { m.content @end } }"
GENERATE = "generate { @model }"


def codes(template: str, request: str = "role user, assistant { content: text }", more: str = "") -> list[str]:
    """The codes of the findings about a template and its request rules, with `more` declarations."""
    json = JSON if " as json" in template and JSON not in more else ""
    rules = f'request V version "1" {{ bytes: utf8 strict depth: 8 {request} }}'
    try:
        analyse("v", Source("v.kata", f'{HEAD}{more}{json}\n{rules}\ntemplate V version "1" for V {{ {template} }}'))
    except SpecError as error:
        return [finding.code for finding in error.diagnostics]
    return []


def walk(*arms: str, before: str = "", after: str = GENERATE) -> str:
    return f"{before} each m in messages {{ {' '.join(arms)} }} {after}"


def arm(body: str, fields: str, more: str = "") -> list[str]:
    """The codes for a user arm with this body, where a user message has these fields."""
    return codes(
        walk(f"when user {{ {body} }}", MODEL), f"role user {{ {fields} }} role assistant {{ content: text }} {more}"
    )


# ---- fields

TEXTS = "a: text? b: text?"
CALLS = "calls: [call]?"
CALL = "record call { name: text arguments: json }"


@pytest.mark.parametrize(
    "body",
    [
        'm.a ?? "" m.b ?? ""',
        "if given m.a { m.a } if exists m.b { m.b }",
        "if given m.a { m.a m.b ?? '' } else { m.b ?? '' }",
        "if exists m.a and exists m.b { m.a m.b } else { drop m.a drop m.b }",
        "if not (exists m.a or exists m.b) { 'none' } else { m.a ?? '' m.b ?? '' }",
        "if exists m.a and exists m.b { reject 'one of the two' } m.a ?? m.b ?? ''",
        "let both = if given m.a then m.a else m.b ?? '' if given m.a and given m.b { drop m.b } both",
        "let known = exists m.a if known { m.a ?? '' } drop m.b",
        "drop m",
        "let text = m.a ?? '' text.trim() m.b ?? ''",
        "object { a: m.a, b: m.b } as json",
        "if m.a == '' { drop m.b } else { m.a ?? '' m.b ?? '' }",
        "if exists m.a { let a = m.a.trim() if given a { a } } drop m.b",
        "if m is first { m.a ?? '' } if m is not first { drop m.a } drop m.b",
    ],
)
def test_a_field_is_used(body: str) -> None:
    assert arm(body, TEXTS) == []


@pytest.mark.parametrize(
    ("body", "lost"),
    [
        ("", 2),
        ('m.a ?? ""', 1),
        ("if given m.a { drop m.b }", 2),
        ("m.a ?? m.b ?? ''", 1),
        ("if given m.a and given m.b { reject 'one of the two' } m.a ?? m.b ?? ''", 1),
        ("if m is first { m.a ?? '' m.b ?? '' }", 2),
        ("if m is first { m.a ?? '' } drop m.b", 1),
        ("let c = m.a ?? '' if given c { m.b ?? '' }", 2),
        ("if exists m.a or exists m.b { 'some' }", 2),
        ("let both = if given m.a then m.a else m.b ?? '' both", 1),
        ("if given m.a and given m.b { 'two' } else { m.a ?? '' m.b ?? '' }", 2),
    ],
)
def test_a_field_is_lost(body: str, lost: int) -> None:
    found = arm(body, TEXTS)
    assert set(found) <= {"K309", "K310"}
    assert found.count("K309") == lost


@pytest.mark.parametrize(
    "body",
    [
        "each c in m.calls ?? [] { c.name c.arguments as json }",
        "if given m.calls { each c in m.calls { c.name drop c.arguments } }",
        "if given m.calls { each c in m.calls { object { name: c.name, arguments: c.arguments } as json } }",
        "if given m.calls { each c in m.calls where c.name == 'a' { c.name c.arguments as json } } drop m.calls",
        "if exists m.calls { if m.calls.length == 0 { 'none' } else { each c in m.calls { drop c } } }",
        "each c in m.calls ?? [] { if c.arguments is object { c.arguments.x as json } else { drop c } c.name }",
        "each c in m.calls ?? [] { match c.arguments { when null { } when other { c.arguments as json } } c.name }",
    ],
)
def test_each_record_of_a_list_is_used(body: str) -> None:
    assert arm(body, CALLS, CALL) == []


@pytest.mark.parametrize(
    "body",
    [
        "if given m.calls { each c in m.calls { c.name } }",
        "if given m.calls { each c in m.calls { if m is first { c.name } drop c.arguments } }",
        "if given m.calls { each c in m.calls where c.name == 'a' { c.name c.arguments as json } }",
        "if given m.calls { each c in m.calls { drop c } } else if m is first { 'none' } if m is last { drop m.a }",
    ],
)
def test_a_record_of_a_list_is_lost(body: str) -> None:
    assert arm(body, CALLS + " a: text?", CALL).count("K309") >= 1


def test_the_first_record_is_not_the_list() -> None:
    body = "if given m.calls { let c = m.calls.first if exists c { c.name c.arguments as json } }"
    assert arm(body, CALLS, CALL) == ["K309"]


def test_a_bool_and_a_closed_text_are_used_by_asking_for_their_value() -> None:
    fields = 'content: text final: bool channel: "a" | "b"'
    assert arm("m.content if m.final { 'x' } if m.channel == 'a' { 'y' }", fields) == []
    assert arm("m.content if m.final { 'x' } match m.channel { when 'a' { } when 'b' { 'y' } }", fields) == []
    assert arm("m.content if m.final { 'x' }", fields) == ["K309"]


def test_arms_with_where_leave_their_contrary_to_the_next() -> None:
    request = "role user { content: text } role assistant { content: text calls: [text]? }"
    calling = "when assistant where given m.calls { sampled { m.content each c in m.calls { c } } }"
    assert codes(walk(USER, calling, "when assistant { sampled { m.content } }"), request) == []
    assert codes(walk(USER, calling, "when assistant { sampled { @end } }"), request) == ["K309"]


def test_fields_of_several_roles_are_told_apart() -> None:
    request = "role user { content: text } role assistant { content: text note: text }"
    noted = "when user, assistant { sampled { m.content if m is assistant { m.note } } }"
    assert codes(walk(noted), request) == []
    assert codes(walk(noted.replace("m is assistant", "m is user")), request) == ["K104"]


def test_a_run_is_used_by_a_loop_over_it() -> None:
    assert codes(walk("when user+ as asked { each u in asked { u.content } }", MODEL)) == []
    assert codes(walk("when user+ as asked { asked.length }", MODEL)) == ["K309"]
    assert codes(walk("when user+ as asked { each u in asked { u.role } }", MODEL)) == ["K309"]
    then = "when user then user* as more { m.content each u in more { u.content } }"
    assert codes(walk(then, MODEL)) == []
    assert codes(walk(then.replace("m.content", ""), MODEL)) == ["K309"]


@pytest.mark.parametrize(
    ("use", "lost"),
    [
        ("if exists sys { sys.content }", 0),
        ("if given sys { sys.content }", 0),
        ('sys.content ?? "a"', 0),
        ("if generating { if exists sys { sys.content } } else if exists sys { drop sys.content }", 0),
        ("if exists sys { @user }", 1),
        ("if generating { sys.content ?? '' }", 1),
        ("drop sys", 0),
    ],
)
def test_a_taken_message_is_used(use: str, lost: int) -> None:
    request = "role system, user, assistant { content: text }"
    late = "when system { drop m }"
    template = walk(USER, MODEL, late, before=f"take leading system as sys {use}")
    assert codes(template, request) == ["K309"] * lost


def test_a_def_counts_as_use_where_it_uses_its_parameter_on_every_path() -> None:
    always = "def f(x: text) { if x == 'a' { @end x } else { x } }"
    sometimes = "def f(x: text) { if x == 'a' { x } }"
    through = "def g(x: text) { f(x) }"
    user = "when user { @user g(m.content) }"
    assert codes(walk(user, MODEL, before=always + through)) == []
    assert codes(walk(user, MODEL, before=sometimes + through)) == ["K309"]


def test_messages_that_a_query_finds_are_printed_where_they_are_walked() -> None:
    request = f"role user {{ content: text }} role assistant {{ content: text {CALLS} }} {CALL}"
    asking = (
        "when user { let a = last x in messages where x is assistant "
        "if exists a { if exists a.calls { each c in a.calls { c.name } } } m.content }"
    )
    model = "when assistant { sampled { m.content each c in m.calls ?? [] { c.name c.arguments as json } } }"
    assert codes(walk(asking, model), request) == []


def test_many_branches_are_checked_quickly() -> None:
    fields = " ".join(f"f{n}: text?" for n in range(40))
    body = " ".join(f"if given m.f{n} {{ m.f{n} }} else {{ 'none' }}" for n in range(40))
    chain = "let l0 = m.f0 ?? ''" + "".join(
        f" let l{n} = if m.f{n} == 'x' then l{n - 1} else l{n - 1}.trim()" for n in range(1, 40)
    )
    start = time.monotonic()
    assert arm(body, fields) == []
    assert "K001" not in arm(f"{chain} l39", fields)
    assert time.monotonic() - start < 10


def test_a_long_chain_of_lets_is_no_trouble() -> None:
    chain = "let l0 = m.content" + "".join(f" let l{n} = l{n - 1}.trim()" for n in range(1, 800))
    assert set(arm(f"{chain} l799", "content: text")) == {"K309"}
    assert arm(f"{chain} l50 drop l799", "content: text") == []


# ---- matches, messages


@pytest.mark.parametrize(
    ("arms", "found"),
    [
        ("when text { } when number { } when bool { } when null { } when list, object { }", []),
        ("when text { } when integer { } when bool { } when null { } when list, object { }", ["K301"]),
        ("when other { }", []),
        ("when other where generating { } when other { }", []),
        ("when text { } when other where generating { }", ["K301"]),
        ("when 'a' { } when text { } when other { }", []),
        ("when text { } when 'a' { } when other { }", ["K304"]),
        ("when 'a' { } when 'a' { } when other { }", ["K304"]),
        ("when other { } when text { }", ["K304"]),
        ("when number { } when integer { } when other { }", ["K304"]),
    ],
)
def test_a_match_over_json(arms: str, found: list[str]) -> None:
    assert arm(f"match m.data {{ {arms} }} drop m", "data: json") == found


@pytest.mark.parametrize(
    ("arms", "found"),
    [
        ("when 'a' { } when 'b' { } when null { }", []),
        ("when 'a', 'b' { } when null { }", []),
        ("when text { } when null { }", []),
        ("when 'a' { } when null { }", ["K301"]),
        ("when 'a', 'b' { }", ["K301"]),
        ("when 'a' { } when 'b' { } when null { } when other { }", ["K304"]),
        ("when 'a' { } when 'b' { } when text { } when null { }", ["K304"]),
    ],
)
def test_a_match_over_a_closed_text(arms: str, found: list[str]) -> None:
    template = walk(USER, MODEL, before=f"match mode {{ {arms} }}")
    assert codes(template, 'role user, assistant { content: text } param mode: "a" | "b"?') == found


@pytest.mark.parametrize(
    ("template", "found"),
    [
        (walk(USER), ["K302"]),
        (walk(USER, MODEL.replace("assistant", "assistant where m is last")), ["K302"]),
        (walk("when other { m.role sampled { m.content } }"), []),
        (walk(USER, "when other { sampled { m.content } }", USER), ["K304"]),
        (walk("when user+ as us { each u in us { u.content } }", MODEL), []),
        (walk(MODEL, before="take all user as us each u in us { u.content }"), []),
        (walk(USER, before="take all assistant as them each a in them { sampled { a.content } }"), []),
        (walk(USER, MODEL, before="take leading user as ask else { reject 'ask' } ask.content"), []),
        (GENERATE, ["K302"]),
        (walk("when user { reject 'no' }", MODEL), []),
        (walk("when user { drop m }", MODEL), []),
    ],
)
def test_each_message_has_an_arm(template: str, found: list[str]) -> None:
    assert codes(template) == found


# ---- names, generation, recursion


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("m.a as json", ["K310"]),
        ("m.a as indented", []),
        ("if m.a as indented == '1' { drop m.a } else { drop m.a }", []),
        ("drop m.a", ["K310", "K310"]),
        ("m.a as json m.nothing as indented", ["K104"]),
        ("m.a as jsn", ["K105"]),
        ("m as jsn drop m.a", ["K201", "K105"]),
    ],
)
def test_a_serialization_is_used(body: str, found: list[str]) -> None:
    indented = 'serialization indented version "1" like json { indent: 2 lf }'
    template = walk(f"when user {{ {body} }}", MODEL)
    assert codes(template, "role user { a: json } role assistant { content: text }", JSON + indented) == found


def test_tools_must_be_printed_and_parameters_used() -> None:
    request = "role user, assistant { content: text } tools: [object]? param quick: bool = true"
    assert codes(walk(USER, MODEL), request) == ["K310", "K310"]
    tested = "if given tools and quick { 'tools' }"
    assert codes(walk(USER, MODEL, before=tested), request) == ["K310"]
    printed = "if given tools and quick { each t in tools { t as json } }"
    assert codes(walk(USER, MODEL, before=printed), request) == []


@pytest.mark.parametrize(
    ("generate", "found"),
    [
        ("generate { @model }", []),
        ("generate where generating { @model }", []),
        ("generate { if generating { @model } else { 'a' } }", []),
        ("generate { if generating { @model } else { reject 'no' } }", []),
        ("generate { open() }", []),
        ("generate { if generating { @model } }", ["K405"]),
        ("generate { '' }", ["K405"]),
        ("generate { sampled { @model } }", ["K404"]),
        ("generate { open() } generate where generating { open() }", ["K402"]),
        ("", ["K401"]),
    ],
)
def test_there_is_one_prefix_and_it_prints(generate: str, found: list[str]) -> None:
    template = walk(USER, MODEL, before="def open() { @model } open()", after=generate)
    assert sorted(codes(template)) == found


def test_a_mistake_in_the_condition_of_a_prefix_makes_nothing_unused() -> None:
    template = walk(USER, MODEL, after="generate where fast and nothing { @model }")
    assert codes(template, "role user, assistant { content: text } param fast: bool = false") == ["K101"]


def test_what_the_model_writes_is_marked() -> None:
    assert codes(walk(USER, "when assistant { @model m.content }")) == ["K403"]
    assert codes(walk("when other { m.role m.content }")) == ["K403"]
    assert codes(walk(USER, "when assistant { reply(m.content) }", before="def reply(x: text) { sampled { x } }")) == []
    assert codes(walk(USER, "when assistant { drop m }")) == []
    both = ("when assistant where m is last { m.content }", MODEL)
    assert codes(walk(USER, *both)) == ["K403"]


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("match s { when list { each x in s { f(x) } } when other { s as json } }", []),
        ("match s { when object { each k, x in s { k f(x) } } when other { s as json } }", []),
        ("if given s.x { f(s.x) } else { s as json }", []),
        ("if exists s.x { let x = s.x f(x.y) } else { s as json }", []),
        ("match s { when object { f(s.x) } when other { s as json } }", []),
        ("if s is object { f(s.x ?? s.y) } else { s as json }", []),
        ("if given s.x { f(if s.x has 'k' then s.x else s.x.y) } else { s as json }", []),
        ("f(s)", ["K501"]),
        ("f(s.x)", ["K501"]),
        ("if s is object { f(s.x ?? s) }", ["K501"]),
        ("if given s.x { f(s.x ?? 'a') }", ["K206"]),
        ("if s is object { f(s.x ?? 'a') }", ["K501"]),
        ("let t = s if given t { f(t) }", ["K501"]),
    ],
)
def test_recursion_shrinks(body: str, found: list[str]) -> None:
    template = walk("when user { @user f(m.data) }", MODEL, before=f"def f(s: json) {{ {body} }}")
    assert codes(template, "role user { data: json } role assistant { content: text }") == found


# ---- literals


@pytest.mark.parametrize(
    ("items", "found"),
    [
        ("'<end>'", ["K601"]),
        ("'a<end>b'", ["K601"]),
        ("let x = if generating then '<end>' else 'a' x", ["K601"]),
        ("'<end' '>'", ["K602"]),
        ("'<' 'en' 'd>'", ["K602"]),
        ("'<end' @user '>'", []),
        ("'<end' messages.length '>'", []),
        ("if generating { '<end' } '>'", ["K602"]),
        ("if generating { '<end' @user } '>'", []),
        ("def f() { 'nd>' } '<e' f()", ["K602"]),
        ("def f() { @user } '<e' f() 'nd>'", []),
        ("let x = '<e' x 'nd>'", ["K602"]),
        ("if identity.starts_with('<end>') { 'a' }", []),
        ("object { end: '<end>' } as json", ["K601"]),
        ("def f(x: text) { x } f('<end>')", ["K601"]),
    ],
)
def test_literals_spell_no_control_token(items: str, found: list[str]) -> None:
    request = "role user, assistant { content: text } param identity: text = '<end>'"
    assert codes(walk(USER, MODEL, before=f"drop identity {items}"), request) == found
