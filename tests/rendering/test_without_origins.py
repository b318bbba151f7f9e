"""Inputs that do not know where their tokens came from: the same ids, and an error for who asks."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import katapi
from katapi.runtime.budget.policy import Budget, CutLeft, Structure
from katapi.runtime.model_input import ModelInput
from katapi.runtime.request_model import RequestModel
from tests.packs.made import BOOK, QWEN, TOOLS

TALK = b'{"messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hello there, you"}]}'


@pytest.mark.parametrize(("model", "raw", "policy"), [(QWEN, TOOLS, None), (QWEN, TOOLS, "chat8k"), (BOOK, TALK, None)])
def test_all_but_the_origins_is_the_same(model: katapi.Model[RequestModel], raw: bytes, policy: str | None) -> None:
    with_them, without = model.assemble(raw, policy), model.assemble(raw, policy, origins=False)
    for name in ("input_ids", "attention_mask", "position_ids"):
        assert getattr(without, name).tolist() == getattr(with_them, name).tolist()
        assert not getattr(without, name).flags.writeable
    assert (without.text, len(without)) == (with_them.text, len(with_them))
    assert without.request == with_them.request
    assert without.rendered == with_them.rendered


def test_a_budget_that_cuts_tokens_off_does_so_too() -> None:
    whole = QWEN.assemble(TALK)
    budget = Budget("t@1", len(whole) - 2, 0, (), CutLeft(frozenset(Structure)))
    cut, without = QWEN.assemble(TALK, budget), QWEN.assemble(TALK, budget, origins=False)
    assert len(without) < len(whole)
    assert without.input_ids.tolist() == cut.input_ids.tolist()
    with pytest.raises(ValueError, match="origins=False"):
        _ = without.origins


ASKS: list[Callable[[ModelInput], object]] = [
    lambda x: x.origins,
    lambda x: x.sampled,
    lambda x: x.labels,
    lambda x: x.loss_mask("last"),
    lambda x: x.record,
    lambda x: x.digests(),
    lambda x: QWEN.extend(x, QWEN.encode("a"), [{"role": "user", "content": "b"}]),
]


@pytest.mark.parametrize("ask", ASKS)
def test_who_asks_is_told(ask: Callable[[ModelInput], object]) -> None:
    with pytest.raises(ValueError, match="assembled with origins=False; assemble it without that"):
        ask(QWEN.assemble(TALK, origins=False))
