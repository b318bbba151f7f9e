"""`katapi compare`: what is the same by proof, and the smallest request on which two templates differ."""

from __future__ import annotations

from pathlib import Path

import pytest

from katapi.analyse import analyse, no_files
from katapi.derive.comparison import compare
from katapi.language.source import Source
from katapi.model.program import Program
from katapi.runtime.segments import Site
from tests.command import here
from tests.specs import OWN, ROOT, program_of, specs_in, whole

BOOK = (ROOT / "spec" / "book.kata").read_text(encoding="utf-8")
SPECS = {spec.name: spec for path in OWN for spec in specs_in(path)}


def book(*changes: tuple[str, str]) -> Program:
    """The fixture with some of its text replaced."""
    text = BOOK
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    return whole(analyse("book", Source("book.kata", text))[0])


@pytest.mark.parametrize(
    "change",
    [
        ("# The", "# Another comment\n# The"),
        ('request Book version "1"', 'request Books version "2"'),
        ("@system m.content @/system", "@system   m.content\n@/system"),
        ("window: 64", "window: 128"),
    ],
)
def test_what_means_the_same_prints_the_same(change: tuple[str, str]) -> None:
    found = compare(book(), book(change))
    assert (found.same, found.difference, found.searched) == (True, None, 0)


def test_models_of_a_family_that_differ_in_their_window_alone() -> None:
    assert compare(program_of(*SPECS["glm-4.5"]), program_of(*SPECS["glm-4.6"])).same


def test_serializations_of_used_files_count() -> None:
    """Two templates that read the same print JSON as the files that they use say."""
    json_file = (ROOT / "spec" / "serializations.kata").read_text(encoding="utf-8")
    text = BOOK.replace(
        "role system, user, assistant { content: text }", "role system, user, assistant { content: json }"
    )
    text = 'use "json.kata"\n\n' + text.replace("m.content", "m.content as json_dumps")

    def program(other: str) -> Program:
        files = {"json.kata": Source("json.kata", other)}
        return whole(analyse("book", Source("book.kata", text), lambda used: (used, files[used], no_files))[0])

    changed = json_file.replace('item_separator: ", "', 'item_separator: ","')
    assert compare(program(json_file), program(json_file)).same
    assert not compare(program(json_file), program(changed)).same


def test_the_smallest_request_and_the_places_are_found() -> None:
    other = book(("when user { @user m.content @/user }", 'when user { @user "天" m.content @/user }'))
    difference = compare(book(), other).difference
    assert difference is not None
    assert difference.request == {"messages": [{"role": "user", "content": "a"}], "add_generation_prompt": True}
    assert (difference.first.kind, difference.first.text) == ("text", "a</user><assistant>")
    assert difference.first.origin == ("messages", 0, "content")
    assert (difference.second.kind, difference.second.text) == ("text", "天a</user><assistant>")
    assert isinstance(difference.second.origin, Site)


def test_a_text_that_reads_like_a_control_token_is_not_the_same() -> None:
    difference = compare(program_of(*SPECS["llama3.1"]), program_of(*SPECS["llama3.3"])).difference
    assert difference is not None
    assert (difference.first.kind, difference.second.kind) == ("text", "control")
    assert difference.first.text.startswith("<|python_tag|>")
    assert difference.second.text.startswith("<|python_tag|>")


def test_one_that_ends_before_the_other() -> None:
    difference = compare(book(), book(("generate { @assistant }", 'generate { @assistant "a" }'))).difference
    assert difference is not None
    assert (difference.first.kind, difference.second.text) == ("nothing", "a")


def test_a_request_that_one_refuses_counts_where_nothing_else_differs() -> None:
    other = book(("when system { @system m.content @/system }", 'when system { reject "no" }'))
    difference = compare(book(), other).difference
    assert difference is not None
    assert difference.request["messages"] == [{"role": "system", "content": "a"}]
    assert (difference.first.kind, difference.second.kind) == ("control", "refused")
    assert "T100 no (book.kata:" in difference.second.text


def test_the_command(tmp_path: Path) -> None:
    done = here("compare", "qwen3", "spec/models/qwen.kata#qwen3", cwd=ROOT)
    assert (done.status, "print the same" in done.out) == (0, True)
    done = here("compare", "qwen3", "qwen3-instruct-2507", cwd=ROOT)
    assert (done.status, "qwen3 and qwen3-instruct-2507 differ" in done.out) == (1, True)
    assert "from the request, messages[0].content" in done.out
    for wrong, part in [
        (("nonsense", "qwen3"), "no spec of this project declares a model 'nonsense'"),
        (("qwen3", "spec/models/qwen.kata"), "declares 5 models"),
        (("qwen3", "spec/models/qwen.kata#gpt"), "declares no model 'gpt'"),
        (("qwen3", str(tmp_path / "no.kata")), "cannot be read"),
    ]:
        failed = here("compare", *wrong, cwd=ROOT)
        assert (failed.status, part in failed.err) == (1, True), failed.err
