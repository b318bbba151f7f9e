"""Control tokens with `lstrip` or `rstrip`: white space next to them gives no token, and stays in the text.

That generated code and oracle agree on it is tested with the other specs (`tests/differential/test_oracle.py`).
"""

from __future__ import annotations

import json

import pytest

from katapi.runtime.model_input import ModelInput
from katapi.runtime.printed import STRIPPED
from tests.specs import PASS, model_of

USER, MODEL, END, PLAIN, SPACE, NEWLINE, A, SEPARATOR, SPACE_A = range(9)


def assemble(*messages: tuple[str, str], prompted: bool = False) -> ModelInput:
    request = {
        "messages": [{"role": role, "content": content} for role, content in messages],
        "add_generation_prompt": prompted,
    }
    return model_of(PASS / "stripping.kata").assemble(json.dumps(request).encode())


def test_a_token_strips_literals_and_content_on_its_own_sides_only() -> None:
    made = assemble(("user", " \n a \n"))
    # " a " <user> "\n" content "\n" <end> "\n" <plain> " "
    assert made.text == " a <user>\n \n a \n\n<end>\n<plain> "
    assert made.input_ids.tolist() == [SPACE_A, SPACE, USER, A, END, NEWLINE, PLAIN, SPACE]


def test_a_token_knows_the_segment_that_it_came_from_though_others_were_stripped() -> None:
    made = assemble(("user", "\n\na"), ("assistant", " a\n"))
    ids = [SPACE_A, SPACE, USER, A, END, NEWLINE, PLAIN, MODEL, A, END, SPACE_A, SPACE, NEWLINE]
    assert made.input_ids.tolist() == ids
    paths = {token: origin.paths for token, origin in enumerate(made.origins) if origin.paths}
    assert paths == {3: (("messages", 0, "content"),), 8: (("messages", 1, "content"),)}
    assert [made.origins[token].kind for token in (0, 2, 3, 5)] == ["literal", "control", "content", "literal"]


def test_the_mask_is_that_of_what_is_left() -> None:
    made = assemble(("assistant", "  a  "))
    assert made.input_ids.tolist() == [SPACE_A, MODEL, A, END, SPACE_A, SPACE, NEWLINE]
    assert made.sampled.tolist() == [False, False, True, True, False, False, False]


@pytest.mark.parametrize("content", ["", " ", "\n \u3000\x85"])
def test_a_run_of_white_space_alone_is_gone(content: str) -> None:
    made = assemble(("assistant", content))
    assert made.input_ids.tolist() == [SPACE_A, MODEL, END, SPACE_A, SPACE, NEWLINE]
    assert made.text == f" a <model>\n{content}<end> a \n"
    assert made.sampled.tolist() == [False, False, True, False, False, False]
    assert len(made.origins) == 6


def test_white_space_is_what_unicode_calls_so() -> None:
    made = assemble(("user", f"{STRIPPED}\x1ca"))
    assert made.input_ids.tolist() == [SPACE_A, SPACE, USER, SEPARATOR, A, END, NEWLINE, PLAIN, SPACE]
    assert set(STRIPPED) == {c for c in map(chr, range(0x110000)) if c.isspace()} - set("\x1c\x1d\x1e\x1f")


def test_the_last_run_is_stripped_too() -> None:
    made = assemble(("user", "a"), prompted=True)
    assert made.input_ids.tolist()[-2:] == [PLAIN, MODEL]
    assert made.text.endswith("<plain> <model>\n")
