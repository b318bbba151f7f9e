"""Templates made of few words, compiled: what an arm does that looks far, and texts without control tokens."""

from __future__ import annotations

import atexit
import shutil
import sys
import tempfile
from functools import cache
from importlib import import_module
from pathlib import Path

from katapi.compile import analyse_spec, compile_program
from katapi.declared_artifacts import DeclaredArtifacts
from katapi.project import Project
from katapi.runtime.model import Model
from katapi.runtime.request_model import RequestModel
from tests.specs import whole

HEAD = """vocabulary Odd version "1" {
  control {
    0 @start "<start>"
    1 @end "<end>"
  }
  text {
    2 "a"
    3 "b"
    4 "0"
    5 "1"
    6 "aa"
    7 "ab"
    8 "aba"
    9 "b0"
    10 "0a"
    11 " "
    12 "aaaa"
  }
  unknown 13 "<unk>"
}

tokenizer Odd version "1" over Odd {
  unicode: patterns "16.0"
  normalize: none
  pretokenize: `[^ ]+|[ ]+` isolated
  segment: longest_match
  post: none
  decode: concat
}

request Odd version "1" {
  bytes: utf8 strict
  depth: 16

  role system, user { content: text }
  role assistant {
    content: text
    ignore tool_calls: [call]?
  }
  role tool {
    content: text
    ignore tool_call_id: text?
  }
  role note {
    content: text
    marks: [text]?
    more: [text]?
    name: text?
    data: json
  }
  record call { id: text }
}

template Odd version "1" for Odd {
  BOUNDARIES
  FIRST
  each m in messages {
ARMS
  }
  generate { GENERATE }
}
"""
ARMS = {
    "user": "@start m.content @end",
    "assistant": "@start sampled { m.content @end }",
    "tool": "@start m.content @end",
    "system": "@start m.content @end",
    "note": "drop m m.content",
}


def template(first: str = "", arms: dict[str, str] | None = None, generate: str = "@start", accept: str = "") -> str:
    """A spec with these arms beside the usual ones; one that is empty is left out. Texts of `accept` are boundaries."""
    lines = [f"    when {role} {{ {body} }}" for role, body in {**ARMS, **(arms or {})}.items() if body]
    boundaries = "\n".join(f'  boundary "{text}": accept' for text in accept.split())
    text = HEAD.replace("ARMS", "\n".join(lines)).replace("GENERATE", generate)
    return text.replace("  BOUNDARIES\n", boundaries + "\n").replace("FIRST", first)


@cache
def model_of_text(name: str, text: str) -> Model[RequestModel]:
    """The model of a spec that is given as text; `name` is that of its file and of its package."""
    project = _project()
    path = project.spec / f"{name}.kata"
    path.write_text(text, encoding="utf-8")
    (program,) = map(whole, analyse_spec(project, path))
    for file, data in compile_program(program, project, DeclaredArtifacts(project)).items():
        target = project.generated / file
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    model = import_module(f"{project.package}.{program.package}").MODEL
    assert isinstance(model, Model)
    return model


@cache
def _project() -> Project:
    """A project in a temporary folder, which is on the import path."""
    folder = Path(tempfile.mkdtemp(prefix="katapi-odd-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    project = Project(folder, folder / "spec", folder, "odd_models")
    project.spec.mkdir()
    (folder / project.package).mkdir()
    (folder / project.package / "__init__.py").write_text("", encoding="utf-8")
    sys.path.insert(0, str(folder))
    return project
