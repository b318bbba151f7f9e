"""SentencePiece's treatment of spaces (`normalizer.cc`, after the character map has been applied)."""

from __future__ import annotations

import re

from katapi.runtime.tokenization.aligned import AlignedText

_RUN = re.compile("  +")


class Spaces:
    """Writes spaces as `mark`.

    `dummy` puts one more in front of a text, or `behind` it. `remove_extra` leaves out spaces, and marks, at the ends,
    and all but the first of spaces in a row; then a text of nothing else stays empty. Otherwise an empty text, which is
    what a character map may leave of one that was not, gets its mark.
    """

    def __init__(self, *, dummy: bool, remove_extra: bool, mark: str, behind: bool, marked: bool = True) -> None:
        """Where not `marked`, `normalize` gives spaces in the place of all marks, and of those of the text too."""
        self._front = mark if dummy and not behind else ""
        self._back = mark if dummy and behind else ""
        self._remove_extra = remove_extra
        self._mark = mark
        self._marked = marked

    def unmarked(self) -> Spaces:
        """The same where not `marked`."""
        dummy = bool(self._front or self._back)
        return Spaces(
            dummy=dummy, remove_extra=self._remove_extra, mark=self._mark, behind=bool(self._back), marked=False
        )

    def normalize(self, text: str) -> str:
        """The text with its spaces written anew."""
        old, new = (" ", self._mark) if self._marked else (self._mark, " ")
        if self._remove_extra:
            text = text.lstrip(" ")
            if "  " in text:
                text = _RUN.sub(" ", text)
            if not text:
                return text
        text = (new if self._front else "") + text.replace(old, new)
        return (text.rstrip(new) if self._remove_extra else text) + (new if self._back else "")

    def align(self, text: AlignedText) -> AlignedText:
        """The same, with the source of each character."""
        if self._remove_extra:
            text = text.part(len(text) - len(text.text.lstrip(" ")), len(text))
            text = text.replaced([(match.start() + 1, match.end(), "") for match in _RUN.finditer(text.text)])
            if not len(text):
                return text
        text = AlignedText(text.text.replace(" ", self._mark), text.starts, text.ends)
        if self._front:
            text = text.replaced([(0, 0, self._front)])
        if self._remove_extra:
            text = text.part(0, len(text.text.rstrip(self._mark)))
        return text.replaced([(len(text), len(text), self._back)]) if self._back else text
