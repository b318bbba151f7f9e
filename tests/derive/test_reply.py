"""The grammar of a reply is derived from the template, or the place is told that cannot be read backwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from katapi.derive.reply import reply_of
from katapi.derive.reply_forms import NotInvertible
from katapi.language.source import Source
from katapi.runtime.reply.grammar import Form, FreeText, Items
from tests.command import here
from tests.specs import whole_program

SPEC = """
vocabulary V version "1" {
  control { 0 @user "<user>"  1 @model "<model>"  2 @end "<end>" }
  text { 3 "a" }
  unknown 4 "<unk>"
}
tokenizer V version "1" over V {
  normalize: none
  pretokenize: none
  segment: longest_match
  post: none
  decode: concat
}
request V version "1" {
  bytes: utf8 strict
  depth: 8
  role user { content: text }
  role assistant {
    content: text
    name: text?
    tool_calls: [call]?
  }
  record call { name: text }
}
template V version "1" for V {
  def loud(said: text) { said.upper() }
  each m in messages {
    when user { loud(m.content) @end }
    when assistant {
      @model
      sampled { SAMPLED @end }
      drop m
    }
  }
  generate { @model }
  PARSE
}
"""


def form(sampled: str, parse: str = "") -> Form:
    """What is read between the opening and the closing token."""
    text = SPEC.replace("SAMPLED", sampled).replace("PARSE", parse)
    whole = reply_of(whole_program("v", Source("v.kata", text))).form
    assert isinstance(whole, tuple)
    return whole[1:-1]


def test_a_text_is_read_as_it_is_printed() -> None:
    assert form("m.content") == (FreeText(("m", "content")),)
    assert form('"a" m.content.trim()') == ("a", FreeText(("m", "content"), strip=""))
    assert form('"a" m.name ?? "b"') == ("a", FreeText(("m", "name"), default="b"))


def test_a_loop_over_calls_is_a_list_of_them() -> None:
    assert form('each c in m.tool_calls ?? [] join "," { "<" c.name ">" }') == (
        Items(("m", "tool_calls"), "c", ("<", FreeText(("c", "name")), ">"), join=","),
    )


@pytest.mark.parametrize(
    ("sampled", "why"),
    [
        ("m.content m.content", "nothing tells where the text before it ends"),
        ('m.content m.name ?? ""', "nothing tells where the text before it ends"),
        ("loud(m.content)", "it is not printed as it is in the reply"),
        ('joined "," { "a" "b" }', "what stands between the parts of `joined` is not known"),
    ],
)
def test_what_cannot_be_read_backwards_is_told_unless_a_parse_block_says_it(sampled: str, why: str) -> None:
    with pytest.raises(NotInvertible, match=why):
        form(sampled)
    assert form(sampled, "parse m { @model m.content @end }") == (FreeText(("m", "content")),)


def test_check_tells_which_replies_cannot_be_read(tmp_path: Path) -> None:
    file = tmp_path / "v.kata"
    file.write_text(SPEC.replace("SAMPLED", "loud(m.content)").replace("PARSE", ""), "utf-8")
    place = f"v.kata:{1 + SPEC[: SPEC.index('said.upper()')].count(chr(10))}"
    done = here("check", str(file))
    assert (done.status, done.err) == (0, "")
    assert done.out.splitlines() == [
        f"{file}: V@1 is fine",
        f"  V@1: its replies cannot be read without a `parse` block ({place}: it is not printed as it is in the reply)",
    ]
