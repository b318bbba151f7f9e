"""Executions of other systems as packs, so that `katapi.diff` can say where they part from Katapi.

What a system does not expose stays unknown: of a rendered string there is the stage `rendered`, of `prompt_token_ids`
and of a reply of vLLM the stage `ids`, of `apply_chat_template` of transformers both, and the mask.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Protocol, SupportsInt

from katapi.packs.pack import Pack, plain_digests
from katapi.runtime.errors import ReplayError, RequestError
from katapi.runtime.json_types import Json, JsonObject
from katapi.runtime.record import environment
from katapi.runtime.stages import Stage
from katapi.runtime.strict_json import MAX_DEPTH, decode_json

_LARGEST = 2**63 - 1


class ChatTokenizer(Protocol):
    """What is asked of a tokenizer of transformers."""

    def apply_chat_template(
        self,
        conversation: Sequence[Mapping[str, object]],
        tools: Sequence[Mapping[str, object]] | None,
        *,
        tokenize: bool,
        **kwargs: object,
    ) -> object:
        """The text that the chat template prints, or with `tokenize` and `return_dict` a mapping with `input_ids`."""
        ...


class TokenizerLoader(Protocol):
    """What is asked of `transformers.AutoTokenizer`."""

    def from_pretrained(self, folder: str, *, local_files_only: bool, trust_remote_code: bool) -> ChatTokenizer:
        """The tokenizer whose files are in a folder."""
        ...


def of_parts(
    source: str,
    *,
    model: str = "",
    text: str | None = None,
    input_ids: Iterable[SupportsInt] | None = None,
    attention_mask: Iterable[SupportsInt] | None = None,
    position_ids: Iterable[SupportsInt] | None = None,
) -> Pack:
    """What is known of an execution of the system `source`; what is None stays unknown.

    Raises `ReplayError` Y120 for numbers that are none, or that are not as many as there are ids.
    """
    arrays = {
        name: _numbers(values, name)
        for name, values in (
            ("input_ids", input_ids),
            ("attention_mask", attention_mask),
            ("position_ids", position_ids),
        )
        if values is not None
    }
    counts = {len(values) for values in arrays.values()}
    if len(counts) > 1:
        said = ", ".join(f"{len(values)} {name}" for name, values in arrays.items())
        raise ReplayError(f"there are {said}", code="Y120", help="pass one row, as long as the ids")
    stages: dict[Stage, JsonObject] = {}
    if text is not None:
        stages[Stage.RENDERED] = _rendered(text)
    ids = arrays.pop("input_ids", None)
    if ids is not None:
        stages[Stage.IDS] = {"input_ids": ids}
    if arrays:
        stages[Stage.TENSORS] = {**arrays, "length": counts.pop()}
    return _pack(source, model, stages, None)


def of_text(text: str, *, model: str = "", source: str = "a rendered text") -> Pack:
    """An execution of which the rendered text is known, with its control tokens as they are spelled."""
    return _pack(source, model, {Stage.RENDERED: _rendered(text)}, None)


def of_ids(ids: Iterable[SupportsInt], *, model: str = "", source: str = "token ids") -> Pack:
    """An execution of which the ids are known: `prompt_token_ids` of an answer of a server.

    Raises `ReplayError` Y120 for what is no list of ids.
    """
    return of_parts(source, model=model, input_ids=ids)


def of_vllm(reply: bytes | JsonObject, *, model: str = "", source: str = "vLLM") -> Pack:
    """What vLLM replied: to `/tokenize`, JSON with `tokens` and `count`; or an answer that tells what it was given.

    Asked with `return_token_ids` an answer has `prompt_token_ids`, that of `/v1/completions` in its one choice. Asked
    with `return_prompt_text` it also has `prompt_text`, what the template printed. Raises `ReplayError` Y121 for what
    is no such reply, and Y120 for a token that no 64-bit integer holds.
    """
    value: Json = reply if not isinstance(reply, bytes) else _json(reply)
    if not isinstance(value, Mapping):
        raise _no_reply("it is no object", "")
    key, tokens = next(_token_lists(value), ("tokens", None))
    if not isinstance(tokens, list | tuple):
        raise _no_reply("it has no list `tokens`, and no `prompt_token_ids`", key)
    if key == "tokens" and value.get("count") != len(tokens):
        raise _no_reply(f"it has {len(tokens)} `tokens`, and its `count` is {value.get('count')!r}", "count")
    ids = [token for token in tokens if isinstance(token, int) and not isinstance(token, bool)]
    if len(ids) != len(tokens):
        raise _no_reply(f"not all of its `{key}` are integers", key)
    text = value.get("prompt_text")
    return of_parts(source, model=model, text=text if isinstance(text, str) else None, input_ids=ids)


def _token_lists(reply: JsonObject) -> Iterator[tuple[str, Json]]:
    """The ids of the prompt in a reply, with the key under which they stand."""
    choices = reply.get("choices")
    inner = choices[0] if isinstance(choices, list | tuple) and len(choices) == 1 else None
    for key, place in (("tokens", reply), ("prompt_token_ids", reply), ("prompt_token_ids", inner)):
        if isinstance(place, Mapping) and place.get(key) is not None:
            yield key, place[key]


def of_transformers(
    tokenizer: ChatTokenizer,
    messages: Sequence[Mapping[str, object]],
    tools: Sequence[Mapping[str, object]] | None = None,
    *,
    model: str = "",
    **kwargs: object,
) -> Pack:
    """What `tokenizer.apply_chat_template(messages, tools, **kwargs)` of an installed transformers gives.

    It is called for the text, and again for ids and mask. Where the template refuses the request, the pack says so as
    that of a failed execution does. Raises `ReplayError` Y120 where the ids are no row of numbers.
    """
    source = _transformers()
    try:
        text = tokenizer.apply_chat_template(messages, tools, tokenize=False, **kwargs)
        encoded = tokenizer.apply_chat_template(messages, tools, tokenize=True, return_dict=True, **kwargs)
    except Exception as error:
        # The template is Jinja's, and what it refuses is an error of Jinja: transformers has no class of its own.
        if not type(error).__module__.startswith("jinja2"):
            raise
        fault = {
            "at": Stage.RENDERED.value,
            "stage": "template",
            "code": type(error).__name__,
            "where": "",
            "message": str(error),
            "help": "",
        }
        return _pack(source, model, {}, fault)
    arrays = encoded if isinstance(encoded, Mapping) else getattr(encoded, "data", None)
    if not isinstance(text, str) or not isinstance(arrays, Mapping) or "input_ids" not in arrays:
        raise ReplayError(
            f"apply_chat_template gave {type(text).__name__} and {type(encoded).__name__}",
            code="Y120",
            where=source,
            help="pass a tokenizer of transformers, and one conversation",
        )
    return of_parts(
        source,
        model=model,
        text=text,
        input_ids=arrays["input_ids"],
        attention_mask=arrays.get("attention_mask"),
        position_ids=arrays.get("position_ids"),
    )


def of_folder(folder: str | Path, request: bytes, *, model: str = "") -> Pack:
    """What an installed transformers gives for a request with the tokenizer in a folder; nothing is fetched.

    The request is JSON: `messages`, `tools` if there are any, and as other keys the arguments of `apply_chat_template`,
    such as `add_generation_prompt`. Raises `ReplayError` Y123 where it is none, or transformers is not installed, finds
    no tokenizer in the folder or ends with an error of its own, and Y120 where the ids are no row of numbers.
    """
    value = _request(request)
    messages, tools = value.pop("messages"), value.pop("tools", None)
    if not Path(folder).is_dir():
        raise _not_made(f"{folder} is no folder", "pass the folder with tokenizer.json and tokenizer_config.json")
    try:
        loader: TokenizerLoader = import_module("transformers").AutoTokenizer
    except ImportError as error:
        raise _not_made(f"transformers cannot be imported: {error}", "run `pip install transformers jinja2`") from None
    try:
        tokenizer = loader.from_pretrained(str(folder), local_files_only=True, trust_remote_code=False)
        return of_transformers(tokenizer, _objects(messages), _objects(tools) or None, model=model, **value)
    except ReplayError:
        raise
    except Exception as error:  # it loads code for each kind of tokenizer, each with errors of its own
        said = f"{type(error).__name__}: {error}".partition("\n")[0]
        raise _not_made(f"transformers ended with {said}", "see whether it takes this request by itself") from error


def _request(request: bytes) -> dict[str, Json]:
    """A request of transformers: its keys."""
    help = "pass JSON with `messages`, `tools`, and other arguments of apply_chat_template"
    try:
        value = decode_json(request, invalid_utf8="strict", max_depth=MAX_DEPTH).value
    except RequestError as error:
        raise _not_made(error.message, help, error.where) from None
    if not isinstance(value, Mapping) or not isinstance(value.get("messages"), list | tuple):
        raise _not_made("it has no list of messages", help, "messages")
    for name in ("messages", "tools"):
        listed = value.get(name)
        if listed is not None and len(_objects(listed)) != (len(listed) if isinstance(listed, list | tuple) else -1):
            raise _not_made("it is no list of objects", help, name)
    return dict(value)


def _objects(value: Json) -> list[JsonObject]:
    """The objects in a list."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list | tuple) else []


def _not_made(what: str, help: str, where: str = "") -> ReplayError:
    return ReplayError(what, code="Y123", where=where, help=help)


def _rendered(text: str) -> JsonObject:
    """The stage `rendered` of a text of which nothing says what in it is control, literal or content."""
    return {"segments": [{"kind": "unknown", "text": text}], "sampled": []}


def _pack(source: str, model: str, stages: Mapping[Stage, JsonObject], fault: JsonObject | None) -> Pack:
    return Pack(
        model=model,
        environment=environment(),
        stages=stages,
        digests=plain_digests(stages),
        raw=None,
        policy=None,
        fault=fault,
        token_segments=None,
        artifacts=(),
        redaction=None,
        source=source,
    )


def _transformers() -> str:
    """The name and version of transformers."""
    from importlib.metadata import PackageNotFoundError, version  # takes 20 ms, and only this asks

    try:
        return f"transformers {version('transformers')}"
    except PackageNotFoundError:
        return "transformers"


def _numbers(values: Iterable[SupportsInt], name: str) -> list[int]:
    """A row of integers, also of an array of numpy or torch."""
    try:
        given = [*values]
        found = [int(value) for value in given]
        if all(number == value and abs(number) <= _LARGEST for number, value in zip(found, given, strict=True)):
            return found
    except (TypeError, ValueError, OverflowError, RuntimeError):
        pass
    raise ReplayError(
        "it is no row of 64-bit integers", code="Y120", where=name, help="pass the row of one input, without a batch"
    )


def _json(reply: bytes) -> Json:
    try:
        return decode_json(reply, invalid_utf8="strict", max_depth=MAX_DEPTH).value
    except RequestError as error:
        raise _no_reply(error.message, error.where) from None


def _no_reply(what: str, where: str) -> ReplayError:
    return ReplayError(
        f"it is no reply of vLLM that tells ids: {what}",
        code="Y121",
        where=where,
        help="pass the body that /tokenize replies, or an answer that was asked for with return_token_ids",
    )
