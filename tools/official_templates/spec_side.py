"""What a spec prints for a request: its generated code, made anew from the .kata file as it stands, without a build.

No vocabulary is needed: the text of a rendering does not depend on it.
"""

from __future__ import annotations

import importlib
import json
import re
import sys
import tempfile
from pathlib import Path

from katapi.compile import analyse_spec
from katapi.emit.renderer import emit_renderer
from katapi.emit.request import emit_request
from katapi.emit.vocabulary import emit_vocabulary
from katapi.model.program import Program, TokenizerProgram
from katapi.model.request import Request as RequestRules
from katapi.model.types import ListType, OptionalType, TaggedType, Type, UnionType
from katapi.project import find_project
from katapi.runtime.budget.reach import Unbounded
from katapi.runtime.budget.starts import Starts
from katapi.runtime.errors import KatapiError, RequestError
from katapi.runtime.json_types import JsonObject
from katapi.runtime.model import Model, Unreadable
from katapi.runtime.record import Identity, TokenizerParts
from katapi.runtime.request_model import RequestModel
from katapi.runtime.tokenization.interface import Tokenizer
from tools.official_templates.environment import Outcome
from tools.official_templates.places import NotFound

_PACKAGE = "katapi_side_by_side"


class SpecSide:
    """One spec, compiled into a temporary package."""

    def __init__(self, path: Path, model: str | None) -> None:
        """The spec of one model of a file; without a name, of its only one. Raises NotFound where it is not there."""
        programs = [p for p in analyse_spec(find_project(path.parent), path.resolve()) if isinstance(p, Program)]
        names = [program.name for program in programs]
        if model is None and len(names) != 1:
            raise NotFound(f"{path} has the models {', '.join(names) or 'none'}; name one: {path}#NAME")
        if model is not None and model not in names:
            raise NotFound(f"{path} has no model {model}; it has {', '.join(names) or 'none'}")
        self.program: Program = programs[0 if model is None else names.index(model)]
        self._model = _compiled(self.program)

    def render(self, request: JsonObject) -> Outcome:
        """The text, or the refusal with its code."""
        try:
            return Outcome(self._model.render(json.dumps(request).encode()).text)
        except KatapiError as error:
            # A place in the spec moves with every line above it; what the spec says there does not.
            about = error.where if isinstance(error, RequestError) else error.message
            return Outcome(None, str(error), f"{error.code} {re.sub(r'[0-9]+', '', about)}".strip())


def separators_of(request: RequestRules) -> dict[str, str | None]:
    """What stands between the parts of a content, by role, None where it has no parts; `""` are roles not declared."""
    by_role: dict[str, str | None] = {}
    for role in request.roles:
        content = role.field("content")
        parts = content is not None and (content.separator is not None or _is_list(content.type))
        by_role["" if role.open else role.name] = (content.separator or "") if content and parts else None
    return by_role


def _is_list(of: Type) -> bool:
    """Whether a content may be a list of parts that are told apart by their types."""
    match of:
        case OptionalType(item=item):
            return _is_list(item)
        case UnionType(list=ListType(item=item)):
            return isinstance(item, TaggedType)
        case _:
            return False


def spec_of(model: str, folder: Path) -> Path:
    """The .kata file in a folder that has a model of a name. Raises NotFound."""
    for path in sorted(folder.rglob("*.kata")):
        named = re.findall(r'^model "([^"]+)"', path.read_text(encoding="utf-8"), re.MULTILINE)
        if model in (named or [path.stem]):
            return path
    raise NotFound(f"no spec in {folder} has the model {model}")


def _compiled(program: Program) -> Model[RequestModel]:
    folder = Path(tempfile.mkdtemp(prefix="katapi-side-by-side-"))
    own = f"{_PACKAGE}.{program.package}"
    lender: TokenizerProgram = program
    while lender.lender is not None:
        lender = lender.lender
    texts = {
        f"{_PACKAGE}/{lender.package}/vocabulary.py": emit_vocabulary(lender),
        f"{_PACKAGE}/{program.package}/request.py": emit_request(program),
        f"{_PACKAGE}/{program.package}/renderer.py": emit_renderer(program, own),
    }
    for name, text in texts.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    sys.path.insert(0, str(folder))
    renderer = importlib.import_module(f"{own}.renderer")
    request = importlib.import_module(f"{own}.request")
    return Model(
        name=program.name,
        source=program.source.name,
        template=Identity(program.title, ""),
        request_rules=Identity(program.title, ""),
        tokenizer_identity=Identity(program.title, ""),
        tokenizer_parts=TokenizerParts(configuration="", vocabulary="", controls=""),
        request_type=request.Request,
        invalid_utf8="replace" if program.request.replace_invalid else "strict",
        max_depth=program.request.depth,
        budgets={},
        _starts=Starts(),
        _render=renderer.render,
        _reach=Unbounded(program.source.name, "budgets are not compared"),
        _reply=Unreadable(program.source.name, "replies are not compared"),
        _tokenizer=_no_tokenizer,
    )


def _no_tokenizer() -> Tokenizer:
    raise NotImplementedError("texts are compared, not ids")
