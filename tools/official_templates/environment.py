"""Runs a Jinja chat template as transformers 5.24 does, and notes which of its branches were taken.

The settings, filters and globals are those of `transformers.utils.chat_template_utils`, as is what its function
`render_jinja_template` does to messages beforehand. The clock stands still: it is an argument. That the marks of
branches change nothing is shown by `side_by_side.py --vectors`.

`apply_chat_template` of the same version leaves out members of a message that are null before it renders; a server that
renders by itself does not. Both can be had. An empty list of tools is given to the template as none, as servers do.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from jinja2 import Environment, Template, TemplateError, nodes
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

from katapi.runtime.json_types import Json
from tools.official_templates.branches import Branches, mark_branches


class _Generation(Extension):
    """`{% generation %}` around what a model samples: transformers notes where that is, and prints the same.

    What is set inside is not known outside, since the body is the `caller` of a function.
    """

    tags = {"generation"}  # noqa: RUF012  # as jinja2 declares it

    def parse(self, parser: Parser) -> nodes.Node:
        """The call of `_body` with the statements inside."""
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.CallBlock(self.call_method("_body"), [], [], body).set_lineno(line)

    def _body(self, caller: Callable[[], str]) -> str:
        return caller()


def _tojson(
    value: object,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def _raise_exception(message: str) -> str:
    raise TemplateError(message)


def environment() -> Environment:
    """Jinja with all that a chat template may use, but for the clock."""
    made = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, loopcontrols])
    made.filters["tojson"] = _tojson
    made.globals["raise_exception"] = _raise_exception
    return made


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one side makes of a request: a text, or an error in one line."""

    text: str | None
    error: str = ""
    fault: str = ""
    """The error without what differs from request to request: places in lists, numbers."""


class OfficialTemplate:
    """One template, compiled."""

    def __init__(self, source: str, *, bos: str | None, eos: str | None, without_null: bool = False) -> None:
        made = environment()
        self.tree = made.parse(source)
        """Its syntax, without marks."""
        marked = made.parse(source)
        self.branches: Branches = mark_branches(marked, source)
        code = made.compile(marked)
        self._template = Template.from_code(made, code, made.make_globals({self.branches.name: self.branches.take}))
        self._without_null = without_null
        self._tokens = {k: v for k, v in (("bos_token", bos), ("eos_token", eos)) if v is not None}

    def render(self, context: Mapping[str, Json], now: datetime | None) -> Outcome:
        """What the template prints for `messages`, `tools`, `add_generation_prompt` and its parameters.

        `now` is the time that `strftime_now` tells; without it the template has no clock.
        """
        messages = context.get("messages")
        if isinstance(messages, Sequence) and not isinstance(messages, str):
            context = {**context, "messages": [self._message(m) for m in messages]}
        clock = {} if now is None else {"strftime_now": now.strftime}
        given = {"documents": None, "add_generation_prompt": False, **self._tokens, **clock, **context}
        given["tools"] = context.get("tools") or None
        self.branches.last.clear()
        try:
            return Outcome(self._template.render(given))
        except Exception as error:  # noqa: BLE001  # a template may fail in any way
            message = f"{type(error).__name__}: {error}"
            return Outcome(None, message, re.sub(r"\d+", "N", message))

    def _message(self, message: Json) -> Json:
        """A message as a template sees it: reasoning under each of the names that templates read it by."""
        if not isinstance(message, Mapping):
            return message
        if self._without_null:
            message = {key: value for key, value in message.items() if value is not None}
        reasoning = next((message[name] for name in _REASONING if message.get(name) is not None), None)
        return message if reasoning is None else {"thinking": reasoning, **message, "reasoning_content": reasoning}


_REASONING = ("reasoning_content", "thinking", "reasoning")
