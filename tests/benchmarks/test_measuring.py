"""Statistics, interleaving, and who is not timed because what it gives is something else."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tools.benchmarks import decoding, encoding, growth
from tools.benchmarks.agreement import agreement, as_ids, between_ids, between_texts
from tools.benchmarks.conversations import Case, Conversation
from tools.benchmarks.corpus import CHUNK, Texts, chats, parts
from tools.benchmarks.encoders import Encoder
from tools.benchmarks.peers import PURE
from tools.benchmarks.renewal import Renewal, kind_of
from tools.benchmarks.statistics import Ratio, ratio, short
from tools.benchmarks.tasks import Task, TaskError, measured, same
from tools.benchmarks.timing import Failed, Side, in_pairs, interleaved


def encoder_of(ids: Callable[[str], list[int]]) -> Encoder:
    """Ids by a function; text from ids as from code points."""

    def decode(given: list[int]) -> str:
        return "".join(map(chr, given))

    return Encoder(ids, ids, lambda text: len(ids(text)), decode, lambda given: [decode([id]) for id in given])


def points(text: str) -> list[int]:
    return [ord(character) for character in text]


def wrong(text: str) -> list[int]:
    return points(text) if "x" not in text else [0, *points(text)[1:]]


def failing(text: str) -> list[int]:
    if "x" in text:
        raise OverflowError("too long")
    return points(text)


def test_a_ratio_is_of_each_item_by_itself() -> None:
    ours = [1.0, 10.0, 100.0, 1000.0, 1.0]
    assert ratio(ours, [2.0, 30.0, 400.0, 5000.0, 6.0]) == Ratio(4.0, 2.4, 5.6)
    assert ratio([2.0], [3.0]) == Ratio(1.5, 1.5, 1.5)


@pytest.mark.parametrize(("ours", "theirs"), [([], []), ([1.0], [1.0, 2.0])])
def test_ratios_need_as_many_times_on_both_sides(ours: list[float], theirs: list[float]) -> None:
    with pytest.raises(ValueError, match=r"no item was timed|zip"):
        ratio(ours, theirs)


@pytest.mark.parametrize(
    ("number", "text"),
    [(0.0341, "0.034"), (0.5, "0.5"), (0.996, "1.0"), (4.16, "4.2"), (9.96, "10"), (37.4, "37"), (1240.0, "1,240")],
)
def test_numbers_have_the_digits_that_count(number: float, text: str) -> None:
    assert short(number) == text


def test_every_item_goes_through_every_side_before_the_next() -> None:
    called: list[tuple[str, int]] = []

    def side(name: str) -> Side[int]:
        def work(item: int) -> int:
            called.append((name, item))
            return -item

        return lambda item: lambda: work(item)

    times = interleaved({"a": side("a"), "b": side("b")}, [1, 2, 3], 2)
    by_item = [{name for name, _ in called[at : at + 2]} for at in range(0, len(called), 2)]
    assert [item for _, item in called] == [1, 1, 2, 2, 3, 3] * 2
    assert all(names == {"a", "b"} for names in by_item)
    assert {called[0][0], called[2][0]} == {"a", "b"}  # who goes first changes
    assert {called[0][0], called[6][0]} == {"a", "b"}
    assert times["a"].results == [-1, -2, -3]
    assert [len(times["b"].first), len(times["b"].later)] == [3, 3]


def test_pairs_are_of_one_side_and_each_other() -> None:
    called: list[str] = []

    def side(name: str) -> Side[int]:
        return lambda item: lambda: called.append(name)

    pairs = in_pairs(side("ours"), {"a": side("a"), "b": side("b")}, [1, 2], 3)
    assert {*pairs} == {"a", "b"}
    assert [len(times.later) for pair in pairs.values() for times in pair] == [2] * 4
    assert called.count("ours") == 12
    assert "b" not in called[:12]
    assert "a" not in called[12:]
    assert all({*called[at : at + 2]} == {"ours", "a"} for at in range(0, 12, 2))


def test_what_fails_is_a_result() -> None:
    def side(item: str) -> Callable[[], object]:
        return lambda: failing(item)

    results = interleaved({"a": side}, ["y", "x"], 1)["a"].results
    assert results == [[121], Failed("OverflowError: too long")]


def test_agreement_tells_how_many_differ_and_where() -> None:
    found = agreement([[1, 2], [3, 4], [5]], [(1, 2), (3, 9), Failed("E: no")], between_ids)
    assert (found.full, found.differing) == (False, 2)
    assert str(found) == "differs on 67% of 3: from token 1 on [9], not [4]"
    assert agreement([[1]], [[1]], between_ids).full
    assert not agreement([[1, 2]], [[1]], between_ids).full
    assert agreement(["ab"], ["ax"], between_texts).first == "from character 1 on 'x', not 'b'"
    assert not agreement(["ab"], [b"ab"], between_texts).full


def test_ids_come_in_many_containers() -> None:
    assert as_ids([[1, 2], (3,)]) == as_ids((1, 2, 3)) == [1, 2, 3]
    for not_ids in ("12", b"12", 12):
        with pytest.raises(TypeError):
            as_ids(not_ids)


def test_a_peer_with_other_ids_is_named_and_not_timed() -> None:
    encoders = {name: encoder_of(ids) for name, ids in {"Katapi": points, "right": points, "wrong": wrong}.items()}
    encoders["failing"] = encoder_of(failing)
    found = encoding.Measured([], {}, {}, {})
    encoding._measure_kind(found, "V", Texts("code", [("ab",), ("axb", "b"), ("c",), ("d",)]), encoders, 2)
    assert {(cell.peer, cell.form) for cell in found.cells} == {
        ("right", form) for form in ("new", "list", "array", "count")
    }
    told = {peer: str(differs) for (_, peer, _), differs in found.differing.items()}
    assert told == {
        "wrong": "differs on 25% of 4: from token 0 on [0, 120, 98], not [97, 120, 98]",
        "failing": "differs on 25% of 4: OverflowError: too long",
    }


def test_the_pure_form_stands_beside_the_others_by_what_both_are_beside_katapi() -> None:
    cells = [
        encoding.Cell("V", "tiktoken", "list", "code", [1.0, 2.0], [6.0, 8.0]),
        encoding.Cell("V", PURE, "list", "code", [2.0, 1.0], [4.0, 8.0]),
        encoding.Cell("V", "tiktoken", "list", "JSON", [1.0], [1.0]),
    ]
    (cell,) = encoding.beside_pure(cells)
    assert (cell.peer, cell.kind, cell.katapi, cell.other) == ("tiktoken", "code", [2.0, 8.0], [6.0, 4.0])


def test_a_peer_that_decodes_to_another_text_is_named_and_not_timed() -> None:
    other = encoder_of(points)._replace(stream=lambda ids: ["?" for _ in ids])
    encoders = {"Katapi": encoder_of(points), "other": other, "none": encoder_of(points)._replace(decode=None)}
    found = decoding.Measured({}, {}, {})
    for way in ("documents", "streaming"):
        decoding._measure_way(found, "V", way, [points("abc")], encoders, 2)
    assert {*found.ratios} == {("V", "other", "documents"), ("V", "none", "streaming")}
    assert {*found.differing} == {("V", "other", "streaming")}


def test_a_text_is_cut_at_lines_and_begins_with_no_white_space() -> None:
    lines = ["  " + "word " * 20 + "\n"] * 3000
    found = [*parts(iter(lines), 3)]
    assert len(found) == 3
    assert all(CHUNK - 2 <= len(part) < CHUNK + 200 and part[0] == "w" and part[-1] == "\n" for part in found)


def test_chats_are_the_messages_of_conversations() -> None:
    found = chats(5)
    assert len(found.items) == 5
    assert all(any(item) for item in found.items)
    assert found.size == sum(len(text.encode()) for item in found.items for text in item)


def said(id: str, text: str) -> Case:
    request = {
        "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": text}],
        "tools": [{"name": "f", "description": text}],
    }
    return Case(id, {}, json.dumps(request, ensure_ascii=False).encode(), text, [])


CASES = [said(id, f"what is {id}") for id in "abc"]
RENEWAL = Renewal({"English": " ".join(map(str, range(2000)))})


def text_in(case: Conversation) -> str:
    return case.raw.decode()


def giving(of: Callable[[Conversation], object]) -> Side[Conversation]:
    return lambda case: lambda: of(case)


def test_a_task_is_timed_on_what_both_agree_on() -> None:
    def peer(case: Conversation) -> object:
        if case.id == "a":
            raise ValueError("refused")
        return "other" if case.id == "b" else text_in(case)

    task = Task("M", "to text", "peer", text_in, giving(text_in), giving(peer))
    row = measured(task, CASES, 2, RENEWAL)
    assert (row.timed, row.different, row.refused) == (1, 1, 1)
    assert [len(row.seen.katapi), len(row.seen.other)] == [1, 1]
    assert [len(row.contents.katapi), len(row.everything.other), row.contents.unequal] == [2, 2, 0]


def test_no_renewed_request_comes_twice_and_what_differs_is_left_out() -> None:
    met: list[str] = []

    def ours(case: Conversation) -> str:
        met.append(text_in(case))
        return text_in(case)

    renewed: list[str] = []

    def peer(case: Conversation) -> str:
        if case in CASES:
            return text_in(case)
        renewed.append(text_in(case))
        return text_in(case) if len(renewed) % 3 else "other"

    row = measured(Task("M", "to text", "peer", text_in, giving(ours), giving(peer)), CASES, 3, RENEWAL)
    assert sorted(renewed) == sorted({*met} - {text_in(case) for case in CASES})
    assert len(renewed) == 2 * row.timed * 3 == 18
    assert (row.contents.unequal, row.everything.unequal) == (3, 3)
    assert [len(row.contents.katapi), len(row.contents.other)] == [6, 6]


def test_new_contents_have_the_same_shape_beside_what_was_met_before() -> None:
    renewal = Renewal({"English": "the quick brown fox " * 20, "Chinese": "话说天下大势" * 20})
    messages = [
        {"role": "system", "content": "You are brief."},
        {"role": "user", "content": "天下大势是什么"},
        {"role": "assistant", "content": "It is.", "reasoning_content": "Hm.", "name": "x"},
    ]
    tools = [{"description": "A tool", "parameters": {"properties": {"description": {"type": "string"}}}}]
    given = Conversation("id", {}, json.dumps({"messages": messages, "tools": tools}).encode())
    contents, everything = (json.loads(of(given).raw) for of in (renewal.contents, renewal.everything))
    lengths = [{key: len(value) for key, value in message.items()} for message in messages]
    for renewed in (contents, everything):
        assert [{key: len(value) for key, value in m.items()} for m in renewed["messages"]] == lengths
        assert [m["role"] for m in renewed["messages"]] == ["system", "user", "assistant"]
        assert renewed["messages"][1]["content"] == "话说天下大势话" or renewed is everything
        assert renewed["messages"][2]["content"] != "It is."
    assert contents["tools"] == tools
    assert contents["messages"][0] == messages[0]
    assert everything["messages"][0] != messages[0]
    assert everything["tools"][0]["description"] != "A tool"
    assert everything["tools"][0]["parameters"] == {"properties": {"description": {"type": "string"}}}


def test_texts_are_cut_at_other_places_each_time_round() -> None:
    renewal = Renewal({"English": "abcdefghij"})
    cut = [renewal.text("xxxx") for _ in range(6)]
    assert cut == ["abcd", "efgh", "bcde", "fghi", "cdef", "ghij"]


@pytest.mark.parametrize(
    ("text", "kind"), [("话说 天下", "Chinese"), ("what", "English"), (' {"a": 1}', "JSON"), ("", "English")]
)
def test_a_content_has_a_kind(text: str, kind: str) -> None:
    assert kind_of(text) == kind


@pytest.mark.parametrize(("ours", "theirs"), [("ab", "abc"), ("abc", "")])
def test_a_task_is_refused_where_katapi_is_wrong_or_nobody_agrees(ours: str, theirs: str) -> None:
    def text(known: str) -> Side[Conversation]:
        return giving(lambda case: text_in(case) if case.id in known else "another")

    with pytest.raises(TaskError):
        measured(Task("M", "to text", "peer", text_in, text(ours), text(theirs)), CASES, 2, RENEWAL)


def test_a_task_is_refused_where_the_two_agree_on_nothing_new() -> None:
    def peer(case: Conversation) -> str:
        return text_in(case) if case in CASES else "another"

    with pytest.raises(TaskError, match="new contents"):
        measured(Task("M", "to text", "peer", None, giving(text_in), giving(peer)), CASES, 2, RENEWAL)


def test_results_are_the_same_whatever_holds_them() -> None:
    assert same((1, 2), [1, 2])
    assert not same("12", [1, 2])
    assert not same(Failed("E"), [1])


def test_hard_texts_stand_beside_katapi_and_beside_prose() -> None:
    found = growth.Measured({}, {}, {})
    for peer, costs in {"Katapi": (10.0, 5.0), "tiktoken": (40.0, 120.0)}.items():
        found.costs["V", peer, "prose", 1_000_000], found.costs["V", peer, "spaces", 1_000_000] = costs
    found.failed["V", "tiktoken", "one letter", 100_000] = "PanicException"
    beside = {kind: rest for kind, *rest in growth._beside_katapi(found, "V", ["tiktoken"])}
    assert (beside["prose"], beside["spaces"], beside["line ends"]) == (["4.0×"], ["24×"], [""])
    of_prose = {kind: rest for kind, *rest in growth._beside_prose(found, "V", ["Katapi", "tiktoken"])}
    assert of_prose["spaces"] == ["0.5", "3.0"]
    assert of_prose["one letter"] == ["", "error"]
