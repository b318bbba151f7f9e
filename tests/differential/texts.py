"""Texts that tokenizers cut in different ways: all kinds of characters, broken bytes, long runs, joined tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random

from hypothesis import strategies as st

# What some call white space and others do not; the mark of SentencePiece; signs that look like spaces.
_SPACES = (
    "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u180e\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009"
    "\u200a\u200b\u200c\u200d\u2028\u2029\u202f\u205f\u2060\u2420\u2423\u2581\u3000\ufeff"
)
# Combining marks, joiners and selectors. Among them marks of Unicode 9 to 17, by the version that added them.
_MARKS = (
    "\u0300\u0301\u0323\u0327\u0334\u0345\u05b0\u0653\u0903\u093c\u094d\u0e38\u1161\u11ab\u1734\u20d0\u20e3\u302a\u3099"
    "\ufe0e\ufe0f\ufe20\U0001d165\U0001f3fd\U000e0061"
    "\u08d4\u1dfb\u0afa\u1df6\u08d3\U00010f48\u0eba\U0001e130\u1abf\u1ac0\U00010eab\u0898\u1dfa\U00010f82"
    "\U00010efd\U00011f41\U0001e4ec\u0897\U0001611e\U0001e5ee\u1acf\u1aeb\U00010efa"
)
# Letters with foldings and decompositions, numerals, punctuation, scripts, emoji, and what is no character at all.
_SIGNS = (
    "aAzZsStTlLdDrReEvVmM'’ſKiIİıΣσςßẞéÅ0123456789٣²Ⅷ½𝟙१.,;:!?-_()[]{}<>/\\|@#$%^&*+=~`\"´¨“”…—–−～、。，！漢字豈かカｶﾞ가각한ᄒ"
    "🙂👍👩🇩🇪ﬁﷺΩ㍿①⑴ａＡ１Ⴀა\u01c5\u1c89\u2c2f\ua7ca\U00010400\U0001e900\U00010d4e\U0001ccf0"
    "\x00\x01\x7f\x80\x9f\xad\u061c\u200e\u202e\u2066\ufff9\ufffd\uffff\ufdd0\ue000\U000f0000\U0010ffff\u0378\U0003fffd"
    "\u0958\u1f71\u1f80\u2adc\uf900\ufb13\U0001d15e\U0002f800\u3400\u9fff\U00020000\U0002ebf0\U00031350"
)
_WORDS = (
    "the quick brown Fox it's they've DON'T I'll naïve café Größe 1234567 3.14 http://a.b/c?d=e def f(x): return // "
    "x+=1 <s> </s> <0x41> [CLS] <|endoftext|> ##ing 東京は Быстрая λόγος שלום مرحبا สวัสดี नमस्ते 안녕"
).split()

_CHARACTERS = st.characters(codec="utf-8")
_ODD = st.sampled_from(_SIGNS) | st.sampled_from(_SPACES) | st.sampled_from(_MARKS)
_BYTES = st.binary(min_size=1, max_size=40)
_COUNTS = (2, 3, 7, 33, 100, 300)
_AROUND = ("", " ", "x")


def texts(tokens: Sequence[str]) -> st.SearchStrategy[str]:
    """Texts of valid characters; `tokens` are those of the vocabulary, as they stand in texts."""
    token = st.sampled_from(tokens)
    unit = token | _ODD | _CHARACTERS
    return st.one_of(
        st.text(_CHARACTERS, max_size=30),
        st.text(_ODD, max_size=30),
        st.lists(token, max_size=12).map("".join),
        st.lists(token | st.sampled_from(_WORDS), max_size=10).map(" ".join),
        st.lists(st.sampled_from(_WORDS) | unit, max_size=12).map("".join),
        st.builds(_run, unit, st.sampled_from(_COUNTS), st.sampled_from(_AROUND)),
        _BYTES.map(lambda data: data.decode("latin-1")),
        _BYTES.map(lambda data: data.decode(errors="replace")),
        st.lists(_BYTES | st.text(_ODD, max_size=5).map(str.encode), max_size=6).map(
            lambda parts: b"".join(parts).decode(errors="ignore")
        ),
    )


def _run(unit: str, count: int, around: str) -> str:
    """A unit again and again, at most about 2,000 characters."""
    return around + unit * min(count, 1 + 2000 // len(unit)) + around


# ---- many at a time

_ODD_ONES = _SIGNS + _SPACES + _MARKS
_PLANES = (range(0x80), range(0x800), range(0xD800), range(0xE000, 0x20000), range(0x20000, 0x110000))


def many_texts(random: Random, tokens: Sequence[str]) -> Iterator[str]:
    """Texts of the same kinds without end, a hundred times as fast as hypothesis draws them, and hardly one twice."""

    def character() -> str:
        return chr(random.choice(random.choice(_PLANES)))

    def unit() -> str:
        return random.choice((random.choice(tokens), random.choice(_ODD_ONES), character()))

    def several(part: Callable[[], str], most: int) -> list[str]:
        return [part() for _ in range(random.randint(0, most))]

    def data() -> bytes:
        return random.randbytes(random.randint(1, 40))

    kinds: tuple[Callable[[], str], ...] = (
        lambda: "".join(several(character, 30)),
        lambda: "".join(random.choices(_ODD_ONES, k=random.randint(0, 30))),
        lambda: "".join(several(lambda: random.choice(tokens), 12)),
        lambda: " ".join(several(lambda: random.choice(random.choice((tokens, _WORDS))), 10)),
        lambda: "".join(several(lambda: random.choice((random.choice(_WORDS), unit())), 12)),
        lambda: _run(unit(), random.choice(_COUNTS), random.choice(_AROUND)),
        lambda: data().decode("latin-1"),
        lambda: data().decode(errors="replace"),
        lambda: b"".join([data(), random.choice(_ODD_ONES).encode(), data()]).decode(errors="ignore"),
    )
    while True:
        yield random.choice(kinds)()


def shorter(text: str, fails: Callable[[str], bool]) -> str:
    """What is left of a text that fails when all is left out without which it still does."""
    size = len(text)
    while size := size // 2:
        start = 0
        while start < len(text):
            rest = text[:start] + text[start + size :]
            if fails(rest):
                text = rest
            else:
                start += size
    return text
