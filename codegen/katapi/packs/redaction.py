"""A pack without the contents of its request: digests or placeholders stand where texts of the request stood.

What stays: roles and other choices that the request rules declare by name, keys, dates, declared numbers, control
tokens and texts of the template, the ids of both, lengths, and all that a budget counted. What goes: every other text,
also a role of another name, digits inside of JSON, the ids of contents (they decode to the contents; -1 stands in their
place), and words of errors.

Placeholders keep no digest of what was replaced: whoever can guess a short text can check a digest of it.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from types import UnionType
from typing import Annotated, Literal, Union, get_args, get_origin

from katapi.packs.pack import Pack, Redaction
from katapi.runtime.arguments import JsonText
from katapi.runtime.json_types import Json, JsonObject
from katapi.runtime.model import Model
from katapi.runtime.record import Stages
from katapi.runtime.request_model import RequestModel
from katapi.runtime.stages import Stage

HIDDEN = -1
"""What stands in the place of an id that a content has a part in."""

Hide = Callable[[str], str]
"""What a text becomes."""


def redacted(pack: Pack, model: Model[RequestModel], how: Redaction) -> Pack:
    """The pack without contents; `model` is the one that recorded it, and knows what is content."""
    hide = text_digest if how == "digests" else placeholder
    stages = dict(pack.stages)
    raw = None
    if Stage.REQUEST in stages:
        stages[Stage.REQUEST] = request = _request(stages[Stage.REQUEST], model, hide)
        raw = None if pack.raw is None else json.dumps(request_value(request), ensure_ascii=False).encode()
    bytes_ = {**stages[Stage.BYTES], "params": None}
    stages[Stage.BYTES] = bytes_ if how == "digests" else {**bytes_, "sha256": None}
    if Stage.BUDGET in stages:
        stages[Stage.BUDGET] = _budget(stages[Stage.BUDGET], model, hide)
    if Stage.IMAGES in stages:
        stages[Stage.IMAGES] = _images(stages[Stage.IMAGES], digests=how == "digests")
    if Stage.RENDERED in stages:
        stages[Stage.RENDERED] = _rendered(stages[Stage.RENDERED], hide)
    if Stage.IDS in stages:
        stages[Stage.IDS] = {"input_ids": _ids(pack)}
    kept = {stage for stage in stages if stages[stage] == pack.stages[stage]}
    return replace(
        pack,
        stages=stages,
        digests={s: digest if how == "digests" or s in kept else None for s, digest in pack.digests.items()},
        raw=raw,
        fault=None if pack.fault is None else {**pack.fault, "message": "", "where": "", "help": ""},
        policy=None if isinstance(pack.policy, str) else pack.policy,
        redaction=how,
        media=tuple(
            image._replace(name="", data=None, sha256=image.sha256 if how == "digests" else "") for image in pack.media
        ),
    )


def text_digest(text: str) -> str:
    """The digest of a text: `sha256:` and that of its UTF-8."""
    return f"sha256:{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"


def placeholder(text: str) -> str:
    """As many characters, each a letter, a digit or another as before, and as long in UTF-8; white space stays."""
    return "".join(map(_stand_in, text))


def _stand_in(character: str) -> str:
    if character.isspace():
        return character
    letter, width = character.isalpha(), len(character.encode("utf-8", "surrogatepass"))
    match width:
        case 1 if character.isdigit():
            return "0"
        case 1 if letter:
            return "X" if character.isupper() else "x"
        case 1:
            return "."
        case 2:
            return "é" if letter else "·"
        case 3:
            return "字" if letter else "…"
        case _:
            return "𠀀" if unicodedata.category(character).startswith("L") else "😀"


def request_value(stage: JsonObject) -> JsonObject:
    """The canonical request of its stage: what a client would send."""
    parameters = stage["parameters"]
    assert isinstance(parameters, Mapping)
    return {"messages": stage["messages"], **parameters}


def _request(stage: JsonObject, model: Model[RequestModel], hide: Hide) -> JsonObject:
    value = _value(request_value(stage), model, hide)
    return {
        **stage,
        "messages": value.get("messages", []),
        "parameters": {key: part for key, part in value.items() if key != "messages"},
    }


def _value(value: JsonObject, model: Model[RequestModel], hide: Hide) -> JsonObject:
    typed = model.decode_request(json.dumps(value).encode())
    hidden = _typed(value, typed, hide)
    assert isinstance(hidden, Mapping)
    return hidden


def _typed(value: Json, typed: object, hide: Hide) -> Json:
    """What is declared of a value says what of it is content."""
    if isinstance(typed, RequestModel) and isinstance(value, Mapping):
        fields = type(typed).model_fields
        return {
            key: part if _is_declared(fields[key].annotation) else _typed(part, getattr(typed, key), hide)
            for key, part in value.items()
        }
    if isinstance(typed, JsonText) and isinstance(value, str):
        return json.dumps(_json(typed.value, hide), ensure_ascii=False)
    if isinstance(typed, tuple) and isinstance(value, list | tuple):
        return [_typed(part, item, hide) for part, item in zip(value, typed, strict=True)]
    if isinstance(typed, str):
        # A text that came in parts is a list of them.
        return hide(value) if isinstance(value, str) else [_text_part(part, hide) for part in _items(value)]
    return value if isinstance(typed, datetime) else _json(value, hide)


def _items(value: Json) -> list[Json]:
    assert isinstance(value, list | tuple)
    return [*value]


def _text_part(part: Json, hide: Hide) -> Json:
    return {**part, "text": hide(str(part["text"]))} if isinstance(part, Mapping) and "text" in part else part


def _is_declared(annotation: object) -> bool:
    """Whether a field takes nothing but texts of a closed set, which the spec tells, or numbers of its own."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Literal or annotation in (int, bool, type(None)):
        return True
    if origin in (Union, UnionType):
        return all(map(_is_declared, parts))
    return origin in (Annotated, tuple) and _is_declared(parts[0])


def _json(value: Json, hide: Hide) -> Json:
    """JSON of the request: keys and kinds stay, texts and digits go."""
    match value:
        case str():
            return hide(value)
        case bool() | None:
            return value
        case int() | float():
            shown: int | float = json.loads("".join("1" if digit.isdigit() else digit for digit in json.dumps(value)))
            return shown
        case Mapping():
            return {key: _json(part, hide) for key, part in value.items()}
        case _:
            return [_json(part, hide) for part in value]


def _budget(stage: JsonObject, model: Model[RequestModel], hide: Hide) -> JsonObject:
    """The decision without the texts of what was offered, of errors, and of what a cut left."""
    decision = stage["decision"]
    if not isinstance(decision, Mapping):
        return stage
    out = dict(decision)
    if isinstance(offered := out["offered"], Mapping):
        out["offered"] = _value(offered, model, hide)
    out["choices"] = [
        {**choice, "detail": ""} if isinstance(choice, Mapping) and "detail" in choice else choice
        for choice in _items(out["choices"])
    ]
    if isinstance(cut := out.get("cut"), Mapping):
        out["cut"] = {**cut, "begins": hide(str(cut["begins"]))}
    return {**stage, "decision": out}


def _images(stage: JsonObject, *, digests: bool) -> JsonObject:
    """The images without their paths and addresses, and perhaps without digests of bytes, pixels and arrays.

    What is left of each are sizes and what was done.
    """
    images: list[Json] = []
    for image in _items(stage["images"]):
        if isinstance(image, Mapping) and "name" in image:
            record = image["record"]
            assert isinstance(record, Mapping)
            shown = {**image, "name": ""}
            images.append(shown if digests else {**shown, "sha256": None, "record": _without_digests(record)})
        else:
            images.append(image)
    return {**stage, "images": images}


def _without_digests(record: JsonObject) -> JsonObject:
    """The record of an image without what a guess of it could be checked with."""
    file, source, arrays = record["file"], record["source"], record["arrays"]
    assert isinstance(file, Mapping)
    assert isinstance(source, Mapping)
    assert isinstance(arrays, Mapping)
    return {
        **record,
        "file": {**file, "sha256": None},
        "source": {**source, "pixels": None},
        "arrays": dict.fromkeys(arrays),
    }


def _rendered(stage: JsonObject, hide: Hide) -> JsonObject:
    """The segments without the texts of contents."""
    segments = [
        {**segment, "text": hide(str(segment["text"]))}
        if isinstance(segment, Mapping) and segment["kind"] == "content"
        else segment
        for segment in _items(stage["segments"])
    ]
    return {**stage, "segments": segments}


def _ids(pack: Pack) -> list[int]:
    """The ids; those that a content has a part in are hidden."""
    kinds = _kinds(pack.stages)
    out: list[int] = []
    for id, (start, end) in zip(_items(pack.stages[Stage.IDS]["input_ids"]), pack.token_segments or (), strict=True):
        assert isinstance(id, int)
        out.append(HIDDEN if end == start or "content" in kinds[start:end] else id)
    return out


def _kinds(stages: Stages) -> list[str]:
    return [str(s["kind"]) for s in _items(stages[Stage.RENDERED]["segments"]) if isinstance(s, Mapping)]
