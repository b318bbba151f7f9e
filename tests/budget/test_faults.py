"""What generated property tests ask of budgets is asked in earnest: each fault that is planted here makes it fail."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import ModuleType
from typing import TypeAlias

import pytest

from katapi.runtime.budget import apply
from katapi.runtime.budget.fit import Fitted, fit
from katapi.runtime.images.arrays import Array
from katapi.runtime.json_types import JsonObject
from katapi.runtime.messages import items_of, messages_of
from katapi.runtime.model import Model
from katapi.runtime.model_input import ModelInput
from katapi.runtime.printed import Fixed, Printed, Stretch, fixed
from katapi.runtime.request_model import RequestModel
from katapi.runtime.segments import ContentSegment, ControlSegment, LiteralSegment
from katapi.runtime.tensors.images import pixel_inputs_of
from katapi.testing_budgets import Case, check_within
from katapi.testing_shown import Plain
from tests.specs import ROOT, model_named

Fault: TypeAlias = Callable[[RequestModel, list[Printed]], list[Printed]]

CASES = [("qwen3-vl", "agent32k"), ("gemma4", "tail4k"), ("glm-4.5v", "chat8k"), ("llama4", "chat8k")]

MAY_HAVE_NONE = ("gemma4",)  # after a result of a tool the model goes on, and no prefix is printed


def generated(name: str) -> ModuleType:
    """The generated tests of a model."""
    path = ROOT / "generated" / "tests" / f"test_{name.replace('-', '_').replace('.', '_')}.py"
    spec = importlib.util.spec_from_file_location(f"generated_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def check(model: Model[RequestModel], policy: str, request: RequestModel, room: float = 1) -> None:
    """What the generated test asks of one case."""
    tests = generated(model.name)
    check_within(model, Case(request, policy, room, 0), prefix=tests.PREFIX, placeholders=tests.PLACEHOLDERS)


def talk(model: Model[RequestModel], **others: bool) -> RequestModel:
    """Pictures and films among words, in several turns."""

    def shown(*kinds: str) -> JsonObject:
        return {"role": "user", "content": [{"type": "text", "text": "see"}, *({"type": kind} for kind in kinds)]}

    film = "image" if model.name == "llama4" else "video"
    answer: JsonObject = {"role": "assistant", "content": "I see."}
    messages = [shown("image", film), answer, shown(film), answer, shown("image", film, "image")]
    return model.decode_request(json.dumps({"messages": messages, **others}).encode())


def stretches(printed: Sequence[Printed]) -> list[tuple[int, Fixed]]:
    """What was printed that holds control tokens, with its places."""
    return [(at, (one[0], one[1])) for at, one in enumerate(printed) if isinstance(one[1], Stretch)]


def pictured(printed: Sequence[Printed], tests: ModuleType) -> list[tuple[int, Fixed]]:
    """What was printed for pictures."""
    sites = {site for one in tests.PLACEHOLDERS for way in one.ways for site in way}
    return [
        (at, one)
        for at, one in stretches(printed)
        if any(isinstance(segment, ControlSegment) and segment.site in sites for segment in one[1].segments)
    ]


def with_fault(model: Model[RequestModel], fault: Fault) -> Model[RequestModel]:
    """The model with a fault in what it prints."""
    return replace(model, _render=lambda request: fault(request, model._render(request)))


@pytest.mark.parametrize(("name", "policy"), CASES)
def test_without_a_fault_nothing_fails(name: str, policy: str) -> None:
    model = model_named(name)
    for asked in (False, True):
        for room in (1, 0.8, 0.5):
            check(model, policy, talk(model, add_generation_prompt=asked), room)


# ---- the generation prefix


def prefix_of(model: Model[RequestModel], request: RequestModel) -> list[Printed]:
    """What is printed more where the prefix is asked for."""
    without, whole = (
        model._render(request.model_copy(update={"add_generation_prompt": asked})) for asked in (False, True)
    )
    return whole[len(without) :]


@pytest.mark.parametrize(("name", "policy"), CASES)
@pytest.mark.parametrize("asked", [False, True])
def test_a_prefix_too_much_is_found(name: str, policy: str, asked: bool) -> None:
    model = model_named(name)
    faulty = with_fault(model, lambda request, printed: [*printed, *prefix_of(model, request)])
    with pytest.raises(AssertionError):
        check(faulty, policy, talk(model, add_generation_prompt=asked))


@pytest.mark.parametrize(("name", "policy"), [case for case in CASES if case[0] not in MAY_HAVE_NONE])
def test_a_prefix_that_lacks_is_found(name: str, policy: str) -> None:
    model = model_named(name)
    faulty = with_fault(
        model, lambda request, _: model._render(request.model_copy(update={"add_generation_prompt": False}))
    )
    with pytest.raises(AssertionError):
        check(faulty, policy, talk(model, add_generation_prompt=True))


def written(stretch: Stretch) -> list[ControlSegment | LiteralSegment]:
    """What the template has of a stretch, which is all of it here."""
    return [segment for segment in stretch.segments if not isinstance(segment, ContentSegment)]


@pytest.mark.parametrize(("name", "policy"), CASES)
def test_half_a_prefix_is_found(name: str, policy: str) -> None:
    model = model_named(name)

    def halved(request: RequestModel, printed: list[Printed]) -> list[Printed]:
        without = printed[: len(printed) - len(prefix_of(model, request))]
        [(_, last)] = stretches(prefix_of(model, request))[-1:]
        return [*without, fixed(*written(last[1])[1:])]

    with pytest.raises(AssertionError):
        check(with_fault(model, halved), policy, talk(model, add_generation_prompt=True))


# ---- pictures


@pytest.mark.parametrize(("name", "policy"), CASES)
@pytest.mark.parametrize("number", [0, 2, -1])
def test_a_placeholder_that_lacks_or_stands_twice_is_found(name: str, policy: str, number: int) -> None:
    model, tests = model_named(name), generated(name)

    def without(_: RequestModel, printed: list[Printed]) -> list[Printed]:
        at, _one = pictured(printed, tests)[number]
        return [*printed[:at], *printed[at + 1 :]]

    def twice(_: RequestModel, printed: list[Printed]) -> list[Printed]:
        at, one = pictured(printed, tests)[number]
        return [*printed[:at], one, *printed[at:]]

    for fault in (without, twice):
        with pytest.raises(AssertionError):
            check(with_fault(model, fault), policy, talk(model), 1)


@pytest.mark.parametrize(("name", "policy"), CASES[:3])
def test_placeholders_in_another_order_are_found(name: str, policy: str) -> None:
    model, tests = model_named(name), generated(name)

    def swapped(_: RequestModel, printed: list[Printed]) -> list[Printed]:
        (first, one), (second, other), *_others = pictured(printed, tests)
        out = [*printed]
        out[first], out[second] = other, one
        return out

    with pytest.raises(AssertionError):
        check(with_fault(model, swapped), policy, talk(model), 1)


@pytest.mark.parametrize("name", ["qwen3-vl", "glm-4.5v"])
def test_a_part_of_a_placeholder_is_found(name: str) -> None:
    model, tests = model_named(name), generated(name)

    def opened(_: RequestModel, printed: list[Printed]) -> list[Printed]:
        at, one = pictured(printed, tests)[-1]
        return [*printed[:at], fixed(*written(one[1])[1:]), *printed[at + 1 :]]

    with pytest.raises(AssertionError):
        check(with_fault(model, opened), "chat8k", talk(model), 1)


# ---- what is kept


@pytest.mark.parametrize(("name", "policy"), CASES)
@pytest.mark.parametrize("kind", ["image", "text"])
def test_a_part_of_a_message_that_the_fit_leaves_out_is_found(
    name: str, policy: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def without(request: RequestModel, *others: object) -> Fitted[RequestModel]:
        fitted: Fitted[RequestModel] = fit(request, *others)  # type: ignore[arg-type]  # passed on as they came
        messages = [*messages_of(fitted.request)]
        parts = items_of(messages[-1], "content")
        [left] = [at for at, part in enumerate(parts) if getattr(part, "type", "") == kind][-1:]
        messages[-1] = messages[-1].model_copy(update={"content": (*parts[:left], *parts[left + 1 :])})
        return replace(fitted, request=fitted.request.model_copy(update={"messages": tuple(messages)}))

    monkeypatch.setattr(apply, "fit", without)
    model = model_named(name)
    with pytest.raises(AssertionError):
        check(model, policy, talk(model), 1)


# ---- images with their bytes


def seen(model: Model[RequestModel]) -> RequestModel:
    """Images with their bytes, one in each turn."""
    small = [Plain(40 + 9 * turn, 30, 60 * turn) for turn in range(3)]
    asked: list[JsonObject] = [
        {"role": "user", "content": [{"type": "text", "text": "see"}, {"type": "image", "url": one.url()}]}
        for one in small
    ]
    answer: JsonObject = {"role": "assistant", "content": "I see."}
    messages = [asked[0], answer, asked[1], answer, asked[2]]
    return model.decode_request(json.dumps({"messages": messages}).encode())


@pytest.mark.parametrize(("name", "policy"), CASES)
def test_without_a_fault_nothing_fails_with_images(name: str, policy: str) -> None:
    model = model_named(name)
    kept: set[int] = set()
    for room in (1.0, 0.8, 0.5):
        check(model, policy, seen(model), room)
        whole = model.assemble(seen(model))
        budget = replace(model.budgets[policy], window=int(len(whole) * room), reserve=0)
        kept.add(len(model.assemble(seen(model), budget).images))
    assert {1, 3} <= kept, "some are left out"


@pytest.mark.parametrize(("name", "policy"), CASES)
def test_images_whose_pixels_stand_in_another_order_are_found(
    name: str, policy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def turned(inputs: Sequence[ModelInput]) -> dict[str, Array]:
        return {name: array[::-1] for name, array in pixel_inputs_of(inputs).items()}

    monkeypatch.setattr("katapi.runtime.tensors.images.pixel_inputs_of", turned)
    model = model_named(name)
    with pytest.raises(AssertionError):
        check(model, policy, seen(model), 1)


@pytest.mark.parametrize(("name", "policy"), CASES)
def test_images_of_other_messages_are_found(name: str, policy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def swapped(request: RequestModel, *others: object) -> Fitted[RequestModel]:
        fitted: Fitted[RequestModel] = fit(request, *others)  # type: ignore[arg-type]  # passed on as they came
        messages = [*messages_of(fitted.request)]
        messages[0], messages[-1] = messages[-1], messages[0]
        return replace(fitted, request=fitted.request.model_copy(update={"messages": tuple(messages)}))

    monkeypatch.setattr(apply, "fit", swapped)
    model = model_named(name)
    with pytest.raises(AssertionError):
        check(model, policy, seen(model), 1)
