"""A template and a request → what the template prints: one case a kind of statement."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias, assert_never, cast

from katapi.language.source import Span
from katapi.model import template as t
from katapi.model.boundaries import guards
from katapi.model.declarations import Vocabulary
from katapi.model.program import Program
from katapi.model.sites import cited
from katapi.model.types import BoolType, JsonType, TextType, present
from katapi.oracle.boundaries import guarded
from katapi.oracle.evaluate import Frame, Spec, in_lower_case
from katapi.oracle.request import OracleRequest
from katapi.oracle.values import (
    Absent,
    Items,
    Merged,
    OracleMessage,
    Pairs,
    Passage,
    Record,
    Truth,
    Value,
    Whole,
    is_text,
    kind_of,
    passage,
)
from katapi.runtime.errors import TemplateError
from katapi.runtime.segments import (
    Content,
    ContentSegment,
    ControlSegment,
    ControlToken,
    Literal,
    LiteralSegment,
    Path,
    Rendering,
    Segment,
)

PlainSegment: TypeAlias = tuple[str, int, str, int, int] | tuple[str, str, int, int] | tuple[str, str, Path, int | None]
"""A segment without its types, to compare renderings by value."""


Placeholders: TypeAlias = Mapping[Path, Sequence[tuple[str, bool]]]
"""What stands for images, by the places of their parts: spellings, and whether each is that of a control token."""


def render(program: Program, request: OracleRequest, placeholders: Placeholders | None = None) -> Rendering:
    """What the program's template prints for a request, with `placeholders` for its images. Raises `TemplateError`."""
    return _Printer(program, request, placeholders or {}).template()


def plain(rendering: Rendering) -> list[PlainSegment]:
    """The segments of a rendering as plain tuples.

    `("control", id, spelling, line, column)`, `("literal", text, line, column)` or `("content", text, path, start)`.
    """
    out: list[PlainSegment] = []
    for segment in rendering.segments:
        match segment:
            case ControlSegment(token=token, site=site):
                out.append(("control", token.id, token.spelling, site.line, site.column))
            case LiteralSegment(text=text, site=site):
                out.append(("literal", str(text), site.line, site.column))
            case ContentSegment(text=content, path=path, start=start):
                out.append(("content", str(content), path, start))
    return out


def control_enum(vocabulary: Vocabulary) -> type[ControlToken]:
    """An enum with a member for each control token of a vocabulary, named as in the spec."""
    # Typed by hand: to a type checker, the call of an enum class looks up a member.
    make = cast("Callable[[str, dict[str, tuple[int, str]]], type[ControlToken]]", ControlToken)
    return make("Control", {token.name: (token.id, token.spelling) for token in vocabulary.controls})


class _Printer:
    """Runs statements in order and collects what they print."""

    def __init__(self, program: Program, request: OracleRequest, placeholders: Placeholders) -> None:
        self._program = program
        self._request = request
        self._placeholders = placeholders
        self._definitions = {definition.name: definition for definition in program.template.definitions}
        tokens = control_enum(program.vocabulary)
        self._spec = Spec(program.source, {c: tokens[c.name] for c in program.vocabulary.controls})
        self._counters = {counter.number: 0 for counter in program.template.counters}
        self._segments: list[Segment] = []
        self._sampled: list[tuple[int, int]] = []

    def template(self) -> Rendering:
        template = self._program.template
        frame = Frame(self._spec, self._counters)
        for variable in template.variables:
            frame.bind(variable, self._global(variable))
        self._block(template.body, frame)
        if self._request.generating:
            for generate in template.generates:
                if frame.holds(generate.condition):
                    self._block(generate.body, frame)
                    break
        rendering = Rendering(self._segments, self._sampled)
        boundaries = guards(template)
        return guarded(rendering, boundaries, self._program.source) if boundaries else rendering

    def _global(self, variable: t.Variable) -> Value:
        match variable.binding:
            case t.Binding.MESSAGES:
                return Items(self._request.messages, ("messages",))
            case t.Binding.TOOLS:
                return self._request.tools
            case t.Binding.DOCUMENTS:
                return self._request.documents
            case t.Binding.GENERATING:
                return Truth(self._request.generating, ("add_generation_prompt",))
            case _:
                return self._request.params[variable.name]

    def _block(self, block: t.Block, frame: Frame) -> None:
        for statement in block.statements:
            self._statement(statement, frame)

    def _statement(self, statement: t.Statement, frame: Frame) -> None:
        match statement:
            case t.Block():
                self._block(statement, frame)
            case t.Print(value=value):
                self._print(frame.evaluate(value), value.span)
            case t.CallDef(name=name, arguments=arguments):
                self._call(self._definitions[name], [frame.evaluate(a) for a in arguments])
            case t.Let(variable=variable, value=value):
                frame.bind(variable, frame.evaluate(value))
            case t.Capture(variable=variable, body=body):
                segments, self._segments = self._segments, []
                self._block(body, frame)
                frame.bind(variable, passage(self._segments))
                self._segments = segments
            case t.If(test=test, then=then, otherwise=otherwise):
                if frame.holds(test):
                    self._block(then, frame)
                elif otherwise is not None:
                    self._block(otherwise, frame)
            case t.Each():
                self._each(statement, frame)
            case t.Walk():
                self._walk(statement, frame)
            case t.Match():
                self._match(statement, frame)
            case t.Take():
                self._take(statement, frame)
            case t.Sampled(body=body):
                start = len(self._segments)
                self._block(body, frame)
                if len(self._segments) > start:
                    self._sampled.append((start, len(self._segments)))
            case t.Joined():
                self._joined(statement, frame)
            case t.ImageOf():
                self._image(statement, frame)
            case t.Drop():
                pass
            case t.Advance(variable=variable):
                frame.advance(variable)
            case t.Begin(variable=variable, value=value):
                number = frame.evaluate(value)
                assert isinstance(number, Whole), "the resolver lets a counter begin with nothing else"
                frame.bind(variable, Whole(number.value, None))
            case t.Reject(message=message, span=span):
                raise TemplateError(message, code="T100", where=self._where(span))
            case _:
                assert_never(statement)

    def _print(self, value: Value, span: Span) -> None:
        """Prints a control token, a text or a whole number; an empty text is printed as well."""
        if isinstance(value, Whole):
            if value.path is None:
                self._literal(str(value.value), span)
            else:
                self._segments.append(ContentSegment(Content(str(value.value)), value.path, None))
        elif isinstance(value, ControlSegment):
            self._segments.append(value)
        elif isinstance(value, Passage):
            self._segments += value.pieces
        elif isinstance(value, Merged):
            self._segments += value.segments()
        else:
            assert isinstance(value, (LiteralSegment, ContentSegment)), "the resolver lets nothing else be printed"
            self._segments.append(value)

    def _joined(self, joined: t.Joined, frame: Frame) -> None:
        """Lets each statement print; where it is not the first that printed something, the separator goes before it."""
        any_before = False
        for statement in joined.body.statements:
            segments, sampled = self._segments, self._sampled
            self._segments, self._sampled = [], []
            self._statement(statement, frame)
            printed, regions = self._segments, self._sampled
            self._segments, self._sampled = segments, sampled
            prints = any(segment.text for segment in printed)
            if prints and any_before:
                self._literal(joined.separator, joined.span)
            any_before = any_before or prints
            start = len(segments)
            segments += printed
            sampled += [(start + first, start + end) for first, end in regions]

    def _image(self, image: t.ImageOf, frame: Frame) -> None:
        """Prints the placeholder of an image, or the block where there is none."""
        part = frame.evaluate(image.value.base)
        assert isinstance(part, Record), "the resolver knows this to be a part"
        placeholder = self._placeholders.get(part.path)
        if placeholder is None:
            self._block(image.body, frame)
            return
        tokens = {control.spelling: token for control, token in self._spec.controls.items()}
        for spelling, is_control in placeholder:
            if is_control:
                self._segments.append(ControlSegment(tokens[spelling], self._spec.site(image.span)))
            else:
                self._literal(spelling, image.span)

    def _literal(self, text: str, span: Span) -> None:
        self._segments.append(LiteralSegment(Literal(text), self._spec.site(span)))

    def _call(self, definition: t.Def, arguments: list[Value]) -> None:
        frame = Frame(self._spec, self._counters)
        for parameter, argument in zip(definition.parameters, arguments, strict=True):
            if isinstance(argument, Pairs) and isinstance(present(parameter.type), JsonType):
                argument = replace(argument, source=None)  # it is taken for JSON, and not for the text that came
            if isinstance(argument, (Absent, Truth)) and isinstance(present(parameter.type), (TextType, BoolType)):
                argument = replace(argument, path=None)  # neither has a segment to hand on
            frame.bind(parameter, argument)
        self._block(definition.body, frame)

    def _each(self, each: t.Each, frame: Frame) -> None:
        left = [(key, item) for key, item in self._rounds(each, frame) if self._enters(each, key, item, frame)]
        for number, (key, item) in enumerate(left):
            self._bind(each, key, item, frame)
            for variable in (each.key, each.item):
                if variable is not None:
                    frame.rounds[variable.number] = number == 0, number == len(left) - 1
            if number and each.join is not None:
                self._literal(each.join, each.span)
            self._block(each.body, frame)

    def _enters(self, each: t.Each, key: Value | None, item: Value, frame: Frame) -> bool:
        """Whether a loop does not pass over an item."""
        self._bind(each, key, item, frame)
        return frame.holds(each.condition)

    @staticmethod
    def _bind(each: t.Each, key: Value | None, item: Value, frame: Frame) -> None:
        if each.key is not None and key is not None:
            frame.bind(each.key, key)
        frame.bind(each.item, item)

    def _rounds(self, each: t.Each, frame: Frame) -> list[tuple[Value | None, Value]]:
        """The keys, where the loop has them, and the values that it goes through."""
        if each.key is None:
            items: list[tuple[Value | None, Value]] = [(None, item) for item in frame.items(each.source)]
            return sorted(items, key=lambda round: _lower(round[1])) if each.sorted else items
        source = frame.evaluate(each.source)
        assert isinstance(source, Pairs), "the resolver knows this to be an object"
        path = source.path or ()
        pairs: list[tuple[Value | None, Value]] = [
            (ContentSegment(Content(key), (*path, key), None), value) for key, value in source.pairs
        ]
        return sorted(pairs, key=lambda pair: _lower(pair[0])) if each.sorted else pairs

    def _walk(self, walk: t.Walk, frame: Frame) -> None:
        left = self._messages(frame)
        frame.walked = tuple(left)
        while left:
            taken = self._walk_one(walk, left, frame)
            left = left[taken:]
        frame.walked = ()

    def _walk_one(self, walk: t.Walk, left: list[OracleMessage], frame: Frame) -> int:
        """Lets the first arm that fits handle the next message; gives how many messages it took."""
        message = left[0]
        for arm in walk.arms:
            if message.role not in arm.roles:
                continue
            frame.bind(walk.variable, message)
            run = [message]
            if arm.is_run:
                run += _run(left[1:], message.role)
                taken = len(run)
            elif arm.then is not None:
                run = _run(left[1:], arm.then)
                taken = 1 + len(run)
            else:
                taken = 1
            if arm.run is not None:
                frame.bind(arm.run, Items(tuple(run), None))
            if frame.holds(arm.condition):
                self._block(arm.body, frame)
                return taken
        raise TemplateError(
            f"no arm of the walk fits this message of role {message.role}",
            code="T101",
            where=f"messages[{message.position}]",
        )

    def _match(self, match: t.Match, frame: Frame) -> None:
        subject = frame.evaluate(match.subject)
        text = is_text(subject)
        for arm in match.arms:
            fits = arm.other or kind_of(subject) in arm.kinds or (text is not None and text.text in arm.texts)
            if fits and frame.holds(arm.condition):
                self._block(arm.body, frame)
                return
        raise TemplateError("no arm of the match fits this value", code="T102", where=self._where(match.span))

    def _take(self, take: t.Take, frame: Frame) -> None:
        messages = self._messages(frame)
        if take.all:
            taken = [message for message in messages if message.role in take.roles]
            frame.bind(take.variable, Items(tuple(taken), None))
        else:
            taken = [message for message in messages[:1] if message.role in take.roles]
            frame.bind(take.variable, taken[0] if taken else Absent(None))
        left = tuple(message for message in messages if message not in taken)
        frame.bind(self._messages_variable(), Items(left, ("messages",)))
        if not taken and take.otherwise is not None:
            self._block(take.otherwise, frame)

    def _messages(self, frame: Frame) -> list[OracleMessage]:
        """The messages that no `take` has removed."""
        value = frame.values[self._messages_variable().number]
        assert isinstance(value, Items)
        return [item for item in value.items if isinstance(item, OracleMessage)]

    def _messages_variable(self) -> t.Variable:
        return next(v for v in self._program.template.variables if v.binding is t.Binding.MESSAGES)

    def _where(self, span: Span) -> str:
        return cited(span, self._program.source)


def _run(messages: list[OracleMessage], role: str) -> list[OracleMessage]:
    """The messages at the beginning that have a role, up to the first that has another."""
    run: list[OracleMessage] = []
    for message in messages:
        if message.role != role:
            break
        run.append(message)
    return run


def _lower(value: Value | None) -> str:
    """A text by which a loop is sorted."""
    text = None if value is None else is_text(value)
    assert text is not None, "the resolver lets only texts be sorted"
    return in_lower_case(text.text)
