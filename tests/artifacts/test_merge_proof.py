"""The proof that ranks suffice: where it says yes, both segmenters agree on every piece."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from katapi.artifacts.merge_proof import ranks_suffice
from katapi.runtime.tokenization.byte_pairs import BytePairs
from katapi.runtime.tokenization.tokens import Tokens
from katapi.runtime.tokenization.vocabulary_data import VocabularyData
from tests.vocabularies import merges_of_bytes

BYTES = [bytes([byte]) for byte in range(256)]


def ids_of(*words: bytes) -> dict[bytes, int]:
    """The 256 bytes, then `words`."""
    return {token: number for number, token in enumerate([*BYTES, *words])}


@st.composite
def vocabularies(draw: st.DrawFn) -> tuple[dict[bytes, int], list[tuple[bytes, bytes]]]:
    """Tokens that are put together from earlier ones, some of them by several merges, some by none."""
    tokens = [b"a", b"b", b"c"]
    merges: list[tuple[bytes, bytes]] = []
    for _ in range(draw(st.integers(1, 12))):
        left, right = draw(st.sampled_from(tokens)), draw(st.sampled_from(tokens))
        if left + right not in tokens:
            tokens.append(left + right)
        if draw(st.integers(0, 9)):
            merges.append((left, right))
    ids = ids_of(*tokens[3:])
    merges.sort(key=lambda merge: ids[merge[0] + merge[1]])
    return ids, merges


@given(vocabularies(), st.booleans(), st.lists(st.text("abc", min_size=1, max_size=30), min_size=1, max_size=10))
def test_where_ranks_suffice_they_give_the_same_ids(
    vocabulary: tuple[dict[bytes, int], list[tuple[bytes, bytes]]], ignore_merges: bool, pieces: list[str]
) -> None:
    ids, merges = vocabulary
    if not ranks_suffice(ids, merges, ignore_merges=ignore_merges):
        return
    merged = {left + right for left, right in merges}
    ranks = {token: number for token, number in ids.items() if ignore_merges or len(token) == 1 or token in merged}
    by_rank = BytePairs(VocabularyData(Tokens.by_id({number: token for token, number in ranks.items()})))
    by_merge = merges_of_bytes(ids, merges, ignore_merges=ignore_merges)
    for piece in [*pieces, *(token.decode() for token in ranks if token.isascii())]:
        assert by_rank.segment(piece) == by_merge.segment(piece)


def test_trained_merges_and_all_merges_suffice() -> None:
    ids = ids_of(b"ab", b"abc", b"bc", b"abcabc")
    trained = [(b"a", b"b"), (b"ab", b"c"), (b"b", b"c"), (b"abc", b"abc")]
    assert ranks_suffice(ids, trained, ignore_merges=False)
    assert ranks_suffice(ids, [*trained[:2], (b"a", b"bc"), *trained[2:]], ignore_merges=False)


def test_what_ranks_cannot_say() -> None:
    ids = ids_of(b"ab", b"abc", b"bc")
    trained = [(b"a", b"b"), (b"ab", b"c"), (b"b", b"c")]
    assert not ranks_suffice(ids, [trained[2], trained[0], trained[1]], ignore_merges=False)  # another order
    assert not ranks_suffice(ids, [trained[0], (b"a", b"bc"), trained[2]], ignore_merges=False)  # abc is ab and c
    assert not ranks_suffice({**ids, b"cc": 300}, trained, ignore_merges=True)  # no merge makes cc, and ranks would
    assert not ranks_suffice({b"a": 0, b"b": 1, b"ab": 2}, trained[:1], ignore_merges=False)  # bytes are missing


def test_a_token_that_is_never_made_matters_only_where_pieces_are_looked_up() -> None:
    ids = ids_of(b"bc", b"abcd", b"cd", b"ab")  # abcd comes to a, bc and d
    merges = [(b"b", b"c"), (b"ab", b"cd"), (b"c", b"d"), (b"a", b"b")]
    assert not ranks_suffice(ids, merges, ignore_merges=False)
    assert ranks_suffice(ids, merges, ignore_merges=True)
