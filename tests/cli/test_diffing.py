"""`katapi diff` and `katapi foreign`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import katapi
from katapi.runtime.stages import Stage
from tests.command import here

REQUEST = '{"messages": [{"role": "user", "content": "café au lait"}]}'


def recorded(folder: Path, name: str, request: str, *arguments: str, model: str = "qwen3") -> str:
    file = folder / f"{name}.pack"
    done = here("record", model, "-o", str(file), *arguments, stdin=request.encode())
    assert done.status == ("holds all up to the" in done.err)
    return str(file)


def test_two_executions_that_agree(tmp_path: Path) -> None:
    one, other = recorded(tmp_path, "a", REQUEST), recorded(tmp_path, "b", REQUEST)
    done = here("diff", one, other)
    assert (done.status, done.err) == (0, "")
    first, _, heading, *rows = done.out.splitlines()
    assert first == "a.pack and b.pack agree"
    assert heading.split() == ["stage", "difference", "where"]
    assert [row.split() for row in rows] == [[stage.value, "same"] for stage in Stage]


def test_two_executions_that_part(tmp_path: Path) -> None:
    one, other = recorded(tmp_path, "a", REQUEST), recorded(tmp_path, "other", REQUEST.replace("é", "e\u0301"))
    done = here("diff", one, other)
    assert (done.status, done.err) == (1, "")
    assert done.out.splitlines()[:6] == [
        "a.pack and other.pack part at the stage bytes: composed and decomposed characters",
        "            --> byte 46, messages[0].content, character 3",
        "  a.pack     | café au lait",
        '             |    ^ "é" U+00E9 LATIN SMALL LETTER E WITH ACUTE',
        "  other.pack | cafe\u0301 au lait",
        '             |    ^ "e\u0301" U+0065 LATIN SMALL LETTER E, U+0301 COMBINING ACUTE ACCENT',
    ]
    rows = [row.split()[:2] for row in done.out.splitlines()[8:]]
    assert [stage for stage, said in rows if said == "different"] == ["bytes", "request", "rendered"]


def test_the_carets_stand_below_wide_characters(tmp_path: Path) -> None:
    one = recorded(tmp_path, "a", REQUEST.replace("café au lait", "天空 a"))
    other = recorded(tmp_path, "b", REQUEST.replace("café au lait", "天空\u3000a"))
    shown = here("diff", one, other).out.splitlines()
    assert shown[3] == '         |     ^ " " U+0020 SPACE'
    assert shown[4] == "  b.pack | 天空\\u3000a"
    assert shown[5] == '         |     ^^^^^^ "\\u3000" U+3000 IDEOGRAPHIC SPACE'


def test_a_failure_of_the_table_is_told(tmp_path: Path) -> None:
    tools = ',"tools": [{"type": "function", "function": {"name": "f", "parameters": {"a": 1, "b": 2}}}]}'
    one = recorded(tmp_path, "a", REQUEST[:-1] + tools)
    other = recorded(tmp_path, "b", REQUEST[:-1] + tools.replace('"a": 1, "b": 2', '"b": 2, "a": 1'))
    shown = here("diff", one, other).out.splitlines()
    assert shown[0] == "a.pack and b.pack part at the stage bytes: the order of keys"
    assert "  failure of table 1.10: the fields of a schema are walked in an order that is not stable" in shown
    found = json.loads(here("diff", one, other, "--json").out)
    assert (found["failure"], found["first"], found["same"]) == ("SCHEMA_ORDER", "bytes", False)
    assert found["stages"][1]["difference"] == {
        "kind": "the order of keys",
        "where": "tools[0].function.parameters",
        "first": '"a", "b"',
        "second": '"b", "a"',
    }


def test_an_execution_that_failed(tmp_path: Path) -> None:
    one = recorded(tmp_path, "a", REQUEST)
    other = recorded(tmp_path, "b", REQUEST.replace("user", "wizard"))
    done = here("diff", one, other)
    assert done.status == 1
    assert (
        '  b.pack ended at the stage request: R110 at messages[0].role: unknown role "wizard"' in done.out.splitlines()
    )
    rows = done.out.splitlines()[-9:]
    assert rows[0].startswith("request    different  an error")
    assert "R110 at messages[0].role" in rows[0]
    assert rows[-1].split() == ["tensors", "different", "an", "error", "not", "reached:", "R110"]


def test_the_place_of_contents_that_are_redacted(tmp_path: Path) -> None:
    one = recorded(tmp_path, "a", REQUEST, "--redact")
    other = recorded(tmp_path, "b", REQUEST.replace("au", "ou"), "--redact")
    shown = here("diff", one, other).out.splitlines()
    assert shown[1].strip() == "--> sha256"
    assert shown[4] == "  in the request: another value at messages[0].content"


def test_models_that_take_another_request(tmp_path: Path) -> None:
    asked = REQUEST[:-1] + ', "enable_thinking": false}'
    one, other = recorded(tmp_path, "a", asked), recorded(tmp_path, "b", asked, model="qwen2.5")
    assert here("diff", one, other).out.splitlines()[:5] == [
        "a.pack and b.pack part at the stage request: an error",
        "  a.pack | came further",
        '  b.pack | R111 at enable_thinking: unknown parameter "enable_thinking"',
        "  a.pack is of the model qwen3, b.pack of qwen2.5",
        "",
    ]


@pytest.mark.parametrize("arguments", [("nothing.pack", "nothing.pack"), ("nothing.pack",), ()])
def test_usage(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    assert here("diff", *arguments, cwd=tmp_path).status == 2


def test_a_file_that_is_no_pack(tmp_path: Path) -> None:
    (tmp_path / "x.pack").write_text("{}")
    done = here("diff", recorded(tmp_path, "a", REQUEST), str(tmp_path / "x.pack"))
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith(f"katapi: replay error Y100 at {tmp_path / 'x.pack'}, byte 0: ")


def test_a_difference_that_the_model_never_saw(tmp_path: Path) -> None:
    shown = here("diff", recorded(tmp_path, "a", REQUEST), recorded(tmp_path, "b", REQUEST + " ")).out.splitlines()
    assert "  what the model received is the same: ids, mask and positions" in shown
    other = recorded(tmp_path, "c", REQUEST.replace("lait", "lent"))
    assert "what the model received" not in here("diff", str(tmp_path / "a.pack"), other).out


def test_names_that_command_the_terminal(tmp_path: Path) -> None:
    one, other = recorded(tmp_path, "a", REQUEST), recorded(tmp_path, "\x1b[2J", REQUEST.replace("au", "\u202eau"))
    shown = here("diff", one, other).out
    assert "\x1b" not in shown
    assert "\u202e" not in shown


# ---- other systems


def test_a_text_ids_and_a_reply_of_vllm(tmp_path: Path) -> None:
    ours = recorded(tmp_path, "ours", REQUEST)
    prompt = katapi.load("qwen3").assemble(REQUEST.encode())
    ids = prompt.input_ids.tolist()
    text = katapi.load("qwen3").render(prompt.request).text
    for known, data in (
        ("text", text),
        ("ids", json.dumps(ids)),
        ("ids", " ".join(map(str, ids))),
        ("vllm", json.dumps({"count": len(ids), "max_model_len": 8, "tokens": ids})),
    ):
        theirs = str(tmp_path / "theirs.pack")
        done = here("foreign", known, "-", "-o", theirs, stdin=data.encode())
        assert (done.status, done.out, done.err) == (0, "", "")
        done = here("diff", ours, theirs)
        told = "rendered" if known == "text" else "ids"
        first, unknown = done.out.splitlines()[:2]
        assert (done.status, first) == (0, f"ours.pack and theirs.pack agree in all that is known of both: {told}")
        assert unknown.startswith("  not known of both: bytes, request, ")


def test_tokens_that_differ_are_shown_as_text(tmp_path: Path) -> None:
    ours, theirs = recorded(tmp_path, "ours", REQUEST), str(tmp_path / "theirs.pack")
    prompt = katapi.load("qwen3").assemble(REQUEST.encode()).input_ids.tolist()
    assert here("foreign", "ids", "-", "-o", theirs, stdin=json.dumps([*prompt[:-1], 0]).encode()).status == 0
    shown = here("diff", ours, theirs).out.splitlines()
    assert shown[2:4] == ['  ours.pack   | 198 "\\n"', '  theirs.pack | 0 "!"']
    assert shown[4] == '  behind "<|im_start|>user\\ncafé au lait<|im_end|>\\n<|im_start|>assistant"'
    assert shown[5].startswith("  it may have arisen before; not known of both: bytes, request")


def test_tokens_that_one_of_them_lacks_are_shown_as_text(tmp_path: Path) -> None:
    ours, theirs = recorded(tmp_path, "ours", REQUEST), str(tmp_path / "theirs.pack")
    prompt = katapi.load("qwen3").assemble(REQUEST.encode()).input_ids.tolist()
    assert here("foreign", "ids", "-", "-o", theirs, stdin=json.dumps(prompt[:-3]).encode()).status == 0
    assert here("diff", ours, theirs).out.splitlines()[2] == '  ours.pack   | 151644 "<|im_start|>" and 2 more'


def test_a_control_token_that_a_content_spells(tmp_path: Path) -> None:
    ours = recorded(tmp_path, "ours", REQUEST.replace("au lait", "<|im_end|>"))
    theirs, model = str(tmp_path / "theirs.pack"), katapi.load("qwen3")
    ids = [*model.assemble(REQUEST.encode()).input_ids.tolist()[:4], 151645, 0]
    assert here("foreign", "ids", "-", "-o", theirs, stdin=json.dumps([*ids, 151645, 151645]).encode()).status == 0
    said = "  messages[0].content spells <|im_end|>: text in ours.pack; theirs.pack has 2 more of that token"
    assert said in here("diff", ours, theirs).out.splitlines()


def test_what_is_unknown_of_both_is_told(tmp_path: Path) -> None:
    one, other = str(tmp_path / "a.pack"), str(tmp_path / "b.pack")
    assert here("foreign", "ids", "-", "-o", one, stdin=b"1 2").status == 0
    assert here("foreign", "text", "-", "-o", other, "--model", "qwen3", "--source", "x", stdin=b"a").status == 0
    done = here("diff", one, other)
    assert (done.status, done.out.splitlines()[0]) == (0, "a.pack and b.pack agree: but no stage is known of both")
    pack = katapi.read_pack(Path(other))
    assert (pack.model, pack.source) == ("qwen3", "x")


@pytest.mark.parametrize(
    ("known", "data", "code"),
    [
        ("ids", b"1 x", "Y122"),
        ("ids", b"-1", "Y122"),
        ("ids", b"\xff", "Y122"),
        ("text", b"\xff", "Y122"),
        ("vllm", b"{}", "Y121"),
        ("ids", b"[1 2", "Y122"),
        ("ids", "١".encode(), "Y122"),
    ],
)
def test_what_is_no_text_and_no_ids(tmp_path: Path, known: str, data: bytes, code: str) -> None:
    done = here("foreign", known, "-", "-o", str(tmp_path / "x.pack"), stdin=data)
    assert (done.status, code in done.err) == (1, True)
    assert not (tmp_path / "x.pack").exists()


def test_transformers_needs_a_tokenizer(tmp_path: Path) -> None:
    theirs = str(tmp_path / "theirs.pack")
    assert here("foreign", "transformers", "-", "-o", theirs, stdin=b"{}").status == 2
    assert here("foreign", "ids", "-", "-o", theirs, "--tokenizer", str(tmp_path), stdin=b"1").status == 2
    done = here("foreign", "transformers", "-", "-o", theirs, "--tokenizer", str(tmp_path), stdin=b"{}")
    assert (done.status, "Y123" in done.err) == (1, True)


def test_a_pack_of_another_system_is_not_replayed(tmp_path: Path) -> None:
    theirs = str(tmp_path / "theirs.pack")
    assert here("foreign", "ids", "-", "-o", theirs, stdin=b"1").status == 0
    done = here("replay", theirs)
    assert (done.status, done.out) == (1, "")
    assert "Y112" in done.err
    assert here("foreign", "ids", "-", stdin=b"1").status == 2
