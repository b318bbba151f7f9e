"""What is proven stable is so for random conversations."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DataObject

from katapi.derive.stability import Question
from tests.derive.growing import accepted, conversations, ids, pairs, proven_settings
from tests.examples import examples
from tests.specs import ALL, Spec, model_of, program_of


@pytest.mark.parametrize("spec", ALL, ids=lambda spec: spec.name)
@pytest.mark.parametrize("question", Question)
@examples(test=10, fuzz=10_000)
@given(data=st.data())
def test_ids_of_a_stable_template_stay(spec: Spec, question: Question, data: DataObject) -> None:
    known = proven_settings(spec, question)
    if not known:
        return
    model = model_of(*spec)
    request = accepted(model, data.draw(conversations(spec, data.draw(st.sampled_from(known)))))
    for short, whole in pairs(program_of(*spec), question, request):
        before, behind = ids(model, short), ids(model, whole)
        assert before is None or behind is None or behind[: len(before)] == before
