"""Emits `reply.py`: the grammar by which a model's replies are read. Reads the derived grammar; writes one module."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from katapi.derive.reply_forms import Declared
from katapi.emit.environment import render
from katapi.emit.names import control_member, lender
from katapi.emit.python import Lines, call, imports, string, tuple_of
from katapi.emit.renderer import serialization_source
from katapi.model.declarations import Serialization
from katapi.model.program import Program
from katapi.runtime.reply import grammar as g


@dataclass(frozen=True, slots=True)
class ReplyContext:
    """What `reply.py.j2` shows."""

    source: str
    template: str
    version: str
    imports: list[str]
    serializations: list[str]
    reply: str


def emit_reply(program: Program, package: str, reply: g.Reply) -> str:
    """The text of `reply.py`; `package` is the dotted name of the generated package."""
    writer = _Writer(program)
    lines = Lines()
    lines.statement("REPLY = ", writer.reply(reply))
    used = {
        "katapi.runtime.reply.grammar": writer.classes,
        f"{lender(program, package)}.vocabulary": {"SPELLINGS", *(("Control",) if writer.has_controls else ())},
    }
    for serialization in writer.serializations.values():
        if serialization.python is None:
            used["katapi.runtime.serialization"] = {"Serialization"}
        else:
            used["katapi.runtime.python_notation"] = {"PythonNotation"}
    return render(
        "reply.py.j2",
        ReplyContext(
            source=program.source.name,
            template=program.template.identity.name,
            version=program.template.identity.version,
            imports=imports(used),
            serializations=[serialization_source(s) for s in writer.serializations.values()],
            reply=lines.text(),
        ),
    )


class _Writer:
    """Forms as expressions; what they need around them is noted."""

    def __init__(self, program: Program) -> None:
        self._members = {token.id: control_member(token) for token in program.vocabulary.controls}
        self._unknown = None if program.vocabulary.unknown is None else program.vocabulary.unknown.id
        self.classes: set[str] = {"Reply"}
        self.serializations: dict[str, Serialization] = {}
        self.has_controls = False

    def reply(self, reply: g.Reply) -> str:
        """The whole."""
        prefixes = tuple_of(tuple_of(self._form(part) for part in prefix) for prefix in reply.prefixes)
        items = [f"form={self._form(reply.form)}", f"prefixes={prefixes}", f"controls={self._controls()}"]
        if reply.rules:
            self.classes.add("Rule")
            rules = [f"{string(name)}: {self._rule(rule)}" for name, rule in reply.rules.items()]
            items.append(f"rules={{{', '.join(rules)}}}")
        if reply.reasoning is not None:
            items.append(f"reasoning={string(reply.reasoning)}")
        if reply.marks:
            items.append(f"marks={tuple_of(map(string, reply.marks))}")
        return call("Reply", items)

    def _controls(self) -> str:
        """The spellings of control tokens; what stands for text that no token spells is text."""
        if self._unknown is None or self._unknown in self._members:
            return "SPELLINGS"
        return f"{{token: spelling for token, spelling in SPELLINGS.items() if token != {self._unknown}}}"

    def _rule(self, rule: g.Rule) -> str:
        return call("Rule", [string(rule.parameter), self._form(rule.form)])

    def _form(self, form: g.Form) -> str:
        match form:
            case str():
                return string(form)
            case tuple():
                return tuple_of([self._form(part) for part in form])
            case g.FreeText():
                return self._call("FreeText", [_place(form.place)], _texts(form))
            case g.JsonText():
                return self._json(form)
            case g.JsonMembers(members=members):
                pairs = [tuple_of([string(key), self._json(value)]) for key, value in members]
                return self._call("JsonMembers", [tuple_of(pairs)], {})
            case g.Number():
                return self._call("Number", [], {})
            case g.Constant(place=place, value=value):
                shown = string(value) if isinstance(value, str) else str(value)
                return self._call("Constant", [_place(place), shown], {})
            case g.Either(options=options):
                return self._call("Either", [tuple_of([self._form(option) for option in options])], {})
            case g.Items():
                more: dict[str, str] = {} if form.join == "" else {"join": self._form(form.join)}
                if form.some:
                    more["some"] = "True"
                return self._call("Items", [_place(form.place), string(form.item), self._form(form.form)], more)
            case g.Members():
                more = {} if form.join == "" else {"join": self._form(form.join)}
                key, value = string(form.key), string(form.value)
                return self._call("Members", [_place(form.place), key, value, self._form(form.form)], more)
            case g.Call(rule=rule, place=place):
                return self._call("Call", [string(rule), _place(place)], {})
            case _:
                self.has_controls = True
                return f"Control.{self._members[form.id]}"

    def _json(self, form: g.JsonText) -> str:
        assert isinstance(form.serialization, Declared), "a derived form has a serialization of the spec"
        serialization = form.serialization.serialization
        name = serialization.identity.name.upper()
        self.serializations[name] = serialization
        more: dict[str, str] = {}
        if form.kinds is not None:
            more["kinds"] = tuple_of([string(kind) for kind in form.kinds])
        more |= {flag: "True" for flag in ("exact", "python", "optional", "verbatim") if getattr(form, flag)}
        return self._call("JsonText", [_place(form.place), name], more)

    def _call(self, name: str, values: Iterable[str], named: Mapping[str, str]) -> str:
        self.classes.add(name)
        return call(name, [*values, *(f"{key}={value}" for key, value in named.items())])


def _texts(form: g.FreeText) -> dict[str, str]:
    settings = {
        "strip": form.strip,
        "strip_start": form.strip_start,
        "strip_end": form.strip_end,
        "default": form.default,
    }
    return {key: string(value) for key, value in settings.items() if value is not None}


def _place(place: g.Place) -> str:
    return tuple_of(string(name) for name in place)
