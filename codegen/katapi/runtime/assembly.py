"""What was printed → ids: runs of text are encoded as one string each, control tokens stand for themselves."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.known_runs import BYTES_OF_ID, KnownRuns, encode_bytes
from katapi.runtime.printed import Printed, Stretch, without_space
from katapi.runtime.tokenization.interface import Tokenizer


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
    encode = partial(encode_bytes, tokenizer) if known is None else known.encode_bytes
    parts: list[bytes] = []
    count = 0
    run_ends: list[int] = []
    texts: list[str] = []
    for part in printed:
        stretch = part[1]
        if not isinstance(stretch, Stretch) or not stretch.holds_control:
            texts.append(part[0])
            continue
        if stretch.opening:
            texts.append(stretch.opening)
        if texts:
            run = "".join(texts)
            if stripping or stretch.strips_before:
                run = without_space(run, before=stripping, behind=stretch.strips_before)
            if run:
                ids = encode(run, first)
                parts.append(ids)
                count += len(ids) // BYTES_OF_ID
                run_ends.append(count)
        texts = [stretch.closing] if stretch.closing else []
        stripping = stretch.strips_behind
        first = False
        encoded = stretch.encoded(tokenizer)
        parts.append(encoded.ids)
        if encoded.ends:
            run_ends += [count + end for end in encoded.ends]
        count += encoded.length
    run = "".join(texts)
    if stripping:
        run = without_space(run, before=True, behind=False)
    if run:
        ids = encode(run, first)
        parts.append(ids)
        run_ends.append(count + len(ids) // BYTES_OF_ID)
    whole = np.frombuffer(bytearray().join(parts), dtype=np.int64)
    whole.setflags(write=False)
    return whole, run_ends


def assemble_ids(printed: Iterable[Printed], tokenizer: Tokenizer) -> tuple[list[int], list[int]]:
    """The same of a whole input, with the ids in a list."""
    ids, run_ends = assemble_array(printed, tokenizer)
    return ids.tolist(), run_ends
