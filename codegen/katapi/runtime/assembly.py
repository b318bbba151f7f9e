"""What was printed → ids: runs of text are encoded as one string each, control tokens stand for themselves."""

from __future__ import annotations

from collections.abc import Iterable

from katapi.runtime.printed import Printed, Stretch, without_space
from katapi.runtime.tokenization.interface import Tokenizer


def assemble_ids(
    printed: Iterable[Printed], tokenizer: Tokenizer, *, first: bool = True, stripping: bool = False
) -> tuple[list[int], list[int]]:
    """The ids of what was printed, and how many ids there are at the end of each run of text that is not empty.

    A run is the text between two control tokens, without the white space that these strip. No text, whatever it spells,
    gives a control id. `first` says that nothing stands before, `stripping` that what stands before is a control token
    that strips behind it.
    """
    ids: list[int] = []
    run_ends: list[int] = []
    texts: list[str] = []
    for part in printed:
        stretch = part[1]
        if not isinstance(stretch, Stretch) or not stretch.holds_control:
            texts.append(part[0])
            continue
        texts.append(stretch.opening)
        run = "".join(texts)
        texts = [stretch.closing]
        if stripping or stretch.strips_before:
            run = without_space(run, before=stripping, behind=stretch.strips_before)
        stripping = stretch.strips_behind
        if run:
            ids += tokenizer.encode(run, first=first)
            run_ends.append(len(ids))
        first = False
        _, inner, ends = stretch.encoded(tokenizer)
        if ends:
            run_ends += [len(ids) + end for end in ends]
        ids += inner
    run = "".join(texts)
    if stripping:
        run = without_space(run, before=True, behind=False)
    if run:
        ids += tokenizer.encode(run, first=first)
        run_ends.append(len(ids))
    return ids, run_ends
