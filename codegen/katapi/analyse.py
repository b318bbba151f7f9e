"""The front half of the compiler: text → checked program, with every finding of the file at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from os.path import normpath
from pathlib import Path
from typing import TypeAlias

from katapi.check import check_program, check_tokenizer
from katapi.check.boundaries import unanswered
from katapi.language import syntax as s
from katapi.language.diagnostics import Diagnostic, SpecError
from katapi.language.parser import parse
from katapi.language.source import Source
from katapi.model.program import Library, Program, TokenizerProgram
from katapi.model.resolve import Used, resolve
from katapi.model.resolve.findings import Findings
from katapi.model.resolve.shared import check_place, with_shared
from katapi.model.resolve.variants import decided, declared_options, models_of

#: Findings about a declaration that is not there; where one could not be read, it may be that one.
_MISSING = ("K105", "K116")
#: Findings about a part of a declaration that is not there; it may be one that could not be read.
_INCOMPLETE = ("K109", "K111", "K704", "K705", "K707", "K801", "K806", "K807")
#: Findings about a name that is not declared; where a part without a name could not be read, that may be it.
_UNKNOWN = ("K101", "K102", "K103", "K104", "K106", "K115")
#: Findings about what is not used; what could not be read may use it.
_UNUSED = ("K310", "K407", "K503")


#: The name of a file and its text, by the path that `use` gives; raises `UseError` where there is none.
Load: TypeAlias = Callable[[str], "tuple[str, Source, Load]"]


class UseError(Exception):
    """A file that another one uses cannot be had; the text says why."""


class _Circle(UseError):
    """Files of which each uses the next, and the last one the first."""

    def __init__(self, names: tuple[str, ...]) -> None:
        way = f", by way of {', '.join(names[2:])}" if names[2:] else ""
        super().__init__(f"it uses this file{way}" if names[1:] else "it is this file itself")
        self.first = names[0]


def no_files(path: str) -> tuple[str, Source, Load]:
    """For sources that stand alone."""
    raise UseError("this text stands alone, and has no files beside it")


def load_beside(path: Path, read: Callable[[Path], Source]) -> Load:
    """What gives the files that the spec in `path` uses, by their paths seen from it; `read` gives the text of one."""

    def load(used: str) -> tuple[str, Source, Load]:
        target = Path(normpath(path.parent / used))
        if not target.is_file():
            raise UseError("there is no such file")
        return target.stem, read(target), load_beside(target, read)

    return load


def analyse(name: str, source: Source, load: Load = no_files) -> tuple[Library, ...]:
    """What a file declares: a `Program`, a `TokenizerProgram` where it has no template, else only a `Library`.

    A file that names several models gives one for each of them. `name` is that of a file which names none, `load` gives
    the files that it uses. Raises SpecError with all findings of the file.

    What has a mistake in it hides nothing else: names, types and checks are told as far as they do not need it. Of a
    line that cannot be read nothing else is told.
    """
    return _analysed(name, source, load, (source.name,))


def _analysed(name: str, source: Source, load: Load, above: tuple[str, ...]) -> tuple[Library, ...]:
    file, unread = parse(source)
    of_uses = Findings()
    used = [_used(use, load, above, of_uses) for use in file.uses]
    check_place(file, of_uses)
    source, file = with_shared(source, file, [other for other in used if other is not None], of_uses)
    own = Findings(file.unread)
    options = declared_options(file, own)
    programs: list[Library | None] = []
    of_models: dict[str, list[Diagnostic]] = {}
    for model in models_of(file):
        findings = Findings()
        one = decided(file, model, options, own, findings)
        title = name if model is None else model.name
        of_model = [] if model is None else [_used_by_model(use, load, above, findings) for use in model.uses]
        program, found = _resolved(title, source, one, [*used, *of_model], findings, whole=not unread)
        programs.append(program)
        of_models[title] = [f for f in found if not _may_be_unread(f, one, unread)]
    of_options = [f for f in dict.fromkeys(own.diagnostics) if not _may_be_unread(f, file, unread)]
    if None in used:
        of_options = [f for f in of_options if f.code not in _UNUSED]
    undecided = any(f.code not in _UNUSED for f in of_options)
    found = of_uses.diagnostics + of_options + _merged(of_models, common=undecided)
    lines = {_line(source, f) for f in unread}
    diagnostics = unread + [f for f in found if _line(source, f) not in lines]
    whole = tuple(program for program in programs if program is not None)
    if diagnostics or len(whole) < len(programs):
        raise SpecError(source, diagnostics)
    return whole


def _line(source: Source, finding: Diagnostic) -> tuple[str, int]:
    """The file and the line of a finding."""
    file, line, _ = source.place(finding.span.start)
    return file, line


def _resolved(
    name: str, source: Source, file: s.File, used: Sequence[Used | None], findings: Findings, *, whole: bool
) -> tuple[Library | None, list[Diagnostic]]:
    """One model: what it is, as far as it has a meaning, and all that is wrong with it.

    What only a sound program tells is told where nothing else is wrong, and the `whole` file could be read.
    """
    there = [other for other in used if other is not None]
    program = resolve(name, source, file, findings, there) if len(there) == len(used) else None
    found = [*findings.diagnostics]
    if isinstance(program, Program):
        found += [finding for finding in check_program(program) if not _follows(finding, findings.diagnostics)]
        if whole and not found:
            found += unanswered(program)
    elif isinstance(program, TokenizerProgram):
        found += check_tokenizer(program)
    return program, found


def _follows(finding: Diagnostic, others: list[Diagnostic]) -> bool:
    """Whether a test has only one outcome because of a mistake in it."""
    span = finding.span
    return finding.code == "K214" and any(span.start <= f.span.start and f.span.end <= span.end for f in others)


def _merged(of_models: dict[str, list[Diagnostic]], *, common: bool) -> list[Diagnostic]:
    """The findings of all models of a file, each once; one that not every model has says which do.

    What one model does not use may be for another. Where options have mistakes only what is `common` to all is sure.
    """
    owners: dict[Diagnostic, list[str]] = {}
    for model, diagnostics in of_models.items():
        for finding in diagnostics:
            owners.setdefault(finding, []).append(model)
    out: list[Diagnostic] = []
    for finding, models in owners.items():
        if len(models) == len(of_models):
            out.append(finding)
        elif not common and finding.code not in _UNUSED:
            names = ", ".join(f"`{model}`" for model in models)
            message = f"{finding.message} (in the model{'s' if len(models) > 1 else ''} {names})"
            out.append(replace(finding, message=message))
    return out


def _used(use: s.Use, load: Load, above: tuple[str, ...], findings: Findings) -> Used | None:
    """A file that another one uses, or None after a finding."""
    try:
        name, source, beside = load(use.path)
        if source.name in above:
            raise _Circle(above[above.index(source.name) :])
        program, *others = _analysed(name, source, beside, (*above, source.name))
    except UseError as error:
        if isinstance(error, _Circle) and error.first != above[-1]:
            raise  # it is told of the file where it begins
        findings.add("K119", use.span, f"`{use.path}` cannot be used: {error}")
    except SpecError as error:
        count = len(error.diagnostics)
        message = f"`{use.path}` cannot be used: it has {count} error{'s' if count > 1 else ''}"
        findings.add("K119", use.span, message, help=f"`katapi check` of {error.source.name} shows them")
    else:
        if others or isinstance(program, Program):
            findings.add("K119", use.span, f"`{use.path}` cannot be used: it is a whole model")
            return None
        return Used(use.span, program)
    return None


def _used_by_model(use: s.Use, load: Load, above: tuple[str, ...], findings: Findings) -> Used | None:
    """A file that one model of a family uses: options decide what differs in the rest, so it shares no parts of it."""
    used = _used(use, load, above, findings)
    if used is not None and any(not isinstance(node, s.Formula) for node in used.program.file.shared):
        message = f"`{use.path}` cannot be used by one model: it shares records or `def`s"
        findings.add("K119", use.span, message, help="use it at the beginning of the file, for all of its models")
        return None
    return used


def _may_be_unread(finding: Diagnostic, file: s.File, unread: list[Diagnostic]) -> bool:
    """Whether what is missing may be what could not be read."""
    if finding.code in _MISSING or finding.code in _UNUSED:
        return bool(unread)
    if finding.code in _UNKNOWN:
        return file.nameless
    if finding.code == "K117":
        if not any(isinstance(d, s.Vocabulary) for d in file.declarations):
            return bool(unread)
        return any(isinstance(d, s.Vocabulary) and _holds(d, error) for d in file.declarations for error in unread)
    declared = (*file.declarations, *file.shared)
    own = {type(d) for d in declared if _holds(d, finding)}
    return finding.code in _INCOMPLETE and any(
        type(d) in own and _holds(d, error) for d in declared for error in unread
    )


def _holds(declaration: s.Declaration | s.Shared, finding: Diagnostic) -> bool:
    return declaration.span.start <= finding.span.start < declaration.span.end
