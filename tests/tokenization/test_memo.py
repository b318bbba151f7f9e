"""The memory of results is bounded and never changes a result."""

from __future__ import annotations

from katapi.runtime.tokenization.memo import Memo


def test_a_result_is_computed_once() -> None:
    calls: list[str] = []

    def length(text: str) -> int:
        calls.append(text)
        return len(text)

    remembered = Memo(length)
    assert [remembered["ab"], remembered["ab"]] == [2, 2]
    assert calls == ["ab"]


def test_a_long_text_is_not_kept() -> None:
    remembered = Memo(len)
    assert remembered["a" * 1000] == 1000
    assert not remembered


def test_the_number_of_entries_is_bounded() -> None:
    remembered = Memo(int, entries=10)
    assert [remembered[str(number)] for number in range(100)] == list(range(100))
    assert len(remembered) <= 10
