"""Records and `def`s that a file shares with those that use it."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import katapi
from katapi.analyse import Load, UseError, analyse
from katapi.language.diagnostics import SpecError
from katapi.language.printer import canonical as canonical_text
from katapi.language.printer import format_source
from katapi.language.source import Source
from katapi.model.program import Library, Program
from katapi.oracle.render import render
from katapi.oracle.request import canonical
from katapi.runtime.errors import TemplateError
from katapi.runtime.json_types import Json
from katapi.runtime.segments import ControlSegment, LiteralSegment
from tests.command import ROOT, here

BOOK = (ROOT / "spec" / "book.kata").read_text(encoding="utf-8")
MODEL = (
    BOOK.replace("{ content: text }", "{ parts: [part] }")
    .replace("@user m.content", "@user every(m.parts)")
    .replace("{ m.content }", "{ every(m.parts) }")
    .replace("@system m.content", "@system every(m.parts)")
)
RECORD = "record part { text: text }\n"
ALL = "def every(parts: [part]) {\n  each p in parts { one(p) }\n}\n"
ONE = 'def one(p: part) { "天" p.text }\n'
PARTS = f"# Parts of a content.\n{RECORD}\n{ALL}\n{ONE}\ndef never(text: text) {{ @nowhere text }}\n"
USED = f'use "parts.kata"\n\n{MODEL}'
REQUEST: Json = {
    "messages": [{"role": "user", "parts": [{"text": "空"}, {"text": "蓝"}]}],
    "add_generation_prompt": True,
}


def loaded(files: dict[str, str], name: str = "one.kata") -> tuple[Library, ...]:
    """What one of some files declares."""

    def load(used: str) -> tuple[str, Source, Load]:
        if used not in files:
            raise UseError("there is no such file")
        return Path(used).stem, Source(used, files[used]), load

    return analyse(Path(name).stem, Source(name, files[name]), load)


def program(files: dict[str, str]) -> Program:
    (one,) = loaded(files)
    assert isinstance(one, Program)
    return one


def meaning(one: Program) -> list[str]:
    """The declarations without their places, of which digests are taken."""
    return [canonical_text(declaration) for declaration in one.file.declarations]


def failure(files: dict[str, str], name: str = "one.kata") -> str:
    with pytest.raises(SpecError) as caught:
        loaded(files, name)
    return str(caught.value)


def codes(files: dict[str, str]) -> list[str]:
    return [line[6:10] for line in failure(files).splitlines() if line.startswith("error[")]


def test_what_is_shared_means_what_it_would_in_the_file_itself() -> None:
    shared = program({"one.kata": USED, "parts.kata": PARTS})
    own = MODEL.replace("  role system", f"  {RECORD}  role system").replace("  @bos\n", f"  {ALL}{ONE}  @bos\n")
    alone = program({"one.kata": own})
    assert meaning(shared) == meaning(alone)
    rendered = [render(one, canonical(one, REQUEST)) for one in (shared, alone)]
    assert [s.text for s in rendered[0].segments] == [s.text for s in rendered[1].segments]
    assert "天空天蓝" in "".join(s.text for s in rendered[0].segments)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A project with a model that uses a shared file."""
    (tmp_path / "pyproject.toml").write_text('[tool.katapi]\nspec = "spec"\ngenerated = "gen"\npackage = "sharing"\n')
    (tmp_path / "spec" / "inner").mkdir(parents=True)
    (tmp_path / "spec" / "parts.kata").write_text(PARTS, encoding="utf-8")
    model = USED.replace('"parts.kata"', '"../parts.kata"')
    (tmp_path / "spec" / "inner" / "one.kata").write_text(model, encoding="utf-8")
    (tmp_path / "gen").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path / "gen"))
    yield tmp_path
    for name in [name for name in sys.modules if name.split(".")[0] == "sharing"]:
        del sys.modules[name]


def test_generated_code_and_its_tokens_name_the_shared_file(folder: Path) -> None:
    assert here("build", cwd=folder).status == 0
    renderer = (folder / "gen" / "sharing" / "one" / "renderer.py").read_text(encoding="utf-8")
    assert '"""parts.kata:4 def every(parts)."""' in renderer
    assert "def _never" not in renderer
    request = (folder / "gen" / "sharing" / "one" / "request.py").read_text(encoding="utf-8")
    assert "The record `part` (line 2 of parts.kata)." in request
    result = katapi.load("one", "sharing").assemble(json.dumps(REQUEST).encode())
    places = {
        s.text: s.site for o in result.origins for s in o.segments if isinstance(s, ControlSegment | LiteralSegment)
    }
    assert places["天"] == (8, 20, "spec/parts.kata")
    assert places["<user>"].file is None
    assert not list((folder / "gen" / "sharing").glob("parts*"))


def test_generated_tests_tell_the_places_of_two_files_apart(folder: Path) -> None:
    assert here("build", cwd=folder).status == 0
    text = (folder / "gen" / "tests" / "test_one.py").read_text(encoding="utf-8")
    assert "own = [site for site in written if site.file is None]" in text


def test_files_of_one_name_in_several_folders_are_told_apart(folder: Path) -> None:
    spec = folder / "spec"
    names = ("a", "b", "c", "d", "e")
    for name in names:
        own = f'def of_{name}(t: text) {{ if t == "{name}" {{ reject "{name}" }} "same" t }}\n'
        (spec / name).mkdir(exist_ok=True)
        (spec / name / ("one.kata" if name == "a" else "parts.kata")).write_text(own, encoding="utf-8")
    uses = "".join(f'use "../{name}/{"one" if name == "a" else "parts"}.kata"\n' for name in names)
    calls = " ".join(f"of_{name}(m.content)" for name in names)
    model = f"{uses}\n{BOOK.replace('@user m.content', f'@user {calls}')}"
    (spec / "inner" / "one.kata").write_text(model, encoding="utf-8")
    assert here("build", cwd=folder).status == 0
    renderer = (folder / "gen" / "sharing" / "one" / "renderer.py").read_text(encoding="utf-8")
    constants = re.findall(
        r"^(\w+) = fixed\(LiteralSegment\(Literal\(\"same\"\), Site\(1, \d+, \"(.*)\"\)", renderer, re.MULTILINE
    )
    assert len({name for name, _ in constants}) == len({file for _, file in constants}) == len(names)
    assert 'where="spec/a/one.kata:1"' in renderer
    assert "# spec/inner/one.kata:" in renderer
    tests = (folder / "gen" / "tests" / "test_one.py").read_text(encoding="utf-8")
    assert all(f'"spec/{name}/' in tests[tests.index("REJECTIONS = ") :] for name in names)
    model_ = katapi.load("one", "sharing")
    for name in names:
        raw = json.dumps({"messages": [{"role": "user", "content": name}]}).encode()
        with pytest.raises(TemplateError) as caught:
            model_.render(raw)
        assert caught.value.where == f"spec/{name}/{'one' if name == 'a' else 'parts'}.kata:1"


def test_a_mistake_in_what_is_shared_is_told_with_its_place() -> None:
    text = failure({"one.kata": USED, "parts.kata": PARTS.replace('"天"', "@nowhere")})
    assert text.startswith("error[K102]")
    assert "--> parts.kata:8:20" in text
    assert "8 | def one(p: part) { @nowhere p.text }" in text


def test_each_mistake_in_a_block_text_is_told_with_its_place() -> None:
    text = '"""\n  ab ${p.nothing} c\n  é天 ${@nowhere} d\n  """'
    told = failure({"one.kata": USED, "parts.kata": PARTS.replace('"天"', text)})
    assert "--> parts.kata:9:10" in told
    assert "--> parts.kata:10:8" in told
    broken = text.replace("p.nothing", "p..nothing").replace("@nowhere", "@nowhere..")
    told = failure({"parts.kata": PARTS.replace('"天"', broken)}, "parts.kata")
    assert "--> parts.kata:9:10" in told
    assert "--> parts.kata:10:16" in told
    assert "help: expected `}`" in told


def test_what_no_template_needs_is_not_checked() -> None:
    assert loaded({"parts.kata": PARTS}, "parts.kata")[0].name == "parts"


def test_mistakes_on_equal_lines_of_two_files_are_both_told() -> None:
    broken = USED.replace("window: 64", "windows: 64")
    line = broken.splitlines().index("  windows: 64")
    parts = "\n" * (line - 7) + PARTS.replace('"天"', "@nowhere")
    text = failure({"one.kata": broken.replace("@bos\n", "@bos ?\n"), "parts.kata": parts})
    assert "K102" in text
    assert "K001" in text


def test_what_a_shared_file_asks_is_quoted_from_it() -> None:
    losing = ONE.replace('"天" p.text', 'let kept = text { p.text }  if kept.length > 3 { "天" kept }')
    text = failure({"one.kata": USED, "parts.kata": PARTS.replace(ONE, losing)})
    assert "where `kept.length > 3` is false" in text


def test_an_option_may_be_for_what_a_shared_file_has_that_cannot_be_used() -> None:
    family = 'option mark: text = "天"\nmodel "a" {}\n\n'
    files = {"one.kata": f'use "parts.kata"\n\n{family}{MODEL}', "parts.kata": PARTS.replace('"天"', "mark ?")}
    assert codes(files) == ["K119"]
    assert codes({"one.kata": files["one.kata"]}) == ["K119"]


def test_an_option_with_a_name_that_a_shared_part_gives_is_told_there_alone() -> None:
    for name, places in {"p": ["5:8", "8:9"], "every": ["4:5"]}.items():
        family = f'option {name}: text = "x"\nmodel "a" {{}}\nmodel "b" {{ {name}: "y" }}\n\n'
        files = {"one.kata": f'use "parts.kata"\n\n{family}{MODEL}', "parts.kata": PARTS}
        assert codes(files) == ["K107"] * len(places)
        text = failure(files)
        assert all(f"--> parts.kata:{place}" in text for place in places)
        assert "= first: one.kata:3:8" in text


def test_files_that_use_each_other_are_told_where_the_circle_is() -> None:
    files = {
        "one.kata": USED,
        "parts.kata": f'use "b.kata"\n{PARTS}',
        "b.kata": 'use "c.kata"\n',
        "c.kata": 'use "parts.kata"\n',
        "self.kata": 'use "self.kata"\n',
    }
    assert "`b.kata` cannot be used: it uses this file, by way of c.kata" in failure(files, "parts.kata")
    assert "`parts.kata` cannot be used: it uses this file, by way of b.kata" in failure(files, "c.kata")
    assert "`parts.kata` cannot be used: it has 1 error" in failure(files)
    assert "`self.kata` cannot be used: it is this file itself" in failure(files, "self.kata")


def test_a_shared_file_may_lie_outside_of_the_project(folder: Path) -> None:
    (folder / "spec" / "parts.kata").rename(folder / "parts.kata")
    inner = folder / "inside"
    inner.mkdir()
    for name in ("spec", "gen", "pyproject.toml"):
        (folder / name).rename(inner / name)
    model = inner / "spec" / "inner" / "one.kata"
    model.write_text(USED.replace('"parts.kata"', '"../../../parts.kata"'), encoding="utf-8")
    assert here("build", cwd=inner).status == 0
    renderer = (inner / "gen" / "sharing" / "one" / "renderer.py").read_text(encoding="utf-8")
    assert '"../parts.kata")' in renderer


def test_options_decide_in_shared_parts() -> None:
    family = 'option mark: text = "天"\nmodel "a" {}\nmodel "b" { mark: "空" }\n\n'
    files = {"one.kata": f'use "parts.kata"\n\n{family}{MODEL}', "parts.kata": PARTS.replace('"天"', "mark")}
    texts = []
    for one in loaded(files):
        assert isinstance(one, Program)
        texts.append("".join(s.text for s in render(one, canonical(one, REQUEST)).segments))
    assert "天空天蓝" in texts[0]
    assert "空空空蓝" in texts[1]


def test_shared_files_use_each_other_and_one_by_two_ways() -> None:
    files = {
        "one.kata": f'use "record.kata"\nuse "all.kata"\nuse "each.kata"\n\n{MODEL}',
        "record.kata": RECORD,
        "all.kata": f'use "record.kata"\nuse "each.kata"\n\n{ALL}',
        "each.kata": f'use "record.kata"\n\n{ONE}',
    }
    assert meaning(program(files)) == meaning(program({"one.kata": USED, "parts.kata": PARTS}))
    wrong = files | {"each.kata": f'use "record.kata"\n\n\n{ONE.replace("p.text", "p.nothing")}'}
    assert "--> each.kata:4:26" in failure(wrong)


OWN = MODEL.replace("  role system", f"  {RECORD}  role system")


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"one.kata": f'use "parts.kata"\nuse "more.kata"\n\n{MODEL}', "more.kata": ONE}, ["K107"]),
        ({"one.kata": USED, "parts.kata": PARTS + ONE}, ["K119"]),
        # The shared `def` needs the shared record, whose name means another one here.
        ({"one.kata": f'use "parts.kata"\n\n{OWN}'}, ["K107"]),
        ({"one.kata": USED.replace("  @bos\n", '  def one(t: text) { t }\n  @bos\n  one("x")\n')}, ["K107"]),
        ({"one.kata": f'use "parts.kata"\n\nmodel "a" {{}}\n{ONE}\n{MODEL}'}, ["K120", "K107"]),
        ({"one.kata": f'model "a" {{ use "parts.kata" }}\n\n{MODEL}'}, ["K119"]),
    ],
)
def test_what_is_refused(files: dict[str, str], found: list[str]) -> None:
    told = codes({"parts.kata": PARTS} | files)
    assert set(told) == set(found)


def test_a_record_of_its_own_goes_before_a_shared_one_that_nothing_else_needs() -> None:
    shared = f"{RECORD}\ndef never() {{ }}\n"
    own = OWN.replace("every(m.parts)", "each p in m.parts { p.text }")
    (record,) = program({"one.kata": f'use "parts.kata"\n\n{own}', "parts.kata": shared}).request.records
    assert record.span.start == f'use "parts.kata"\n\n{own}'.index("record part")


def test_the_printer_keeps_shared_parts() -> None:
    assert format_source(Source("parts.kata", PARTS)) == PARTS
    crowded = PARTS.replace("\n\n", "\n").replace("{ text: text }", "{text:text}")
    once = format_source(Source("parts.kata", crowded))
    assert format_source(Source("parts.kata", once)) == once
