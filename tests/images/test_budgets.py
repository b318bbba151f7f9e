"""Images under a budget and in conversations that go on: kept or left out with their messages, never half."""

from __future__ import annotations

import json
from dataclasses import replace
from random import Random

import numpy as np
import pytest

import katapi
from katapi.runtime.budget.cut import CutInput
from katapi.runtime.budget.policy import Allotment, Budget, CutLeft, Grouping, Misfit, Order, Section, Structure
from katapi.runtime.images.pipeline import ImagePipeline, ProcessedImage
from katapi.runtime.json_types import Json, JsonObject
from tests.images.shown import PAD, A, B, C, image, model, png, request, said, showing, text, user

MODEL = model()
POLICIES = [
    Allotment(Section.HISTORY, order, misfit, grouping)
    for order in (Order.NEWEST_FIRST, Order.OLDEST_FIRST)
    for misfit in Misfit
    for grouping in Grouping
]


def talk(random: Random, turns: int = 8) -> list[Json]:
    """Turns in which the user shows up to three images of several sizes, with words or without."""
    messages: list[Json] = []
    for turn in range(turns):
        parts: list[Json] = [image(random.choice((A, B, C, png(280, 280)))) for _ in range(random.choice((0, 1, 1, 3)))]
        if not parts or random.random() < 0.6:
            parts.insert(random.randrange(len(parts) + 1), text(f"question {turn} " * random.choice((1, 9))))
        messages.append(user(*parts))
        if turn < turns - 1:
            messages.append(said(f"answer {turn} " * random.choice((1, 9))))
    return messages


def objects(*messages: Json) -> list[JsonObject]:
    """Messages by themselves."""
    return [message for message in messages if isinstance(message, dict)]


def agrees(x: katapi.ModelInput) -> None:
    """Placeholders, origins and tensors of an input say the same."""
    assert (x.input_ids == PAD).sum() == sum(one.tokens for one in x.images)
    origins = [origin.image for origin in x.origins]
    for one in x.images:
        assert [at for at, o in enumerate(origins) if o is not None and o.index == one.index] == [*range(*one.span)]
        assert {o.path for o in origins[slice(*one.span)] if o is not None} == {one.path}
    assert sum(o is not None for o in origins) == sum(end - first for first, end in (one.span for one in x.images))
    grids = x.pixel_inputs().get("image_grid_thw", np.zeros((0, 3), dtype=np.int64))
    assert [int(row.prod()) // 4 for row in grids] == [one.tokens for one in x.images]


@pytest.mark.parametrize("seed", range(len(POLICIES)))
def test_what_a_budget_keeps_is_what_the_request_of_it_gives(seed: int) -> None:
    raw = request(*talk(Random(seed)))
    whole = MODEL.assemble(raw)
    tried = 0
    for share in (2, 3):
        budget = Budget("pictures@1", len(whole) // share, 4, (POLICIES[seed],))
        try:
            x = MODEL.assemble(raw, budget)
        except katapi.BudgetError:
            continue
        tried += 1
        agrees(x)
        assert len(x) <= budget.room
        again = MODEL.assemble(json.dumps(x.request.model_dump(mode="json", exclude_unset=True)).encode())
        assert again.input_ids.tolist() == x.input_ids.tolist()
        for choice in x.record.decision.choices if x.record.decision else ():
            assert choice.kept or choice.why.value != "fits"
    assert tried


def test_images_that_are_left_out_are_not_processed(monkeypatch: pytest.MonkeyPatch) -> None:
    processed: list[bytes] = []
    own = ImagePipeline.process_one

    def counted(self: ImagePipeline, data: bytes, *, media_type: str | None = None, where: str = "") -> ProcessedImage:
        processed.append(data)
        return own(self, data, media_type=media_type, where=where)

    monkeypatch.setattr(ImagePipeline, "process_one", counted)
    raw = request(user(image(B)), said("a " * 50), user(image(A)))
    budget = Budget("last@1", 20, 0, (POLICIES[0],))
    x = MODEL.assemble(raw, budget)
    assert [one.given.data for one in x.images] == [A]
    x.pixel_inputs()
    assert processed == [A]


@pytest.mark.parametrize(
    "breaks", [{Structure.MESSAGES}, {Structure.MESSAGES, Structure.IMAGES}, {Structure.IMAGES}, set()]
)
def test_no_cut_goes_through_an_image(breaks: set[Structure]) -> None:
    allowed = frozenset(breaks | {Structure.CHARACTERS, Structure.INSTRUCTIONS})
    cuts = 0
    for seed in range(4):
        raw = request(*talk(Random(100 + seed), 5), said("fine"), user(text("go on")))
        whole = MODEL.assemble(raw)
        for room in range(12, len(whole), 19):
            budget = replace(Budget("cut@1", room, 0, ()), overflow=CutLeft(allowed))
            try:
                x = MODEL.assemble(raw, budget)
            except katapi.BudgetError:
                continue
            assert isinstance(x, CutInput)
            cuts += 1
            agrees(x)
            assert x.input_ids.tolist() == whole.input_ids[x.first :].tolist()
            kept = [one for one in whole.images if one.span[0] >= x.first]
            assert [one.span for one in x.images] == [(a - x.first, b - x.first) for a, b in (k.span for k in kept)]
            assert len(whole.images) - len(kept) == sum(one.span[1] <= x.first for one in whole.images)
    assert cuts > 8


def test_a_message_of_an_image_alone_is_a_unit_of_a_cut() -> None:
    raw = request(user(image(png(280, 280))), said("a"), user(image(C)), said("b"), user(text("c")))
    whole = MODEL.assemble(raw)
    budget = replace(Budget("cut@1", len(whole) - 1, 0, ()), overflow=CutLeft(frozenset({Structure.INSTRUCTIONS})))
    x = MODEL.assemble(raw, budget)
    assert isinstance(x, CutInput)
    assert x.text.startswith("<|im_start|>assistant\na")
    assert [one.tokens for one in x.images] == [8]


def test_fit_context_counts_images() -> None:
    history = [
        json.loads(json.dumps(one)) for one in (user(image(png(280, 280))), said("a"), user(image(C)), said("b"))
    ]
    required = json.loads(json.dumps([user(text("now"))]))
    whole = katapi.fit_context(MODEL, required, history, [], 1000)
    agrees(whole)
    assert len(whole.images) == 2
    part = katapi.fit_context(MODEL, required, history, [], len(whole) - 1)
    agrees(part)
    assert [one.tokens for one in part.images] == [8]
    attached = objects(user(image(), text("now")))
    assert len(katapi.fit_context(MODEL, attached, [], [], 1000, images=katapi.Images(attached=[A])).images) == 1


# ---- conversations that go on


def test_a_conversation_goes_on_with_images() -> None:
    first = MODEL.assemble(request(user(image(A), text("what is this?"))))
    reply = MODEL.encode("A square.")
    new = objects(user(text("and "), image(), image(B)))
    x = MODEL.extend(first, reply, new, images=katapi.Images(attached=[C]))
    agrees(x)
    assert x.input_ids[: len(first)].tolist() == first.input_ids.tolist()
    assert [one.path for one in x.images] == [(*("messages", m, "content"), p) for m, p in ((0, 0), (2, 1), (2, 2))]
    assert [one.given.data for one in x.images] == [A, C, B]
    assert x.departures == ()
    whole = MODEL.assemble(
        request(user(image(A), text("what is this?")), said("A square."), user(text("and "), image(C), image(B)))
    )
    assert x.input_ids.tolist() == whole.input_ids.tolist()
    again = MODEL.extend(x, reply, objects(user(text("more?"))))
    agrees(again)
    assert len(again.images) == 3
    assert len(again.record.images) == 3


@pytest.mark.parametrize(("first", "second", "attached"), [((None,), (B,), []), ((A,), (None,), []), ((A,), (B,), [C])])
def test_images_of_a_new_message_without_bytes_are_refused(
    first: tuple[bytes | None], second: tuple[bytes | None], attached: list[bytes]
) -> None:
    start = MODEL.assemble(request(user(image(first[0]))))
    new = objects(user(image(second[0])))
    with pytest.raises(katapi.MediaError) as caught:
        MODEL.extend(start, MODEL.encode("ok"), new, images=katapi.Images(attached=attached))
    assert caught.value.code == ("M120" if attached else "M121")


def test_images_in_the_results_of_tools() -> None:
    call: Json = {"function": {"name": "look", "arguments": {}}}
    raw = request(
        user(text("look")),
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "content": [image(A), text("seen")]},
        user(image(B)),
    )
    x = MODEL.assemble(raw)
    agrees(x)
    assert [one.path[1] for one in x.images] == [2, 3]


def test_an_image_of_many_tokens_is_assembled_in_time_that_grows_with_them() -> None:
    big = showing("qwen3-vl", lambda: katapi.image_pipeline("qwen3_vl"))
    x = big.assemble(request(user(image(png(2048, 2048)), text("what?"))))
    agrees(x)
    assert x.images[0].tokens == 64 * 64


def test_a_batch_has_the_images_of_all_rows() -> None:
    inputs = [
        MODEL.assemble(request(user(image(A), text("one")))),
        MODEL.assemble(request(user(text("none")))),
        MODEL.assemble(request(user(image(B), image(C)))),
    ]
    rows = katapi.batch(inputs)
    packed = katapi.pack(inputs)
    expected = katapi.image_pipeline("qwen2_vl").process(A, B, C).arrays
    for found in (rows.pixel_inputs(), packed.pixel_inputs()):
        assert all(np.array_equal(found[name], expected[name]) for name in expected)
    layout = katapi.VISION_LAYOUTS["qwen3_vl"]
    grids = [[(1, 4, 4)], [], [(1, 4, 6), (1, 8, 4)]]
    for own, told in (
        (rows.mrope_positions(layout), rows.mrope_positions(layout, images=grids)),
        (packed.mrope_positions(layout), packed.mrope_positions(layout, images=grids)),
    ):
        assert np.array_equal(own.position_ids, told.position_ids)
    with pytest.raises(katapi.MediaError):
        rows.mrope_positions(layout, images=[])


TWO = request(user(image(A), image(B)))


def test_what_is_written_into_the_arrays_of_a_batch_is_of_no_record() -> None:
    x = MODEL.assemble(request(user(image(A))))
    assert not any(array.flags.writeable for array in x.images[0].arrays.values())
    assert not any(array.flags.writeable for array in x.pixel_inputs().values())
    assert not any(array.flags.writeable for array in MODEL.assemble(TWO).pixel_inputs().values())
    for made in (katapi.batch([x]), katapi.pack([x]), katapi.batch([x, x])):
        made.pixel_inputs()["pixel_values"][:] = 0
    assert x.images[0].arrays["pixel_values"].any()
    assert x.digests() == MODEL.assemble(request(user(image(A)))).digests()
