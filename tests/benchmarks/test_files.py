"""The files that are made for peers, and the peers that `make test` has, give the ids that Katapi gives."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import katapi
from tools.benchmarks import first_request, request_starts
from tools.benchmarks.__main__ import ENVIRONMENT
from tools.benchmarks.adversaries import KINDS
from tools.benchmarks.conversations import read_vectors
from tools.benchmarks.encoders import joined, text_of
from tools.benchmarks.hub_tasks import HUB_MODELS
from tools.benchmarks.opened import each_opened, opened
from tools.benchmarks.processes import run
from tools.benchmarks.settings import Settings
from tools.benchmarks.vocabularies import DECLARED, Unavailable, Vocabulary, pattern_of, prepared

TEXTS = [
    "Hello there, it's 2026!",
    "def f(x):\n    return [x**2 for x in range(100)]  # the squares\n\n",
    "话说天下大势，分久必合，合久必分。\nかな カナ 한국어",
    "  \t spaces \r\n\r\n and ends   ",
    "emoji \U0001f468\u200d\U0001f469\u200d\U0001f467 and e\u0301",
    "12345 3.14159 ½ ٣٤٥",
]


@pytest.fixture(scope="module")
def cl100k(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vocabulary]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in ENVIRONMENT.items():
            patch.setenv(name, value)
        yield prepared("cl100k", tmp_path_factory.mktemp("bench"))


def test_each_peer_at_hand_gives_the_ids_of_katapi(cl100k: Vocabulary) -> None:
    at_hand = opened(cl100k)
    assert {"tiktoken", "tokenizers"} <= {*at_hand.peers}
    for encoder in at_hand.all.values():
        for text in TEXTS:
            ids = at_hand.katapi.as_list(text)
            assert encoder.as_list(text) == ids
            assert [*map(int, encoder.as_array(text))] == ids  # type: ignore[call-overload]  # an array of any kind
            assert encoder.count(text) == len(ids)
            assert encoder.decode is None or text_of(encoder.decode(ids)) == text
            assert encoder.stream is None or joined(encoder.stream(ids)) == text


def test_the_file_of_ranks_has_each_token_once(cl100k: Vocabulary) -> None:
    rows = [line.split() for line in Path(cl100k.file("ranks")).read_bytes().splitlines()]
    assert [int(rank) for _, rank in rows] == [*DECLARED["cl100k"].ranks]
    assert len({base64.b64decode(token) for token, _ in rows}) == len(rows)


def test_the_pattern_is_the_declared_one() -> None:
    assert {name for name, declared in DECLARED.items() if pattern_of(declared) is None} == {"gemma3", "mistral"}
    assert pattern_of(DECLARED["deepseek"]) == DECLARED["deepseek"].as_one


def test_a_file_that_is_not_at_hand_says_why() -> None:
    vocabulary = Vocabulary("V", "v", None, {}, {"json": "x/tokenizer.json is not at hand (A121)"}, {})
    with pytest.raises(Unavailable, match="A121"):
        vocabulary.file("json")
    with pytest.raises(Unavailable, match="no tekken file"):
        vocabulary.file("tekken")
    with pytest.raises(Unavailable):
        vocabulary.pattern_for_tiktoken()


def test_a_vocabulary_that_katapi_has_no_table_of_is_left_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Absent:
        def encode(self, text: str) -> list[int]:
            raise katapi.ArtifactError("no place gives the bytes", code="A121")

    monkeypatch.setattr(katapi, "load_tokenizer", lambda name: Absent())
    left_out: dict[str, str] = {}
    assert [*each_opened(Settings(tmp_path, ["cl100k", "qwen3"], True, 2), ["cl100k"], left_out)] == []
    assert left_out == {"cl100k": "Katapi has no table of it: no place gives the bytes"}


def test_a_vocabulary_goes_through_json() -> None:
    vocabulary = Vocabulary("V", "v", "p", {"json": "f"}, {}, {"quicktok": "v"})
    assert Vocabulary(*json.loads(json.dumps(vocabulary))) == vocabulary


def test_a_process_tells_its_start_and_its_memory(cl100k: Vocabulary) -> None:
    outcome = run("start", "tiktoken", cl100k, texts=TEXTS, limit=120)
    assert not outcome.ended
    (figures,) = outcome.lines
    assert figures["ids"] == 2
    assert float(figures["seconds"]) > 0
    assert float(figures["later"]) >= float(figures["first"]) > 1


def test_a_process_tells_how_time_grows_until_it_fails(cl100k: Vocabulary) -> None:
    outcome = run("growth", "Katapi", cl100k, "10000", "60", limit=300)
    assert [line["kind"] for line in outcome.lines] == [*KINDS]
    assert all(float(line["seconds"]) > 0 for line in outcome.lines)
    assert not outcome.ended
    absent = run("growth", "nobody", cl100k, "10000", "1", limit=60)
    assert absent.lines == []
    assert "StopIteration" in absent.ended


@pytest.mark.parametrize("kind", KINDS)
def test_a_hard_text_has_about_the_length_that_is_asked_for(kind: str) -> None:
    for length in (10_000, 100_000):
        assert length * 0.9 <= len(KINDS[kind](length).encode()) <= length * 1.4


def test_a_process_gives_the_first_ids_of_a_request(tmp_path: Path) -> None:
    request = {"messages": [{"role": "user", "content": "天空为什么是蓝色？"}], "add_generation_prompt": True}
    file = tmp_path / "given.json"
    file.write_text(json.dumps({"katapi": "book", "raw": json.dumps(request)}), encoding="utf-8")
    ids, seconds = request_starts._started("Katapi", str(file))
    assert ids == katapi.load("book").assemble(json.dumps(request).encode()).input_ids.tolist()
    assert seconds > 0
    assert request_starts._started("nobody", str(file)) == ([], 0.0)


def test_each_peer_of_first_requests_can_be_started() -> None:
    assert {peer for peers in request_starts.STARTED.values() for peer in peers} < {*first_request.PEERS}
    assert {*request_starts.STARTED} <= {of.name for of in HUB_MODELS}


def test_conversations_are_taken_evenly() -> None:
    every = [case.id for case in read_vectors("qwen3", 1000).cases]
    for most in (1, 30, 120):
        some = [case.id for case in read_vectors("qwen3", most).cases]
        assert most / 2 < len(some) <= most
        assert some == every[:: len(every) // len(some) + bool(len(every) % len(some))]
