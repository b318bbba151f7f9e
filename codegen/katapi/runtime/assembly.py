"""What was printed → ids: runs of text are encoded as one string each, control tokens stand for themselves."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.known_runs import BYTES_OF_ID, KnownRuns
from katapi.runtime.printed import Printed, Stretch, without_space
from katapi.runtime.tokenization.interface import Tokenizer

_INT64 = np.dtype(np.int64)


def assemble_array(
    printed: Iterable[Printed],
    tokenizer: Tokenizer,
    *,
    known: KnownRuns | None = None,
    first: bool = True,
    stripping: bool = False,
) -> tuple[NDArray[np.int64], list[int]]:
    """The ids of what was printed, and how many there are at the end of each run that is not empty.

    The ids are a read-only int64 array of shape [n].

    A run is the text between two control tokens, without the white space that these strip. No text, whatever it spells,
    gives a control id. `first` says that nothing stands before, `stripping` that what stands before is a control token
    that strips behind it. `known` are runs that the tokenizer encoded before.
    """
    encode = (KnownRuns(tokenizer) if known is None else known).encode_bytes
    parts: list[bytes] = []
    count = 0
    run_ends: list[int] = []
    texts: list[str] = []
    for part in printed:
        stretch = part[1]
        if not isinstance(stretch, Stretch) or not stretch.holds_control:
            if part[0]:
                texts.append(part[0])
            continue
        if stretch.opening:
            texts.append(stretch.opening)
        if stripping or stretch.strips_before:
            texts = _stripped(texts, before=stripping, behind=stretch.strips_before)
        if texts:
            ids = encode(tuple(texts), first)
            parts.append(ids)
            count += len(ids) // BYTES_OF_ID
            run_ends.append(count)
        texts = [stretch.closing] if stretch.closing else []
        stripping = stretch.strips_behind
        first = False
        encoded = stretch.known
        if encoded is None or encoded[0] is not tokenizer:
            encoded = stretch.encoded(tokenizer)
        _, ids, length, ends = encoded
        parts.append(ids)
        if ends:
            run_ends += [count + end for end in ends]
        count += length
    if stripping:
        texts = _stripped(texts, before=True, behind=False)
    if texts:
        ids = encode(tuple(texts), first)
        parts.append(ids)
        run_ends.append(count + len(ids) // BYTES_OF_ID)
    return np.frombuffer(b"".join(parts), _INT64), run_ends


def _stripped(texts: list[str], *, before: bool, behind: bool) -> list[str]:
    """The texts of a run without the white space that the control tokens at its ends strip."""
    run = without_space("".join(texts), before=before, behind=behind)
    return [run] if run else []


def assemble_ids(printed: Iterable[Printed], tokenizer: Tokenizer) -> tuple[list[int], list[int]]:
    """The same of a whole input, with the ids in a list."""
    ids, run_ends = assemble_array(printed, tokenizer)
    return ids.tolist(), run_ends
