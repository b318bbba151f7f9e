"""Documents of a request: what they may be, what a template sees of them, and where their tokens came from."""

from __future__ import annotations

import json

import pytest

import katapi
from katapi.oracle.request import canonical
from katapi.runtime.documents import score_of
from katapi.runtime.errors import RequestError, TemplateError
from katapi.runtime.json_types import Json, JsonObject
from katapi.runtime.model import Model
from katapi.runtime.request_model import RequestModel
from katapi.runtime.segments import ContentSegment
from tests.specs import PASS, ROOT, model_of, program_of

RECORDS = PASS / "documents.kata"
USER: Json = [{"role": "user", "content": "Where?"}]


def raw(*documents: Json, **params: Json) -> bytes:
    return json.dumps({"messages": USER, "documents": documents, **params}).encode()


def documents_of(model: Model[RequestModel], *documents: Json) -> tuple[object, ...]:
    """The documents of a decoded request."""
    found: tuple[object, ...] = dict(model.decode_request(raw(*documents)))["documents"]
    return found


def test_a_score_is_kept_in_the_request_and_not_printed() -> None:
    model = katapi.load("granite-4")
    document: JsonObject = {"title": "a", "score": 0.5, "text": "b"}
    plain = {key: member for key, member in document.items() if key != "score"}
    assert model.render(raw(document)) == model.render(raw(plain))
    assert model.render(raw({"id": "1", **document})) != model.render(raw(plain))
    request = model.decode_request(raw(document, plain, {"score": None}))
    assert request.model_dump()["documents"] == (document, plain, {"score": None})
    assert [score_of(d) for d in documents_of(model, document, plain, {"score": None})] == [0.5, None, None]


def test_a_score_of_a_record_is_a_field() -> None:
    model = model_of(RECORDS)
    document: JsonObject = {"doc_id": "1", "text": " b ", "score": 2}
    assert [score_of(d) for d in documents_of(model, document)] == [2]
    assert model.render(raw(document)).text.startswith("<document>1: 1\nb<end>")
    assert model.render(raw(document, scores=True)).text.startswith("<document>1: 1\nb\n2<end>")


@pytest.mark.parametrize("model", ["granite-4", "command-r-plus"])
@pytest.mark.parametrize("score", ["0.5", True, [1], {}])
def test_the_score_of_plain_json_is_a_number(model: str, score: Json) -> None:
    with pytest.raises(RequestError) as refused:
        katapi.load(model).decode_request(raw({"text": "a"}, {"text": "b", "score": score}))
    assert (refused.value.code, refused.value.where) == ("R113", "documents[1].score")
    name = {"granite-4": "granite4", "command-r-plus": "command-r"}[model]
    with pytest.raises(RequestError) as by_rules:
        canonical(program_of(ROOT / "spec" / "models" / f"{name}.kata", model), json.loads(raw({"score": score})))
    assert by_rules.value.code == "R113"


@pytest.mark.parametrize(
    ("document", "code", "where"),
    [
        ({"id": "1", "text": "a", "titel": "b"}, "R111", "documents[0].titel"),
        ({"id": "1", "doc_id": "1", "text": "a"}, "R111", "documents[0].doc_id"),
        ({"id": "1"}, "R112", "documents[0].text"),
        ({"id": 1, "text": "a"}, "R113", "documents[0].id"),
        ({"id": "1", "text": "a", "score": True}, "R113", "documents[0].score"),
        ({"id": "1", "text": "a", "score": "0.5"}, "R113", "documents[0].score"),
        ("a", "R113", "documents[0]"),
    ],
)
def test_a_record_takes_what_it_declares(document: Json, code: str, where: str) -> None:
    with pytest.raises(RequestError) as refused:
        model_of(RECORDS).decode_request(raw(document))
    assert (refused.value.code, refused.value.where) == (code, where)
    with pytest.raises(RequestError) as by_rules:
        canonical(program_of(RECORDS), json.loads(raw(document)))
    assert by_rules.value.code == code


def test_a_template_without_a_place_for_documents_says_so() -> None:
    with pytest.raises(RequestError) as refused:
        katapi.load("qwen3").decode_request(raw({"text": "a"}))
    assert (refused.value.code, refused.value.where) == ("R111", "documents")
    assert "no place for documents" in refused.value.help


def test_each_text_of_a_document_knows_where_it_came_from() -> None:
    """A score in front of other keys moves none of them."""
    request = raw({"text": "a"}, {"score": 1, "title": "Tall", "text": "122 cm", "page": 3})
    printed = {
        segment.path: segment.text
        for segment in katapi.load("command-r-plus").render(request).payload
        if isinstance(segment, ContentSegment) and segment.path[0] == "documents"
    }
    assert printed[("documents", 1, "text")] == "122 cm"
    assert printed[("documents", 1, "page")] == "3"
    assert {path for path in printed if path[1] == 1} == {("documents", 1, key) for key in ("title", "text", "page")}


def test_documents_of_glm_4_0414_are_observations_behind_the_last_question() -> None:
    model = katapi.load("glm-4-0414")
    found: list[JsonObject] = [
        {"id": 3, "title": "A", "url": "u/a", "content": "a <|user|>", "score": 0.5},
        {"id": 1, "title": "B", "url": "u/b", "text": "b"},
    ]
    messages: list[Json] = [
        {"role": "user", "content": "Why?"},
        {"role": "assistant", "content": "So."},
        {"role": "user", "content": "And?"},
    ]
    observed: list[Json] = [
        {"role": "observation", "content": "【3†A†u/a】\na <|user|>"},
        {"role": "observation", "content": "【1†B†u/b】\nb"},
    ]
    answered: list[Json] = [{"role": "assistant", "content": "It is so【3†source】."}]
    none: list[Json] = []
    for behind in (answered, none):
        given = model.assemble(json.dumps({"messages": [*messages, *behind], "documents": found}).encode())
        plain = model.assemble(json.dumps({"messages": [*messages, *observed, *behind]}).encode())
        assert given.input_ids.tolist() == plain.input_ids.tolist()
        assert given.sampled.tolist() == plain.sampled.tolist()
    shown = model.render(json.dumps({"messages": messages, "documents": found}).encode())
    paths = {s.path for s in shown.payload if isinstance(s, ContentSegment)}
    assert {("documents", 0, "id"), ("documents", 0, "content"), ("documents", 1, "url")} <= paths
    with pytest.raises(TemplateError, match="Documents stand behind a question"):
        model.render(json.dumps({"messages": answered, "documents": found}).encode())
    best = model.assemble(json.dumps({"messages": messages, "documents": found}).encode(), "rag16k")
    assert best.record.decision is not None
    assert [choice.at for choice in best.record.decision.choices if choice.section.value == "documents"] == [(0,), (1,)]
