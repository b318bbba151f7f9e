"""The record: all that the chapter asks for, stage by stage, of executions that succeed and that fail."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pydantic
import pytest

import katapi
from katapi.packs.reading import read_pack
from katapi.packs.replay import FIXTURE, FIXTURE_IDS, replay
from katapi.packs.writing import pack_bytes, pack_of
from katapi.runtime.execution import execute
from katapi.runtime.light_record import spelled
from katapi.runtime.record import canonical_json, segment_json, stage_digest
from katapi.runtime.stages import Failure, Stage
from tests.packs.made import BOOK, INVALID, LONG, QWEN, TOOLS, extended, fitted


def test_the_stages_stand_in_their_order() -> None:
    record = QWEN.assemble(TOOLS).record
    assert [*record.stages] == [*Stage] == [*record.digests()]
    assert [stage.value for stage in Stage] == [
        *("bytes", "request", "budget", "images", "template"),
        *("rendered", "tokenizer", "runs", "ids", "tensors"),
    ]


def test_what_an_execution_prints_holds_no_content() -> None:
    asked = '{"messages": [{"role": "%s", "content": "天空"}]}'
    assert repr(execute(BOOK, (asked % "user").encode())) == "Execution(book, 5 tokens)"
    assert repr(execute(BOOK, (asked % "天空").encode())) == "Execution(book, R110 at messages[0].role)"
    assert repr(execute(BOOK, b"")).startswith("Execution(book, R100 at ")


@pytest.mark.parametrize(
    "made",
    [
        BOOK.assemble(FIXTURE.encode()),
        QWEN.assemble(TOOLS, params={"enable_thinking": True}),
        QWEN.assemble(QWEN.decode_request(TOOLS)),
        QWEN.assemble(LONG, "chat8k"),
        QWEN.assemble(LONG, "tail4k"),
        QWEN.assemble('{"messages": [{"role": "user", "content": "\\u0000\\"\\\\ \u007f é天😀 </script>"}]}'.encode()),
        extended(),
        fitted(),
    ],
    ids=["fixture", "parameters", "typed", "budget", "cut", "escapes", "extended", "fit_context"],
)
def test_the_light_form_is_that_of_the_record(made: katapi.ModelInput) -> None:
    assert made.digests() == made.record.digests()
    assert [*made.digests()] == [*Stage]
    for segment in made.rendered.payload:
        assert spelled(segment).encode() == canonical_json(segment_json(segment))


def test_each_row_of_the_table_has_a_stage_that_is_the_first_to_show_it() -> None:
    shown = {failure for stage in Stage for failure in stage.failures}
    assert shown == {*Failure}
    assert len(Failure) == 7


def test_what_the_stages_of_the_fixture_hold() -> None:
    found = BOOK.assemble(FIXTURE.encode())
    stages = found.record.stages
    assert stages[Stage.BYTES] == {
        "sha256": hashlib.sha256(FIXTURE.encode()).hexdigest(),
        "size": len(FIXTURE.encode()),
        "params": None,
        "invalid_utf8": "strict",
        "max_depth": 64,
        "substitutions": [],
    }
    request = json.loads(FIXTURE)
    assert stages[Stage.REQUEST]["messages"] == request["messages"]
    assert stages[Stage.REQUEST]["parameters"] == {"add_generation_prompt": True}
    assert stages[Stage.REQUEST]["defaults"] == {}
    assert stages[Stage.REQUEST]["digest"] == BOOK.request_rules.digest
    assert stages[Stage.TEMPLATE] == {"id": "Book@1", "digest": BOOK.template.digest}
    assert stages[Stage.TOKENIZER]["parts"] == BOOK.tokenizer_parts.to_json()
    assert stages[Stage.IDS]["input_ids"] == FIXTURE_IDS
    assert stages[Stage.TENSORS] == {
        "attention_mask": (1,) * 12,
        "position_ids": tuple(range(12)),
        "length": 12,
    }
    runs = stages[Stage.RUNS]["runs"]
    assert [*FIXTURE_IDS[2:3]] == [7]
    assert runs[2] == [2, 3, 2, 3]  # type: ignore[index]  # plain JSON of a known shape: 简洁回答
    assert runs[5] == [5, 6, 5, 10]  # type: ignore[index]  # plain JSON of a known shape: 天空为什么是蓝色？


def test_a_parameter_that_was_not_set_has_its_value_among_the_defaults() -> None:
    raw = b'{"messages": [{"role": "user", "content": "a"}]}'
    plain = QWEN.assemble(raw).record.stages[Stage.REQUEST]
    assert plain["parameters"] == {}
    assert plain["defaults"] == {"tools": None, "enable_thinking": True, "add_generation_prompt": True}


def test_versions_are_those_of_what_runs() -> None:
    ran = BOOK.assemble(FIXTURE.encode()).record.environment
    assert ran.python == ".".join(map(str, sys.version_info[:3]))
    assert (ran.pydantic, ran.numpy) == (pydantic.VERSION, np.__version__)


def test_runs_and_control_tokens_cover_all_segments_and_all_ids() -> None:
    for found in (QWEN.assemble(TOOLS), QWEN.assemble(LONG, "chat8k"), fitted(), extended()):
        runs = found.record.runs
        for which, end in (("segments", len(found.rendered.payload)), ("ids", len(found))):
            bounds = [getattr(run, which) for run in runs]
            assert [start for start, _ in bounds] == [0, *(stop for _, stop in bounds[:-1])]
            assert bounds[-1][1] == end


@pytest.mark.parametrize(
    ("raw", "policy", "code", "at"),
    [
        (INVALID, None, "R101", Stage.REQUEST),
        (b"{", None, "R103", Stage.REQUEST),
        (b'{"messages": [{"role": "wizard"}]}', None, "R110", Stage.REQUEST),
        (LONG, katapi.Budget("mine@1", window=64, reserve=8), "B100", Stage.BUDGET),
        (TOOLS, "nobody's", "B101", Stage.BUDGET),
    ],
)
def test_an_execution_that_fails_has_the_stages_before_the_error(
    raw: bytes, policy: str | katapi.Budget | None, code: str, at: Stage
) -> None:
    found = execute(QWEN, raw, policy)
    assert found.input is None
    assert found.error is not None
    assert found.error.code == code
    order = [*Stage]
    assert [*found.record.stages] == order[: order.index(at)]
    told = found.record.to_json()["error"]
    assert isinstance(told, dict)
    assert (told["code"], told["at"], told["message"]) == (code, at.value, found.error.message)


class Refusing:
    """A tokenizer that has a token for nothing."""

    def encode(self, text: str, first: bool = True) -> list[int]:
        raise katapi.TokenizerError("there is no token", code="V107", where="character 0")

    def encode_bytes(self, text: str, first: bool = True) -> bytes:
        return np.array(self.encode(text, first), dtype=np.int64).tobytes()


def test_a_text_that_cannot_be_encoded_leaves_what_was_rendered() -> None:
    model = replace(BOOK, _tokenizer=Refusing)  # type: ignore[arg-type]  # nothing else of a tokenizer is asked for
    record = execute(model, FIXTURE.encode()).record
    assert record.fault is not None
    assert (record.fault.at, record.fault.error.code) == (Stage.RUNS, "V107")
    assert [*record.stages][-1] is Stage.TOKENIZER
    assert record.segments == BOOK.render(FIXTURE.encode()).payload
    done = replay(read_pack(pack_bytes(pack_of(model, execute(model, FIXTURE.encode())))), model)
    assert done.agrees, done.first
    assert not replay(read_pack(pack_bytes(pack_of(BOOK, BOOK.assemble(FIXTURE.encode())))), model).agrees


def test_a_template_that_refuses_leaves_its_identity() -> None:
    refused = execute(katapi.load("gemma3"), b'{"messages": [{"role": "assistant", "content": ""}]}')
    assert refused.record.fault is not None
    assert refused.record.fault.at is Stage.RENDERED
    assert [*refused.record.stages][-1] is Stage.TEMPLATE


def test_what_was_replaced_is_in_the_record_also_where_the_request_is_refused() -> None:
    lenient = replace(BOOK, invalid_utf8="replace")
    found = execute(lenient, b'{"messages": [{"role": "user", "content": "\xff"}], "x": 1}')
    assert found.error is not None
    assert found.error.code == "R111"
    assert [s.where for s in found.record.substitutions] == ["byte 43"]


def test_an_execution_that_succeeds_is_the_one_of_assemble() -> None:
    found = execute(QWEN, TOOLS, params={"enable_thinking": True})
    assert found.error is None
    assert found.record == QWEN.assemble(TOOLS, params={"enable_thinking": True}).record
    assert found.record.fault is None


def test_a_digest_goes_by_every_value_and_by_the_order_of_keys() -> None:
    record = QWEN.assemble(TOOLS).record
    for content in record.stages.values():
        before = stage_digest(content)
        for key in content:
            assert (
                stage_digest(
                    {**content, key: "other" if key not in ("input_ids", "attention_mask", "position_ids") else [5]}
                )
                != before
            )
    assert stage_digest({"a": {"x": 1, "y": 2}}) != stage_digest({"a": {"y": 2, "x": 1}})
    assert canonical_json({"é": 1.5, "a": None}) == b'{"\\u00e9":1.5,"a":null}'


def test_ids_are_hashed_as_the_docstring_says() -> None:
    made = hashlib.sha256(b"{}" + b"\ninput_ids 2\n" + (1).to_bytes(8, "little") + (300).to_bytes(8, "little"))
    assert stage_digest({"input_ids": [1, 300]}) == f"sha256:{made.hexdigest()}"


def test_the_json_of_a_record_is_plain_and_has_each_key() -> None:
    told = QWEN.assemble(TOOLS, "agent32k").record.to_json()
    assert json.loads(json.dumps(told))["length"] == 325
    assert [key for key, value in told.items() if value is None] == ["error"]


def test_no_assembling_makes_a_record_or_imports_a_pack() -> None:
    code = (
        "import sys, katapi\n"
        "m = katapi.load('book')\n"
        f"x = m.assemble({FIXTURE.encode()!r})\n"
        "assert 'record' not in x.__dict__\n"
        "named = ('katapi.packs', 'katapi.runtime.execution')\n"
        "print(*(name for name in sys.modules if name.startswith(named)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
