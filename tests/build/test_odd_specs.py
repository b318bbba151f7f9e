"""Specs that are legal and unlike those of real models: typed and formatted code, and property tests that hold."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib

import pytest

from katapi.build import write
from katapi.compile import compile_project
from katapi.project import Project
from tests.command import ROOT, Done, python

WORDS = """
  text {
    0 "hello"
    1 " "
    2 "\\n"
    3 "a"
    4 "!"
  }
  unknown 5 "<unk>"
"""

HEAD = """vocabulary Odd version "1" {
  control {
    6 @user "<user>"
    7 @model "<model>"
    8 @end "<end>"
  }
  WORDS
}

tokenizer Odd version "1" over Odd {
  normalize: none
  pretokenize: none
  segment: longest_match
  post: none
  decode: concat
}

""".replace("WORDS", WORDS.strip())

JSON = """serialization json version "1" {
  order: as_received
  item_separator: ", "
  key_separator: ": "
  indent: none
  escape: minimal
  floats: python
  integers: exact
  nan: reject
  absent: omitted
}

"""

REQUEST = """request Odd version "1" {
  bytes: utf8 strict
  depth: DEPTH

  role user, assistant { content: text }
  MORE
}

"""

CHAT = """template Odd version "1" for Odd {
  FIRST
  each m in messages {
    when user { @user m.content @end }
    when assistant { @model sampled { m.content @end } }
  }
  generate { @model }
}
"""


def spec(first: str = "", *, depth: int = 64, more: str = "", template: str = CHAT, head: str = HEAD) -> str:
    """A spec out of the parts above."""
    request = REQUEST.replace("DEPTH", str(depth)).replace("MORE", more)
    json = JSON if " as json" in first + template else ""
    return head + json + request + template.replace("FIRST", first)


FUNCTION = """record call { function: function }
  record function {
    name: text
    arguments: object from text verbatim
  }
  role tool {
    calls: [call]
    note: text?
    part: part?
  }
  record part {
    name: text
    secret: text?
  }"""

CHOICES = {
    "long": " | ".join(f'"a rather long choice, the {i}th"' for i in range(9)),
    "middling": " | ".join(f'"choice {i:07}"' for i in range(7)),
    "wide": '"' + "a" * 60 + '" | "' + "b" * 50 + '"',
}
LONG = {
    name: f"param {name}: {written}"
    for key, choices in CHOICES.items()
    for name, written in {
        key: choices,
        f"{key}_perhaps": f"{choices}?",
        f"{key}_list": f"[{choices}]?",
        f"{key}_default": f"{choices} = {choices.split(' |')[0]}",
    }.items()
} | {"greeting": f'param greeting: text = "{"hello " * 20}"'}

TAKEN = """model control inputs control_ids rejections always_printed segment site path json_text rendering choices
    choices_1 request_error control_segment literal_segment content_segment test""".split()

SPECS = {
    "rejects_all": spec('reject "no"'),
    "rejects_in_between": spec(
        more="record part { name: text }\n  role tool { parts: [part]? data: json note: text? }",
        template="""template Odd version "1" for Odd {
  def no(data: json) {
    match data {
      when object { reject "an object" }
      when other where data == "a" { reject "a" }
      when other { reject "something else" }
    }
    "never"
  }
  each m in messages {
    when user {
      if prev m is user { reject "twice" @user } else if m is first { @user m.content } else { reject "again" "never" }
      @end
    }
    when assistant { @model sampled { if m.content == "a" { @end reject "a" "never" } else { reject "b" } } @end }
    when tool {
      @user
      let parts = m.parts ?? []
      each p in m.parts ?? [] join ", " { p.name }
      each p in if given m.note then m.parts ?? [] else parts join "!" { p.name }
      let named = last p in m.parts ?? [] where p.name == "a"
      if exists named { named.name }
      let started = first p in (if given m.note then m.parts ?? [] else parts) where p.name == "b"
      if exists started { started.name }
      if exists m.note { m.note }
      if m.data is list { no(m.data) reject "no data" } else { no(m.data) }
      m.data as json
    }
  }
  generate { if generating { @model } else { reject "no prompt" @end } }
}
""",
    ),
    "rejects_in_the_prefix": spec(template=CHAT.replace("generate { @model }", 'generate { @model reject "x" @end }')),
    "rejects_nearly_all": spec(
        """if messages.length < 4 { reject "too few" }
  let final = messages.last
  if exists final and final is not user { reject "a user has the last word" }
  let given_names = count u in messages where u is user and u.content.starts_with("hello")
  if given_names < 2 { reject "not polite" }"""
    ),
    "rejects_by_parameter": spec('if size != 7 { reject "seven" }', more="param size: int"),
    "rejects_prompt": spec('if generating { reject "no prompt" }'),
    "alternates": spec(
        template="""template Odd version "1" for Odd {
  each m in messages {
    when user { if prev m is user { reject "twice" } @user m.content @end }
    when assistant { if m is first { reject "the user begins" } @model sampled { m.content @end } }
  }
  generate { @model }
}
"""
    ),
    "depth_1": spec(depth=1),
    "depth_2": spec(depth=2),
    "depth_3": spec(
        "each tool in tools { tool as json } drop x",
        depth=3,
        more="tools: [object]\n  param x: object from text verbatim?",
    ),
    "depth_4_rejecting": spec('if given tools { reject "none" } drop tools', depth=4, more="tools: [object]?"),
    "no_control": spec(
        head=HEAD.replace('6 @user "<user>"', "").replace('7 @model "<model>"', "").replace('8 @end "<end>"', ""),
        template="""template Odd version "1" for Odd {
  each m in messages {
    when user { "a" m.content }
    when assistant { "a" sampled { m.content "!" } }
  }
  generate { "a" }
  boundary "a", "!": accept
}
""",
    ),
    "prefix_with_content": spec(
        more="param name: text",
        template=CHAT.replace("generate { @model }", 'generate { heading(@model) "a" name "!" name }').replace(
            "  FIRST\n", "  def heading(mark: control) { mark }\n"
        ),
    ),
    "no_prefix": spec(
        template=CHAT.replace("m.content @end }", "m.content @end @model }", 1)
        .replace("@model sampled", "sampled")
        .replace("generate { @model }", "generate none")
    ),
    "ends": spec(
        more="param words: [text]?\n  param data: object?",
        template=CHAT.replace(
            "  FIRST\n",
            """  let found = words ?? []
  each w in if given words then words else found { if w is last { "a" } w if w is first { "!" } }
  each w in found.sorted() where w != "a" join "!" { if w is not first { " " } w }
  if exists data { each k, v in data { if k is first and v is not last { "!" } k drop v } }
  let models = count m in messages where m is assistant
  models
""",
        ),
    ),
    "open_roles": spec(
        more="""role other (any) {
    content: text | [piece | by_role]
    name: text?
  }
  record piece {
    kind: "a" | "b"
    kinds: text
  }
  record by_role {
    kind: "<user>"
    parts: text from parts "<end>"?
  }""",
        template="""template Odd version "1" for Odd {
  let first_one = first o in messages where o is other
  if exists first_one and first_one.role == "user" { "never" }
  take all other as others
  each o in others {
    @user o.role.trim() "!" o.name ?? "a" "!"
    match o.content {
      when list where o is first {
        each p in o.content {
          match p.kind {
            when "a" where o is last { "a" p.kinds }
            when "<user>" { p.parts ?? "" }
            when "b", "a" { p.kinds }
          }
          if p is last { "!" }
        }
      }
      when text { o.content }
      when other { drop o.content }
    }
    @end
  }
  each m in messages {
    when user { @user m.content @end }
    when assistant { @model sampled { m.content @end } }
  }
  generate none
  boundary "!": reject
}
""",
    ),
    "runs_of_others": spec(
        more="role other (any) { content: text }",
        template="""template Odd version "1" for Odd {
  each m in messages {
    when user then other* as notes { @user m.content each n in notes { n.role n.content } @end }
    when assistant { @model sampled { m.content @end } if next m is not other { "!" } }
    when other+ as others { each o in others join " " { o.role o.content } }
  }
  generate { @model }
  boundary " ": escape with "_"
}
""",
    ),
    "only_others": spec(
        template="""template Odd version "1" for Odd {
  let x = last m in messages where m.role == "user"
  if exists x { x.name.length }
  each m in messages {
    when anyone+ as all_of_them {
      each one in all_of_them { @user one.role " " one.name.after("<") @end }
    }
  }
  generate { @model }
}
"""
    ).replace("role user, assistant { content: text }", 'role anyone (any) { name: text from parts "" }'),
    "prefix_seen": spec("if generating { @user } else { @end }"),
    "drops": spec(
        more=FUNCTION,
        template="""template Odd version "1" for Odd {
  def quiet(x: text) { drop x }
  def silent(x: text) { quiet(x) }
  each m in messages {
    when user { @user silent(m.content) @end }
    when tool {
      @user
      each c in m.calls { c.function.name " " c.function.arguments as json }
      let note = m.note
      drop note
      if exists m.part { m.part.name drop m.part.secret }
      @end
    }
    when other { drop m }
  }
  generate { @model }
}
""",
    ),
    "drops_records": spec(
        more=FUNCTION,
        template="""template Odd version "1" for Odd {
  take all assistant as said
  drop said
  each m in messages {
    when user { object { text: m.content, kind: "user" } as json }
    when tool {
      each c in m.calls { if c.function.name == "a" { drop c } else { c.function.name drop c.function.arguments } }
      drop m.part
      if exists m.note { m.note.trim() }
    }
  }
  generate { @model }
}
""",
    ),
    "trims": spec(
        more="role note { content: text }",
        template="""template Odd version "1" for Odd {
  def mention(x: text) { if given x { x } }
  each m in messages {
    when user { let said = m.content.trim() if given said { @user said @end } }
    when note { mention(m.content.after("!")) }
    when assistant { @model sampled { m.content.before("a") @end } }
  }
  generate { @model }
}
""",
    ),
    "long_choices": spec("\n  ".join(f"drop {name}" for name in LONG), more="\n  ".join(LONG.values())),
    "names_of_the_tests": spec(
        more="\n  ".join(
            [*(f"record {n} {{ a: text }}" for n in TAKEN), "role tool {", *(f"x_{n}: {n}" for n in TAKEN), "}"]
        ),
        template=CHAT.replace(
            "    when user", "    when tool { " + " ".join(f"m.x_{n}.a" for n in TAKEN) + " }\n    when user"
        ),
    ),
    "names_of_the_forms": spec(
        more="""role joined {
    pieces: joined
    notes: [text]
  }
  record joined { python_notation: python_notation }
  record python_notation { text: text }""",
        template="""template Odd version "1" for Odd {
  counter at
  counter i
  def kept(kept: text, any_before: int) {
    advance i
    joined "," { kept any_before at i { advance at } }
  }
  let joined_2 = text { "a" }
  joined_2
  each m in messages {
    when user where any u_before in messages before m where u_before is user {
      @user
      let u_before_2 = last u in messages before m where u is user
      if exists u_before_2 { u_before_2.role }
      let fixed = text { let fixed_printed = text { m.content } if given fixed_printed { fixed_printed } "!" }
      kept(fixed.trim(), at)
      if all first_after in messages after m where first_after is not user or first_after.content != m.content { "a" }
      @end
    }
    when user { @user m.content at @end }
    when joined {
      joined "a" { m.pieces.python_notation.text { counter first_ = at joined "!" { each n in m.notes { n first_ } } } }
    }
    when assistant { @model sampled { joined " " { m.content @end } } }
  }
  generate { @model }
}
""",
    ),
    "rejecting_arms": spec(
        template=CHAT.replace(
            "FIRST", 'if strict { reject "strict" } else if model_name == "b" { "a" } else { "b" }'
        ).replace(
            "    when user {",
            """    when user where m is not first and prev m is user { reject "two" }
    when assistant where m is first or prev m is not user { reject "first" }
    when user {""",
        ),
        more='param strict: bool = false\n  param model_name: text = "a"',
    ),
    "parts_of_several_types": spec(
        """take all witness as witnesses
  each w in witnesses {
    each p in w.parts {
      match p.type {
        when "text" { p.text }
        when "image", "icon" { "image" }
        when "sound" { "sound" }
        when other { "other" }
      }
    }
  }
  """,
        more="""role witness { parts: [words | medium] }
  record words {
    type: "text"
    text: text
  }
  record medium {
    type: "image" | "icon" | "sound" | "film"
  }""",
    ),
    "long_lines": spec(
        more="role note { parts: [part]  note: text?  others: [part]? }\n  record part { name: text  size: int }",
        template="""template Odd version "1" for Odd {
  def say(x: text) { x }
  each m in messages {
    when user { @user m.content @end }
    when note {
      if (any a_part_with_a_name in m.parts where a_part_with_a_name.name == "hello hello hello")
        == (any a_part_with_a_name in m.parts where a_part_with_a_name.name == "a" and a_part_with_a_name.size > 3)
        { "a" }
      if (count a_part_with_a_name in m.parts where a_part_with_a_name.name == "hello hello hello hello hello") > 3
        { "a" }
      if (m.parts.first.name ?? "something else").replace("hello hello", "hello").before("hello").after("!") == m.note
        { "a" }
      if (m.parts.first.name ?? "something else").replace("hello hello", "hello").after("!").starts_with("hello hello")
        { "!" }
      if m.note == "hello hello hello hello hello hello" and m.parts.last.name != "hello hello hello hello hello hello"
        { "a" }
      let q = m.note ?? m.parts.first.name
        ?? (last a_part_with_a_name in m.others ?? [] where a_part_with_a_name.size > 3).name ?? "nothing at all"
      say(q)
      each a_part_with_a_rather_long_name_of_its_own in if given m.others then m.others else m.parts join ", " {
        a_part_with_a_rather_long_name_of_its_own.name
        drop a_part_with_a_rather_long_name_of_its_own
      }
      drop m
    }
    when assistant { @model sampled { m.content @end } }
  }
  generate { @model }
}
""",
    ),
    "awkward_names": spec(
        more="""role request {
    items: [request]?
    data: json
    self_: message?
  }
  role given { content: content }
  record request {
    texts: text
    texts_: text?
  }
  record message { control: text }
  record content { literal: text }
  param st: text?
  param place: text = "a'b\\"c\\u{7f}"
  param path: int = 3""",
        template="""template Odd version "1" for Odd {
  st ?? "a"
  place
  path
  each m in messages {
    when user { @user m.content @end }
    when assistant { @model sampled { m.content @end } }
    when given { m.content.literal }
    when request {
      each i in m.items ?? [] { i.texts i.texts_ ?? "" }
      m.data as json
      if exists m.self_ { m.self_.control }
    }
  }
  generate { @model }
}
""",
    ),
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    root = tmp_path_factory.mktemp("odd")
    (root / "spec").mkdir()
    for name, text in SPECS.items():
        (root / "spec" / f"{name}.kata").write_text(text, encoding="utf-8")
    project = Project(root, root / "spec", root / "generated", "odd_models")
    write(project, compile_project(project))
    return project


@pytest.fixture(scope="module")
def tested(project: Project) -> Done:
    """One run of all their property tests; the health checks of hypothesis are on."""
    (project.generated / "conftest.py").write_text(
        "from hypothesis import settings\n\n"
        'settings.register_profile("few", deadline=None, derandomize=True, database=None, max_examples=12)\n'
        'settings.load_profile("few")\n',
        encoding="utf-8",
    )
    options = ["-q", "-p", "no:cacheprovider", "--import-mode=importlib", "-o", "pythonpath=.", "-W", "error", "-rA"]
    return python("-m", "pytest", *options, "tests", cwd=project.generated, timeout=600)


@pytest.mark.parametrize("name", SPECS)
def test_the_property_tests_hold(name: str, tested: Done) -> None:
    passed = re.findall(rf"^PASSED tests/test_{name}\.py::", tested.out, re.MULTILINE)
    failed = re.findall(rf"^(?:FAILED|ERROR) tests/test_{name}\.py.*", tested.out, re.MULTILINE)
    assert (failed, len(passed) >= 5) == ([], True), tested.out


def test_mypy_and_ruff_are_content(project: Project) -> None:
    settings = str(ROOT / "pyproject.toml")
    folder = str(project.generated)
    rules = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["ruff"]["lint"]
    passed_over = ["I001", *rules["per-file-ignores"]["generated/**"]]  # what is first-party depends on the folder
    lint = ["ruff", "check", "--ignore", ",".join(passed_over)]
    for arguments, expected in (
        (["mypy", "--config-file", settings, folder], r"Success: no issues found"),
        (["ruff", "format", "--no-cache", "--check", "--config", settings, folder], r"\d+ files already formatted"),
        ([*lint, "--no-cache", "--config", settings, folder], r"All checks passed"),
    ):
        environment = {**os.environ, "MYPYPATH": folder}
        command = [sys.executable, "-m", *arguments]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        assert re.match(expected, done.stdout), done.stdout + done.stderr


def test_a_spec_that_rejects_all_asks_nothing_of_what_is_printed(project: Project) -> None:
    text = (project.generated / "tests" / "test_rejects_all.py").read_text(encoding="utf-8")
    assert "assert place in REJECTIONS" in text
    assert "test_the_same_request_gives_the_same_ids" not in text
