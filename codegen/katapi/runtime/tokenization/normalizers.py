"""The normalizers that know nothing of Unicode, and what holds normalizers together."""

from __future__ import annotations

from collections.abc import Iterable

from katapi.runtime.tokenization.aligned import AlignedText
from katapi.runtime.tokenization.matching import Matcher, Verbatim
from katapi.runtime.tokenization.stages import Normalizer


class Unchanged:
    """Leaves text as it is."""

    def normalize(self, text: str) -> str:
        """`text` itself."""
        return text

    def align(self, text: AlignedText) -> AlignedText:
        """`text` itself."""
        return text


class InTurn:
    """Several normalizers one after the other ("Sequence" in tokenizer.json)."""

    def __init__(self, *normalizers: Normalizer) -> None:
        self._normalizers = normalizers

    @property
    def parts(self) -> tuple[Normalizer, ...]:
        """The normalizers."""
        return self._normalizers

    def normalize(self, text: str) -> str:
        """The text that the last of them gives."""
        for normalizer in self._normalizers:
            text = normalizer.normalize(text)
        return text

    def align(self, text: AlignedText) -> AlignedText:
        """The same, with the source of each character."""
        for normalizer in self._normalizers:
            text = normalizer.align(text)
        return text


class Replace:
    """Puts `content` in the place of every match of a pattern."""

    def __init__(self, matcher: Matcher, content: str) -> None:
        self._matcher = matcher
        self._content = content

    def normalize(self, text: str) -> str:
        """The text after all replacements."""
        parts: list[str] = []
        position = 0
        for start, end in self._spans(text):
            parts += (text[position:start], self._content)
            position = end
        return "".join((*parts, text[position:])) if parts else text

    def align(self, text: AlignedText) -> AlignedText:
        """The same, with the source of each character."""
        return text.replaced([(start, end, self._content) for start, end in self._spans(text.text)])

    def _spans(self, text: str) -> Iterable[tuple[int, int]]:
        """The matches; an empty text has none, not even an empty one."""
        return self._matcher.spans(text) if text else ()


class ReplaceText:
    """Puts `content` in the place of every occurrence of `old`, which is not empty."""

    def __init__(self, old: str, content: str) -> None:
        self._old = old
        self._content = content

    def normalize(self, text: str) -> str:
        """The text after all replacements."""
        return text.replace(self._old, self._content)

    def align(self, text: AlignedText) -> AlignedText:
        """The same, with the source of each character."""
        return text.replaced([(start, end, self._content) for start, end in Verbatim(self._old).spans(text.text)])


class Prepend:
    """Puts `prefix` in front of a text that is not empty."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix

    def normalize(self, text: str) -> str:
        """The text with the prefix."""
        return self._prefix + text if text else text

    def align(self, text: AlignedText) -> AlignedText:
        """The same, with the source of each character."""
        return text.prefixed(self._prefix) if len(text) else text


class Strip:
    """Takes `characters` off the left end, the right end, or both ("Strip"; the property White_Space)."""

    def __init__(self, characters: str, *, left: bool, right: bool) -> None:
        self._left = characters if left else ""
        self._right = characters if right else ""

    def normalize(self, text: str) -> str:
        """The text without them."""
        return text.lstrip(self._left).rstrip(self._right)

    def align(self, text: AlignedText) -> AlignedText:
        """The same, with the source of each character."""
        start = len(text) - len(text.text.lstrip(self._left))
        return text.part(start, max(start, len(text.text.rstrip(self._right))))
