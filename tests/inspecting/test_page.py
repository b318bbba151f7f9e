"""The page as a file: data that comes back as it was, a policy that names style and script, no way out of them."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from katapi.inspecting.data import page_data, script_text
from katapi.inspecting.document import page
from katapi.inspecting.kinds import LOOKS
from katapi.inspecting.view import Fact, Token
from tests.command import here, katapi
from tests.inspecting.inputs import HOSTILE, TALK, long_talk, looked_at

VIEW, RESULT = looked_at("qwen3", TALK)


class Elements(HTMLParser):
    """The elements of a page with their attributes, and the text in each script and style."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=False)
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.within = False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        self.texts.append("")
        self.within = True

    def handle_endtag(self, tag: str) -> None:
        self.within = False

    def handle_data(self, data: str) -> None:
        if self.within:
            self.texts[-1] += data

    def of(self, tag: str) -> list[tuple[dict[str, str | None], str]]:
        return [
            (attributes, text) for (name, attributes), text in zip(self.found, self.texts, strict=True) if name == tag
        ]


def test_the_data_comes_back_as_it_was() -> None:
    [(_, text)] = [one for one in Elements(page(VIEW)).of("script") if one[0].get("type") == "application/json"]
    assert json.loads(text) == json.loads(json.dumps(page_data(VIEW)))
    data = json.loads(text)["executions"][0]
    assert data["tokens"]["ids"] == RESULT.input_ids.tolist()
    flags, now = [], False
    for at in range(len(RESULT)):
        now ^= at in data["tokens"]["sampled"]
        flags.append(now)
    assert flags == RESULT.sampled.tolist()
    assert any(flags)


def test_the_policy_names_style_and_script_and_allows_nothing_else() -> None:
    elements = Elements(page(VIEW))
    [policy] = [a["content"] for a, _ in elements.of("meta") if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy is not None
    [(_, style)] = elements.of("style")
    [script] = [text for attributes, text in elements.of("script") if "type" not in attributes]

    def digest(text: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules == {
        "default-src": "'none'",
        "style-src": digest(style),
        "script-src": digest(script),
        "base-uri": "'none'",
        "form-action": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "'none'",
    }


def test_nothing_is_loaded_and_no_handler_stands_in_the_markup() -> None:
    for _, attributes in Elements(page(VIEW)).found:
        assert not {"src", "href", "style", "srcset", "action", "data"} & attributes.keys()
        assert not [name for name in attributes if name.startswith("on")]


def test_a_content_changes_nothing_but_the_data() -> None:
    messages = TALK["messages"]
    assert isinstance(messages, list)
    view, result = looked_at("qwen3", {**TALK, "messages": [*messages[:3], {"role": "user", "content": HOSTILE}]})
    assert HOSTILE in result.text
    shape = [(tag, attributes) for tag, attributes in Elements(page(VIEW)).found]
    assert [*Elements(page(view)).found] == shape
    assert "<" not in script_text(view)


def test_what_is_no_text_stays_readable() -> None:
    run = VIEW.execution
    odd = replace(
        VIEW,
        versions=(Fact("half", "\ud83d"),),
        execution=replace(
            run, tokens=(Token(1, b"\xe5\xa4", 0, False), Token(2, None, 0, True), Token(3, b"", 0, True))
        ),
    )
    text = page(odd)
    text.encode()
    data = json.loads(script_text(odd))
    assert data["versions"] == [["half", "\ud83d"]]
    assert data["executions"][0]["tokens"] == {
        "ids": [1, 2, 3],
        "spellings": [[0xE5, 0xA4], None, ""],
        "spelled": [0, 1, 2],
        "places": [0, 0, 0],
        "sampled": [1],
    }


def test_each_kind_has_its_colours_in_light_and_dark() -> None:
    [(_, style)] = Elements(page(VIEW)).of("style")
    light, dark = style.split("@media (prefers-color-scheme: dark)", 1)
    for kind in LOOKS:
        for name in (f"--{kind}:", f"--{kind}-ground:"):
            assert name in light
            assert name in dark
        assert re.search(rf"^\.{kind} {{", style, re.MULTILINE)


def test_the_command_writes_the_page(tmp_path: Path) -> None:
    request, target = tmp_path / "request.json", tmp_path / "page.html"
    request.write_text(json.dumps(long_talk(9, 300)))
    done = here(
        "inspect", "qwen3", str(request), "--policy", "chat8k", "--param", "enable_thinking=false", "-o", str(target)
    )
    assert (done.status, done.out, done.err) == (0, "", "")
    [(_, text)] = [
        one for one in Elements(target.read_text("utf-8")).of("script") if one[0].get("type") == "application/json"
    ]
    [run] = json.loads(text)["executions"]
    assert run["budget"]["policy"] == "chat8k@1"
    assert ["enable_thinking", "false"] in run["stages"][1]["facts"]
    assert any(message["left"] for message in run["messages"])


def test_the_same_request_gives_the_same_bytes(tmp_path: Path) -> None:
    pages = []
    for seed in ("1", "2"):
        target = tmp_path / f"{seed}.html"
        environment = {"PYTHONHASHSEED": seed, "LC_ALL": "C", "TZ": f"UTC{seed}"}
        done = katapi("inspect", "qwen3", "-o", str(target), stdin=json.dumps(TALK).encode(), env=environment)
        assert (done.status, done.err) == (0, "")
        pages.append(target.read_bytes())
    assert pages[0] == pages[1]


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("qwen3", "-o", "page.html"), 1, "R110"),
        (("qwen3",), 2, "--output"),
        (("gpt2", "-o", "page.html"), 1, "gpt2"),
        (("qwen3", "-o", "page.html", "--policy", "none"), 1, "B101"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_written(
    tmp_path: Path, arguments: tuple[str, ...], status: int, said: str
) -> None:
    role = "wizard" if said == "R110" else "user"
    done = here(
        "inspect", *arguments, stdin=b'{"messages": [{"role": "%s", "content": "hi"}]}' % role.encode(), cwd=tmp_path
    )
    assert done.status == status
    assert said in done.err
    assert not [*tmp_path.iterdir()]
