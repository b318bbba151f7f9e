"""Whether two templates can print different things, and the smallest request that shows it.

Templates whose declarations mean the same, whatever they are called, are the same by proof. Otherwise small requests
are rendered by both, directly from the declarations. What is compared is what is printed: control tokens by their
spelling, and the text between them; so templates over two vocabularies can be compared as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal, TypeAlias

from katapi.derive.conversations import needles, requests, value, variants
from katapi.derive.stability import settings
from katapi.language import syntax as s
from katapi.language.printer import canonical as printed
from katapi.language.source import Span
from katapi.model.program import Program, offered
from katapi.oracle.render import render
from katapi.oracle.request import canonical
from katapi.runtime.errors import KatapiError, RequestError
from katapi.runtime.json_types import Json
from katapi.runtime.segments import ContentSegment, ControlSegment, Path, Segment, Site

_MOST_MESSAGES = 4
_MOST_REQUESTS = 20_000
_SHOWN = 40

Origin: TypeAlias = Site | Path
"""What printed something: a place of the spec, or of the request."""


@dataclass(frozen=True)
class Printed:
    """What a template prints from where it differs from another, and what printed the first of it."""

    kind: Literal["control", "text", "nothing", "refused"]
    """What stands there: a control token, a character, or nothing more; or that the template refuses the request."""
    text: str
    """What is printed from there on, up to forty tokens and characters; why it is refused."""
    origin: Origin | None = None


@dataclass(frozen=True)
class Difference:
    """A request on which two templates differ, and what each prints from there on."""

    request: dict[str, Json]
    first: Printed
    second: Printed


@dataclass(frozen=True)
class Comparison:
    """What is known of two templates: the same by proof, or a difference, or none among so many small requests."""

    same: bool
    difference: Difference | None
    searched: int


def compare(first: Program, second: Program) -> Comparison:
    """Compares two templates. One that only one side refuses counts where nothing else differs."""
    if _meaning(first) == _meaning(second):
        return Comparison(True, None, 0)
    refusal: Difference | None = None
    searched = 0
    for searched, request in enumerate(_small_requests(first, second), start=1):
        difference = _difference(first, second, request)
        if difference is not None and "refused" not in (difference.first.kind, difference.second.kind):
            return Comparison(False, difference, searched)
        refusal = refusal or difference
        if searched == _MOST_REQUESTS:
            break
    return Comparison(False, refusal, searched)


def _meaning(program: Program) -> list[str]:
    """The declarations that a rendering depends on, without their names and versions."""
    nowhere = Span(0, 0)
    out: list[str] = []
    for declaration in program.file.declarations:
        if isinstance(declaration, s.Request | s.Template):
            if isinstance(declaration, s.Template):
                parts = tuple(part for part in declaration.parts if not _is_accepted(part))
                declaration = replace(declaration, parts=parts)
            nameless = replace(declaration.header, name=s.Name("X", span=nowhere), version="")
            out.append(printed(replace(declaration, header=nameless)).split("{", 1)[1])
    controls = [f"{control.name} {control.spelling}" for control in program.vocabulary.controls]
    known = {str(replace(one, span=nowhere)) for library in offered(program) for one in library.serializations}
    return [*out, *sorted(known), *sorted(controls)]


def _is_accepted(part: s.TemplatePart) -> bool:
    """Whether a part says nothing but that contents may spell a boundary."""
    return isinstance(part, s.Boundary) and part.answer.kind is s.AnswerKind.ACCEPT


def _small_requests(first: Program, second: Program) -> Iterator[dict[str, Json]]:
    """Requests that both may know, the smaller ones first."""
    roles = [role.name for role in first.request.roles if not role.open and second.request.role(role.name) is not None]
    texts = dict.fromkeys(["a", *(f" a{needle}b\n" for one in (first, second) for needle in needles(one))])
    messages = [message for one in (first, second) for message in variants(one, tuple(roles), tuple(texts))]
    beside = _distinct([one for program in (first, second) for one in _beside(program)])
    for size in range(1, _MOST_MESSAGES):
        for conversation in product(_distinct(messages), repeat=size):
            for rest in beside:
                for generating in (True, False):
                    yield {"messages": [*conversation], **rest, "add_generation_prompt": generating}


def _distinct(values: list[dict[str, Json]]) -> list[dict[str, Json]]:
    """The values in order, each once."""
    return [one for at, one in enumerate(values) if one not in values[:at]]


def _beside(program: Program) -> Iterator[dict[str, Json]]:
    """What can stand beside the messages: settings that verdicts tell apart, and each other parameter by itself."""
    for setting in settings(program):
        yield from requests(program, dict(setting))
    for param in program.request.params:
        if not param.required:
            yield from requests(program, {param.name: value(param.type, program.request)})


def _difference(first: Program, second: Program, request: dict[str, Json]) -> Difference | None:
    one, other = _rendered(first, request), _rendered(second, request)
    if isinstance(one, Printed) or isinstance(other, Printed):
        if isinstance(one, Printed) and isinstance(other, Printed):
            return None  # both refuse it
        return Difference(request, _side(one), _side(other))
    return _parted(request, one, other)


def _side(rendered: list[Segment] | Printed) -> Printed:
    return rendered if isinstance(rendered, Printed) else _rest(_letters(rendered), 0)


def _parted(request: dict[str, Json], first: Sequence[Segment], second: Sequence[Segment]) -> Difference | None:
    """Where two renderings part, character by character and control by control."""
    ones, others = _letters(first), _letters(second)
    at = next(
        (at for at, pair in enumerate(zip(ones, others, strict=False)) if pair[0][0] != pair[1][0]),
        min(len(ones), len(others)),
    )
    if at == len(ones) == len(others):
        return None
    return Difference(request, _rest(ones, at), _rest(others, at))


Letter: TypeAlias = tuple[tuple[bool, str], Origin]
"""A control token or a character, and what printed it."""


def _letters(segments: Sequence[Segment]) -> list[Letter]:
    out: list[Letter] = []
    for segment in segments:
        origin = segment.path if isinstance(segment, ContentSegment) else segment.site
        if isinstance(segment, ControlSegment):
            out.append(((True, segment.text), origin))
        else:
            out.extend(((False, letter), origin) for letter in segment.text)
    return out


def _rest(letters: list[Letter], at: int) -> Printed:
    if at == len(letters):
        return Printed("nothing", "")
    (is_control, _), origin = letters[at]
    shown = "".join(text for (_, text), _ in letters[at : at + _SHOWN])
    return Printed("control" if is_control else "text", shown, origin)


def _rendered(program: Program, request: dict[str, Json]) -> list[Segment] | Printed:
    """What a template prints, or why it refuses the request."""
    try:
        return list(render(program, canonical(program, request)).segments)
    except RequestError as error:
        return Printed("refused", f"{error.code} {error.message}")
    except KatapiError as error:
        return Printed("refused", f"{error.code} {error.message} ({error.where})")
