"""Takes a reply apart while its ids arrive."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import lru_cache

from katapi.runtime.errors import TokenizerError
from katapi.runtime.json_types import Json, JsonObject
from katapi.runtime.model_input import ModelInput
from katapi.runtime.reply.build import call_of, settled
from katapi.runtime.reply.grammar import Prefix, Reply
from katapi.runtime.reply.log import Log, Value, Values, broken, plain
from katapi.runtime.reply.message import AssistantMessage, Delta, Kind, ReplyFault, ToolCall
from katapi.runtime.reply.program import OTHER_CONTROL, Accept, Expect, Hole, Program, compile_reply
from katapi.runtime.reply.reading import Failures, Reading
from katapi.runtime.reply.recovery import ending, through, without_space
from katapi.runtime.reply.runs import TextOfRuns
from katapi.runtime.segments import ControlSegment, Segment
from katapi.runtime.tokenization.ids import as_id
from katapi.runtime.tokenization.interface import Tokenizer


def parse(
    reply: Reply, tokenizer: Tokenizer, completion_ids: Sequence[int], prompt: ModelInput | None
) -> AssistantMessage:
    """The message of a whole reply; see `Model.parse`."""
    if prompt is not None:
        return _read(parser(reply, tokenizer, prompt), completion_ids)
    found: list[tuple[tuple[int, bool, bool], AssistantMessage]] = []
    for prefix in reply.prefixes:
        reader = ReplyParser(reply, tokenizer, prefix)
        message = _read(reader, completion_ids)
        found.append(((len(message.faults), not message.complete, reader.ended_otherwise), message))
        if not any(found[-1][0]):
            break
    return min(found, key=lambda one: one[0])[1]


def _read(reader: ReplyParser, completion_ids: Sequence[int]) -> AssistantMessage:
    reader.feed(completion_ids)
    return reader.finish()


def parser(reply: Reply, tokenizer: Tokenizer, prompt: ModelInput | None) -> ReplyParser:
    """A parser for the reply to a prompt; see `Model.parser`."""
    if prompt is None:
        return ReplyParser(reply, tokenizer, reply.prefixes[0])
    segments = prompt.rendered.payload
    tools = getattr(prompt.request, "tools", None) or ()
    runs_on = bool(segments) and not isinstance(segments[-1], ControlSegment)
    return ReplyParser(reply, tokenizer, _prefix_of(reply, segments), tools=tools, runs_on=runs_on)


def _prefix_of(reply: Reply, segments: Sequence[Segment]) -> Prefix:
    """The generation prefix that a prompt ends with: the longest one."""
    by_length = sorted(reply.prefixes, key=lambda prefix: -len(_spelled(prefix)))
    printed = _last(segments, len(_spelled(by_length[0])))
    fitting = (prefix for prefix in by_length if printed[len(printed) - len(_spelled(prefix)) :] == _spelled(prefix))
    return next(fitting, reply.prefixes[0])


def _last(segments: Sequence[Segment], count: int) -> list[str | int]:
    """So many of the last characters and ids of control tokens, or all there are."""
    printed: list[str | int] = []
    for segment in reversed(segments):
        if len(printed) >= count:
            break
        own = [segment.token.id] if isinstance(segment, ControlSegment) else segment.text[-count:]
        printed[:0] = own
    return printed


def _spelled(prefix: Prefix) -> list[str | int]:
    """The characters and the ids of control tokens of a prefix."""
    out: list[str | int] = []
    for part in prefix:
        out += part if isinstance(part, str) else [part.id]
    return out


_MOST_COMPARED = 16


@lru_cache(maxsize=128)
def program_of(reply: Reply) -> Program:
    """The graph of a grammar, remembered."""
    return compile_reply(reply)


class ReplyParser:
    """One reply, whose ids are pushed one by one.

    What the pushes and `finish` give together is the message that `Model.parse` gives for the same ids and prefix.
    """

    def __init__(
        self,
        reply: Reply,
        tokenizer: Tokenizer,
        prefix: Prefix,
        *,
        tools: Sequence[JsonObject] = (),
        runs_on: bool = False,
    ) -> None:
        """`runs_on`: the prompt ends in text, which the reply goes on."""
        self._reply = reply
        self._tools = tools
        self._program = program_of(reply)
        self._text = TextOfRuns(tokenizer, next(iter(reply.controls), None), runs_on=runs_on)
        self._reading = Reading(self._program)
        self._starts: list[int] = []
        self._faults: list[ReplyFault] = []
        self._lost: Failures | None = None
        self._behind: int | None = None
        self._left_out: int | None = None
        self._stopped = False
        self._given = Delta()
        self._finished = False
        self.ended_otherwise = False
        """Whether a token ended the reply that the template never prints there."""
        for part in prefix:
            self._reading.symbols += part if isinstance(part, str) else self._program.symbols[part.id]
        self._prefix = len(self._reading.symbols)
        self._follow()
        self._faults.clear()

    def push(self, token: int) -> Delta:
        """Takes the next id, and gives what has become certain.

        Raises `TokenizerError` V102 on an unknown id, and V104 after `finish`.
        """
        self.feed((token,))
        return self._new(self._certain())

    def feed(self, tokens: Iterable[int]) -> None:
        """Takes several ids. Raises `TokenizerError` V102 and V104 as `push` does."""
        if self._finished:
            raise TokenizerError("the parser was finished already", code="V104")
        symbols: list[str] = []
        at = len(self._reading.symbols)
        for token in map(as_id, tokens):
            symbol = self._program.symbols.get(token)
            if symbol is None and token in self._reply.controls:
                symbol = OTHER_CONTROL
            part = self._text.push(token) if symbol is None else self._text.end_run(token) + symbol
            self._starts.append(at)
            symbols.append(part)
            at += len(part)
        self._reading.symbols += "".join(symbols)
        self._follow()

    def finish(self) -> AssistantMessage:
        """The whole message. Nothing may be pushed afterwards; a second call raises `TokenizerError` V104."""
        if self._finished:
            raise TokenizerError("the parser was finished already", code="V104")
        self._reading.symbols += self._text.finish()
        self._follow()
        self._finished = True
        if self._behind is not None:
            self._reading.pass_over_the_rest()
        open_ways = self._reading.ways
        accepted = self._reading.advance(final=True)
        complete = bool(accepted)
        if accepted:
            log = accepted[0].log
        elif self._lost is not None:
            log = self._lost.ways()[0].log
            self._misplaced(self._lost.position, len(self._reading.symbols), log)
        else:
            ends = ((way, at_end) for way in open_ways if (at_end := ending(self._reading, way)) is not None)
            ended, at_end = next(ends, (None, None))
            log = (ended or open_ways[0]).log
            if at_end is not None and all(isinstance(way.at, Expect) and way.at.is_control for way in open_ways):
                log = at_end.log  # a call that lacks its closing token alone is whole
            symbols = self._reading.symbols
            if ended is not None and symbols.endswith(OTHER_CONTROL) and self._left_out == len(symbols) - 1:
                complete = self.ended_otherwise = True
                self._faults.pop()
        if self._behind is not None:
            self._fault("behind the end", self._behind, len(self._reading.symbols))
        return self._message(log, complete=complete)

    # ---- following the grammar

    def _follow(self) -> None:
        reading = self._reading
        while self._behind is None:
            if self._lost is not None:
                if not self._found_again(self._lost):
                    return
                self._lost = None
            before = reading.ways
            reading.advance()
            if reading.ways or not before:
                return
            reading.ways = without_space(reading)
            if not reading.ways:
                self._pass_over(reading.failures)

    def _pass_over(self, failures: Failures) -> None:
        """Something stands there that belongs to nothing."""
        reading, position = self._reading, failures.position
        at_end = next((way for way in failures.ways() if isinstance(way.at, Accept)), None)
        if at_end is None:
            self._lost = failures.copy()
        elif reading.symbols[position] == OTHER_CONTROL and not self._stopped:
            self._stopped = True
            reading.ways = [at_end._replace(position=position + 1)]
        else:
            self._behind = position
            reading.ways = [at_end]

    def _found_again(self, lost: Failures) -> bool:
        """Goes on behind the next control token, if it has come."""
        reading, symbols = self._reading, self._reading.symbols
        position = lost.position
        while position < len(symbols) and not _is_control(symbols[position]):
            position += 1
        if position == len(symbols):
            return False
        way = through(reading, lost, position)
        if way is not None:
            self._misplaced(lost.position, position, lost.ways()[0].log)
            reading.ways = [way]
            return True
        self._misplaced(lost.position, position + 1, lost.ways()[0].log)
        self._left_out = position if position == lost.position else None
        # A free text goes on; an item that goes on behind a token which it does not have is none.
        ways = sorted(lost.ways(), key=lambda way: not isinstance(way.at, Hole))
        reading.ways = [way._replace(position=position + 1, log=broken(way.log)) for way in ways]
        return True

    def _misplaced(self, start: int, end: int, log: Log) -> None:
        values = Values(self._reading.symbols)
        values.of(log)
        self._fault("unreadable call" if values.unclosed else "misplaced", start, end)

    def _fault(self, kind: Kind, start: int, end: int) -> None:
        index = max(0, bisect_right(self._starts, start) - 1)
        text = plain(self._reading.symbols[max(start, self._prefix) : end])
        self._faults.append(ReplyFault(kind, index, text))

    # ---- what is certain

    def _certain(self) -> Delta:
        """What all ways that are open have in common; of very many ways nothing new is said."""
        if not 0 < len(self._reading.ways) <= _MOST_COMPARED:
            return self._given
        found = [self._parts(way.log) for way in self._reading.ways]
        calls: list[ToolCall] = []
        for same in zip(*(part.tool_calls for part in found), strict=False):
            if any(call != same[0] for call in same):
                break
            calls.append(same[0])
        content = _shared([part.content for part in found])
        reasoning = _shared([part.reasoning for part in found])
        return Delta(content, reasoning, tuple(calls))

    def _parts(self, log: Log) -> Delta:
        fields = Values(self._reading.symbols).of(log)
        reasoning = "" if self._reply.reasoning is None else _text(fields.get(self._reply.reasoning))
        calls = [call for one in _calls(fields) if (call := call_of(one, self._tools)) is not None]
        return Delta(_text(fields.get("content")), reasoning, tuple(call for _, call in calls))

    def _new(self, certain: Delta) -> Delta:
        """What is certain now and was not given before."""
        given = self._given
        content = certain.content if certain.content.startswith(given.content) else given.content
        reasoning = certain.reasoning if certain.reasoning.startswith(given.reasoning) else given.reasoning
        calls = max(given.tool_calls, certain.tool_calls, key=len)
        self._given = Delta(content, reasoning, calls)
        return Delta(content[len(given.content) :], reasoning[len(given.reasoning) :], calls[len(given.tool_calls) :])

    # ---- the message

    def _message(self, log: Log, *, complete: bool) -> AssistantMessage:
        values = Values(self._reading.symbols)
        fields = values.of(log)
        message: dict[str, Json] = {"role": "assistant"}
        forms: list[JsonObject] = []
        calls: list[ToolCall] = []
        for one in _calls(fields):
            read = call_of(one, self._tools)
            if read is None:
                if not any(fault.kind == "unreadable call" for fault in self._faults):
                    text = str(settled(one))
                    self._faults.append(ReplyFault("unreadable call", 0, text))
                continue
            forms.append(read[0])
            calls.append(read[1])
        if values.unclosed and not complete:
            self._fault("unfinished call", len(self._reading.symbols), len(self._reading.symbols))
        name = self._reply.reasoning
        content = _text(fields.get("content"))
        reasoning = "" if name is None else _text(fields.get(name))
        for key, value in fields.items():
            if key not in ("tool_calls", "content", name):
                message[key] = settled(value)
        if content or not forms:
            message["content"] = content
        if name is not None and (name in fields or any(mark in content for mark in self._reply.marks)):
            message[name] = reasoning
        if forms:
            message["tool_calls"] = forms
        return AssistantMessage(message, content, reasoning or None, tuple(calls), complete, tuple(self._faults))


def _shared(texts: list[str]) -> str:
    """What all texts begin with."""
    first, last = min(texts), max(texts)
    return first if last.startswith(first) else first[: next(i for i, c in enumerate(first) if c != last[i])]


def _is_control(symbol: str) -> bool:
    return "\ud800" <= symbol <= "\udfff"


def _text(value: Value) -> str:
    return value if isinstance(value, str) else ""


def _calls(fields: dict[str, Value]) -> list[Value]:
    calls = fields.get("tool_calls")
    return calls if isinstance(calls, list) else []
