"""K309 is exact: a field is reported as lost where, and only where, some request really loses it.

Templates are made at random out of tests and prints of two optional fields; the oracle renders each for every request
that its tests can tell apart.
"""

from __future__ import annotations

from itertools import product

from hypothesis import given, reject
from hypothesis import strategies as st

from katapi.check import check_program
from katapi.language.parser import parse
from katapi.language.source import Source
from katapi.model.program import Program
from katapi.model.resolve import resolve
from katapi.model.resolve.findings import Findings
from katapi.oracle.render import plain, render
from katapi.oracle.request import canonical
from katapi.runtime.errors import TemplateError

HEAD = """
vocabulary V version "1" { control { 0 @user "<user>" } text { 1 "a" } unknown 2 "<unk>" }
tokenizer V version "1" over V { normalize: none pretokenize: none segment: longest_match post: none decode: concat }
request V version "1" {
  bytes: utf8 strict depth: 8
  role user { a: text? b: text? }
  param quick: bool = true
}
"""
LETS = """
let there_a = exists m.a  let there_b = exists m.b
let given_a = given m.a   let given_b = given m.b
let empty_a = m.a == ""   let empty_b = m.b == ""
let text_a = m.a ?? ""    let text_b = m.b ?? ""
let either = m.a ?? m.b ?? ""
let chosen = if given m.b then text_b else text_a
"""
FIELDS = ("a", "b")
VALUES = (None, "", "x")

tests = st.recursive(
    st.sampled_from([f"{word}_{field}" for word in ("there", "given", "empty") for field in FIELDS] + ["quick"]),
    lambda inner: st.one_of(
        inner.map(lambda x: f"not ({x})"),
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(lambda x: f"(({x[0]}) {x[1]} ({x[2]}))"),
    ),
    max_leaves=3,
)
prints = st.one_of(
    st.sampled_from(["text_a", "text_b", "either", "chosen", "'-'", "reject 'no'"]),
    st.tuples(tests, st.sampled_from(["text_a", "text_b"])).map(
        lambda x: f"{{ let it = if {x[0]} then {x[1]} else either it }}"
    ),
)
blocks = st.recursive(
    st.lists(prints, max_size=2).map(" ".join),
    lambda inner: st.one_of(
        st.tuples(tests, inner).map(lambda x: f"if {x[0]} {{ {x[1]} }}"),
        st.tuples(tests, inner, inner).map(lambda x: f"if {x[0]} {{ {x[1]} }} else {{ {x[2]} }}"),
        st.tuples(st.sampled_from(FIELDS), inner, inner).map(
            lambda x: f"match m.{x[0]} {{ when null {{ {x[1]} }} when text {{ {x[2]} }} }}"
        ),
        st.tuples(inner, inner).map(" ".join),
    ),
    max_leaves=5,
)


def resolved(body: str) -> Program:
    """The program of a block. One is rejected that asks for null where a match around it has found a text."""
    walk = f"each m in messages {{ when user {{ {LETS} {body} }} }}"
    template = f'template V version "1" for V {{ {walk} generate {{ @user }} }}'
    source = Source("v.kata", f"{HEAD}\n{template}")
    file, unread = parse(source)
    findings = Findings()
    program = resolve("v", source, file, findings)
    assert unread == []
    if {finding.code for finding in findings.diagnostics} == {"K303"}:
        reject()
    assert findings.diagnostics == []
    assert isinstance(program, Program)
    return program


def printed(program: Program, a: str | None, b: str | None, quick: bool) -> set[str] | None:
    """The fields of which something is printed; None where the template rejects the request."""
    message = {"role": "user", "a": a, "b": b}
    request = canonical(program, {"messages": [message], "quick": quick})
    try:
        segments = plain(render(program, request))
    except TemplateError:
        return None
    return {field for field in FIELDS for segment in segments if ("messages", 0, field) in segment}


@given(blocks)
def test_a_field_is_reported_where_some_request_loses_it(body: str) -> None:
    program = resolved(body)
    reported = {
        field for f in check_program(program) if f.code == "K309" for field in FIELDS if f"`m.{field}`" in f.message
    }
    lost: set[str] = set()
    for a, b, quick in product(VALUES, VALUES, (True, False)):
        seen = printed(program, a, b, quick)
        if seen is not None:
            lost.update(field for field, value in (("a", a), ("b", b)) if value and field not in seen)
    assert reported == lost
