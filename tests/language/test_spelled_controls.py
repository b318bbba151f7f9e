"""Where printed literals spell a control token in a row, K601 or K602 says so.

Templates are made at random out of pieces of spellings in branches and loops; the oracle renders each on every path.
"""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from katapi.check import check_program
from katapi.language.parser import parse
from katapi.language.source import Source
from katapi.model.program import Program
from katapi.model.resolve import resolve
from katapi.model.resolve.findings import Findings
from katapi.oracle.render import plain, render
from katapi.oracle.request import canonical

SPELLINGS = ("<a>", "<ab>", "a<<b")
HEAD = """
vocabulary V version "1" {
  control { 0 @a "<a>" 1 @ab "<ab>" 2 @odd "a<<b" }
  text { 3 "a" }
  unknown 4 "<unk>"
}
tokenizer V version "1" over V { normalize: none pretokenize: none segment: longest_match post: none decode: concat }
request V version "1" {
  bytes: utf8 strict depth: 8
  role user { content: text }
  param p: bool = true
  param q: bool = true
  param words: [text]?
  param note: text = "-"
}
"""


def _fresh(body: str) -> str:
    """A name for a loop around a body, used by no loop in it."""
    return f"word_{body.count('each word_')}"


pieces = st.sampled_from(["<", "a", "b", ">", "<a", "b>", "a<", "<<", "x"])
prints = st.one_of(
    pieces.map(lambda text: f'"{text}"'),
    st.sampled_from(["@a", "note"]),
    st.tuples(pieces, pieces).map(lambda x: f'{{ let it = if p then "{x[0]}" else "{x[1]}" it }}'),
)
blocks = st.recursive(
    st.lists(prints, max_size=3).map(" ".join),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from("pq"), inner, inner).map(lambda x: f"if {x[0]} {{ {x[1]} }} else {{ {x[2]} }}"),
        st.tuples(inner, inner).map(" ".join),
        inner.map(lambda x: f"each {_fresh(x)} in words ?? [] {{ {x} }}"),
        st.tuples(pieces, inner).map(lambda x: f'joined "{x[0]}" {{ {x[1]} }}'),
        st.tuples(pieces, inner).map(lambda x: f'each {_fresh(x[1])} in words ?? [] join "{x[0]}" {{ {x[1]} }}'),
    ),
    max_leaves=4,
)


def resolved(body: str) -> Program:
    walk = "each m in messages { when user { m.content } }"
    template = f'template V version "1" for V {{ {body} {walk} generate {{ @a }} }}'
    source = Source("v.kata", f"{HEAD}\n{template}")
    file, unread = parse(source)
    findings = Findings()
    program = resolve("v", source, file, findings)
    assert unread == []
    assert findings.diagnostics == []
    assert isinstance(program, Program)
    return program


def literal_runs(program: Program, p: bool, q: bool, words: int) -> list[str]:
    """The literals of a rendering, joined where nothing stands between them."""
    message = {"role": "user", "content": "-"}
    request = canonical(program, {"messages": [message], "p": p, "q": q, "words": ["w"] * words})
    runs = [""]
    for segment in plain(render(program, request)):
        match segment:
            case ("literal", str() as text, _, _):
                runs[-1] += text
            case _:
                runs.append("")
    return runs


@given(blocks)
def test_literals_that_spell_a_control_token_are_reported(body: str) -> None:
    program = resolved(body)
    runs = [
        run for p, q, n in product((True, False), (True, False), range(4)) for run in literal_runs(program, p, q, n)
    ]
    if any(spelling in run for run in runs for spelling in SPELLINGS):
        assert {"K601", "K602"} & {finding.code for finding in check_program(program)}
