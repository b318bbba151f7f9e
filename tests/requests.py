"""Hypothesis strategies for requests in JSON, made from the declared request rules."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import datetime

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from katapi.model.program import Program
from katapi.model.request import Field
from katapi.model.types import (
    NUMBER,
    OBJECT,
    BoolType,
    DateType,
    IntType,
    JsonType,
    ListType,
    OptionalType,
    ParsedType,
    RecordType,
    TaggedType,
    TextType,
    Type,
    UnionType,
)
from katapi.runtime.json_types import Json

JsonStrategy = SearchStrategy[Json]

NUMBERS: JsonStrategy = st.integers() | st.floats(allow_nan=False, allow_infinity=False)


class Requests:
    """Requests for one spec. Texts are made of what the spec itself mentions, so that its tests come out both ways."""

    def __init__(self, program: Program) -> None:
        self._program = program
        source = "\n".join(file.text for file in program.source.files())
        spelled = [c.spelling for c in program.vocabulary.controls] + [x.text for x in program.vocabulary.texts]
        written = [eval(q) for q in re.findall(r'"(?:[^"\\\n]|\\[nt"\\]){1,20}"', source)]  # quoted texts
        pieces = st.sampled_from(
            ["", " ", "\n", "a", "1", "é", "e\u0301", "\u0301", "天空", "\u200b", "👩‍👩‍👧", *spelled, *written]
        )
        self.text: SearchStrategy[str] = st.one_of(
            st.lists(pieces, max_size=4).map("".join), st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
        )
        keys = sorted(set(re.findall(r"\.([a-z_A-Z]+)", source)) | {"x"})
        scalars: JsonStrategy = st.one_of(
            st.none(),
            st.booleans(),
            st.integers(),
            st.integers(0, 12),
            st.floats(allow_nan=False, allow_infinity=False),
            self.text,
        )
        self._key = st.sampled_from(keys) | self.text
        self.json: JsonStrategy = st.recursive(
            scalars,
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(self._key, inner, max_size=4),
            max_leaves=8,
        )

    def of(self, t: Type) -> JsonStrategy:
        """A value of a declared type."""
        match t:
            case OptionalType(item=item):
                there = self.of(item)
                return there | there.filter(bool) | st.none()
            case ListType(item=item):
                return st.lists(self.of(item), min_size=1, max_size=4) | st.just([])
            case TaggedType():
                return st.one_of(*(self.of(RecordType(name)) for name in t.records))
            case UnionType(text=text, list=listed):
                return self.of(text) | self.of(listed)
            case RecordType(name=name):
                record = self._program.request.record(name)
                assert record is not None
                return self._fields(record.fields)
            case TextType(choices=None):
                return self.text
            case TextType(choices=choices):
                return st.sampled_from(choices or ())
            case BoolType():
                return st.booleans()
            case IntType():
                return st.integers() | st.integers(0, 20)
            case DateType():
                return st.builds(_as_date, st.datetimes(), st.booleans())
            case ParsedType():
                objects = self._object()
                return objects | st.builds(_as_text, objects, st.booleans(), st.sampled_from([None, 1]))
            case JsonType():
                return self._object() if t == OBJECT else NUMBERS if t == NUMBER else self.json
            case _:
                raise AssertionError(t)

    def _object(self) -> JsonStrategy:
        return st.dictionaries(self._key, self.json, max_size=4)

    def _fields(self, fields: Sequence[Field], role: str | None = None) -> JsonStrategy:
        required: dict[str, JsonStrategy] = {} if role is None else {"role": self._role(role)}
        required |= {f.name: self._field(f) for f in fields if not f.optional}
        plain: SearchStrategy[dict[str, Json]] = st.fixed_dictionaries(
            required, optional={f.name: self._field(f) for f in fields if f.optional}
        )
        also = {f.name: f.spellings[-1] for f in fields}
        return st.builds(_spelled, plain, st.sampled_from([{}, also]))

    def _field(self, field: Field) -> JsonStrategy:
        if field.separator is None:
            return self.of(field.type)
        parts = st.lists(self.text.map(lambda text: {"type": "text", "text": text}), max_size=4)
        return self.of(field.type) | parts

    def _role(self, name: str) -> JsonStrategy:
        role = self._program.request.role(name)
        named = self._program.request.named_roles
        if role is None or not role.open:
            return st.just(name)
        return (self.text | st.sampled_from([name, *named])).filter(lambda spelled: spelled not in named)

    @property
    def messages(self) -> dict[str, JsonStrategy]:
        """A message of each role."""
        return {role.name: self._fields(role.fields, role.name) for role in self._program.request.roles}

    def requests(self) -> JsonStrategy:
        """A whole request; roles come in runs as often as alone."""
        by_role = self.messages

        @st.composite
        def messages(draw: DrawFn) -> Json:
            out: list[Json] = []
            role = ""
            for _ in range(draw(st.integers(0, 6))):
                if not role or draw(st.integers(0, 2)):
                    role = draw(st.sampled_from(sorted(by_role)))
                out.append(draw(by_role[role]))
            return out

        return self.with_messages(messages())

    def with_messages(self, messages: JsonStrategy) -> JsonStrategy:
        """A whole request with given messages."""
        rules = self._program.request
        required: dict[str, JsonStrategy] = {"messages": messages}
        optional: dict[str, JsonStrategy] = {"add_generation_prompt": st.booleans()}
        for param in rules.params:
            key = param.spellings[len(param.name) % len(param.spellings)]
            (required if param.required else optional)[key] = self.of(param.type)
        plain = st.fixed_dictionaries(required, optional=optional)
        given: dict[str, JsonStrategy] = {}
        if rules.tools is not None:
            given["tools"] = self.of(rules.tools)
        if rules.documents is not None:
            given["documents"] = self._documents(rules.documents)
        if not given:
            return plain
        needed = [t for t in (rules.tools, rules.documents) if t is not None and not isinstance(t, OptionalType)]
        with_all = st.fixed_dictionaries(required | given, optional=optional)
        with_some = [st.fixed_dictionaries(required | {key: of}, optional=optional) for key, of in given.items()]
        return with_all if needed else st.one_of(with_all, *with_some, plain)

    def _documents(self, of: Type) -> JsonStrategy:
        """Documents; of those that are plain JSON some have a score, which may be none."""
        match of:
            case OptionalType(item=item):
                return self._documents(item) | st.none()
            case ListType(item=item) if item == OBJECT:
                scores: SearchStrategy[dict[str, Json]] = st.fixed_dictionaries({"score": NUMBERS | st.none()})
                made = st.builds(lambda score, d: {**score, **d}, st.just({}) | scores, self._object())
                return st.lists(made.filter(_well_scored), max_size=4)
            case _:
                return self.of(of)


def _well_scored(document: dict[str, Json]) -> bool:
    score = document.get("score")
    return score is None or (isinstance(score, int | float) and not isinstance(score, bool))


def _spelled(value: dict[str, Json], names: dict[str, str]) -> Json:
    return {names.get(key, key): member for key, member in value.items()}


def _as_date(date: datetime, day_alone: bool) -> Json:
    written = date.replace(microsecond=0).isoformat()
    return written[:10] if day_alone else written


def _as_text(value: Json, ascii_only: bool, indent: int | None) -> Json:
    return json.dumps(value, ensure_ascii=ascii_only, indent=indent)
