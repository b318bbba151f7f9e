"""What `katapi check --stability` shows: a verdict for each model, question and setting of the parameters."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from katapi.cli.models import load_model
from katapi.cli.programs import programs_of_project, unknown
from katapi.cli.terminal import visible

if TYPE_CHECKING:
    from katapi.derive.stability import Verdict, Witness
    from katapi.model.program import Program
    from katapi.runtime.model import Model
    from katapi.runtime.request_model import RequestModel

_QUESTIONS = {
    "history": "history (ids of a conversation stay when it goes on)",
    "prompt": "prompt (ids of a prompt and its reply stay when the conversation goes on)",
}


def show_stability(names: Sequence[str]) -> None:
    """The verdicts of some models of the project at hand, or of Katapi's own where it is run in its repository."""
    from rich.console import Console

    from katapi.declared_artifacts import DeclaredArtifacts
    from katapi.derive.stability import verdicts
    from katapi.project import find_project

    project = find_project(Path.cwd())
    programs = programs_of_project()
    artifacts = DeclaredArtifacts(project)
    for name in names:
        program = programs.get(name)
        if program is None:
            raise unknown(name)
        model = load_model(name)
        typer.echo(f"{name}: {program.title}")
        with Console(stderr=True).status(f"looking for the smallest conversation of {name}"):
            found = list(verdicts(program, model, partial(artifacts.data_of, program)))
        for line in _lines(program, model, found):
            typer.echo(visible(line))


def _lines(program: Program, model: Model[RequestModel], found: Iterable[Verdict]) -> Iterator[str]:
    by_question = sorted(found, key=lambda verdict: verdict.question.value)
    for question, verdicts in groupby(by_question, key=lambda verdict: verdict.question):
        yield f"  {_QUESTIONS[question.value]}"
        groups: dict[tuple[object, ...], list[Verdict]] = {}
        for verdict in verdicts:
            shown = verdict.witness and (verdict.witness.conversation, verdict.witness.behind)
            groups.setdefault((verdict.stable, verdict.changes, repr(shown)), []).append(verdict)
        for alike in groups.values():
            yield from _verdict(program, model, alike[0], alike, whole=len(groups) == 1)


def _verdict(
    program: Program, model: Model[RequestModel], verdict: Verdict, alike: Sequence[Verdict], *, whole: bool
) -> Iterator[str]:
    settings = [", ".join(f"{k}={json.dumps(v)}" for k, v in one.setting.items()) for one in alike]
    where = "" if whole else " with " + " or ".join(settings)
    yield f"    {verdict.word}{where}"
    if verdict.stable is True:
        yield "      nothing that is printed depends on messages to come, and no token reaches into them"
    for change in verdict.changes:
        yield f"      {program.source.place(change.span.start)}: {change.cause}"
    if verdict.witness is not None:
        yield from _witness(model, verdict.witness)
    elif verdict.searched is None and program.vocabulary.artifact is not None:
        yield f"      the vocabulary is not at hand; `katapi fetch {program.vocabulary.artifact.name}` gets it"
    elif verdict.stable is None and verdict.searched is not None:
        yield f"      {verdict.searched - 1} small conversations show no difference"


def _witness(model: Model[RequestModel], witness: Witness) -> Iterator[str]:
    beginning = witness.beginning
    yield f"      {json.dumps(beginning, ensure_ascii=False)}"
    for message in witness.behind:
        yield f"      + {json.dumps(message, ensure_ascii=False)}"
    at = witness.parts_at(model)
    assert at is not None, "a witness shows a difference"
    was, is_now = (json.dumps(model.decode_text(ids[at : at + 3]), ensure_ascii=False) for ids in witness.ids(model))
    yield f"      from id {at} on: {was}, and then {is_now}"
