"""Tokenizers at random: small vocabularies, and any rules that go with them."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from katapi.runtime.patterns.syntax import Dialect
from katapi.runtime.tokenization import configuration as c
from katapi.runtime.tokenization.tokens import Tokens
from katapi.runtime.tokenization.vocabulary_data import VocabularyData, merge_array, score_array
from tests.charsmaps import character_map
from tests.field_patterns import LIVELY, TOKENIZERS
from tests.random_patterns import patterns

UNITS = "ab▁ é中1."
_BYTE_TOKENS = [f"<0x{byte:02X}>" for byte in range(256)]
_PREFIXES = st.sampled_from(["", "", "##", "a"])


@dataclass(frozen=True)
class Drawn:
    """A tokenizer in two parts."""

    configuration: c.TokenizerConfiguration
    data: VocabularyData


@dataclass
class _Parts:
    """What is drawn first: how pieces are segmented, and by which tokens."""

    segmentation: c.Segmentation
    tokens: list[bytes]
    merges: list[tuple[int, int, int]]
    scores: list[float]
    unknown: int | None

    @property
    def over_bytes(self) -> bool:
        """Whether tokens are bytes."""
        merges = isinstance(self.segmentation, c.BytePairMerges) and self.segmentation.over_bytes
        return merges or isinstance(self.segmentation, c.BytePairRanks)


# ---- vocabularies

_WORDS = st.lists(st.text(UNITS, min_size=1, max_size=4) | st.text("ab▁", min_size=1, max_size=4), max_size=20)


@st.composite
def _texts(draw: st.DrawFn, words: st.SearchStrategy[list[str]] = _WORDS) -> list[str]:
    """Tokens, among them often some of the byte tokens, or all."""
    texts = ["<unk>", *draw(words)]
    some = draw(st.sampled_from(["none", "none", "some", "all"]))
    if some == "all":
        texts += _BYTE_TOKENS
    elif some == "some":
        texts += [f"<0x{byte:02X}>" for byte in "é中b😀".encode()]
    return draw(st.permutations(list(dict.fromkeys(texts)))) if some != "all" else list(dict.fromkeys(texts))


def _encoded(texts: list[str]) -> list[bytes]:
    return [text.encode() for text in texts]


@st.composite
def _longest_match(draw: st.DrawFn) -> _Parts:
    texts = draw(_texts())
    unknown = draw(st.integers(0, len(texts) - 1))
    return _Parts(c.LongestMatch(), _encoded(texts), [], [], unknown)


@st.composite
def _word_piece(draw: st.DrawFn) -> _Parts:
    prefix = draw(_PREFIXES)
    texts = draw(_texts())
    texts = list(dict.fromkeys([*texts, *(prefix + text for text in texts[:20])]))
    rules = c.WordPiece(prefix, draw(st.sampled_from([100, 4])))
    return _Parts(rules, _encoded(texts), [], [], texts.index("<unk>"))


@st.composite
def _scored(draw: st.DrawFn) -> _Parts:
    texts = draw(_texts())
    scores = [draw(st.sampled_from([-1.0, -2.0, -2.5, -0.1, -0.3, 0.0, 12.0])) for _ in texts[:30]]
    scores += [-7.0] * (len(texts) - len(scores))
    byte_fallback = draw(st.booleans())
    unknown: int | None = texts.index("<unk>")
    rules: c.Segmentation = c.BytePairScores(byte_fallback)
    if draw(st.booleans()):
        rules = c.Unigram(byte_fallback, binary32=draw(st.booleans()))
        unknown = draw(st.sampled_from([unknown, unknown, None]))
    return _Parts(rules, _encoded(texts), [], scores, unknown)


@st.composite
def _ranked(draw: st.DrawFn) -> _Parts:
    tokens = [bytes([byte]) for byte in range(256)]
    some = [*UNITS.encode()]
    for _ in range(draw(st.integers(0, 12))):
        pool = st.sampled_from([bytes([byte]) for byte in some]) | st.sampled_from(tokens[256:] or [b"a"])
        tokens.append(draw(pool) + draw(pool))
    tokens = list(dict.fromkeys(tokens))
    if draw(st.booleans()):
        tokens.reverse()
    return _Parts(c.BytePairRanks(), tokens, [], [], None)


@st.composite
def _merged(draw: st.DrawFn) -> _Parts:
    """Some units, and tokens that are put together from earlier ones, in the order in which merges need not be."""
    over_bytes = draw(st.booleans())
    prefix, suffix = draw(st.sampled_from([("", ""), ("", ""), ("##", ""), ("", "</w>"), ("##", "</w>")]))
    units = [bytes([byte]) for byte in UNITS.encode()] if over_bytes else _encoded(list(UNITS))
    written = [a + u + z for u in units for a in {b"", prefix.encode()} for z in {b"", suffix.encode()}]
    tokens = draw(st.lists(st.sampled_from(sorted({*written})), unique=True, min_size=1, max_size=24))
    pairs: list[tuple[bytes, bytes, bytes]] = []
    for _ in range(draw(st.integers(0, 20))):
        left, right = draw(st.sampled_from(tokens)), draw(st.sampled_from(tokens))
        if right.startswith(prefix.encode()):
            pairs.append((left, right, left + right.removeprefix(prefix.encode())))
            tokens.append(pairs[-1][2])
    pairs = draw(st.permutations(pairs))
    texts = draw(_texts(st.just([])))
    tokens = list(dict.fromkeys([*tokens, *_encoded(texts)]))
    ids = {token: number for number, token in enumerate(tokens)}
    rules = c.BytePairMerges(
        over_bytes=over_bytes,
        ignore_merges=draw(st.booleans()),
        byte_fallback=draw(st.booleans()),
        fuse_unknown=draw(st.booleans()),
        continuing_prefix=prefix,
        word_suffix=suffix,
    )
    merges = [(ids[left], ids[right], ids[result]) for left, right, result in pairs]
    return _Parts(rules, tokens, merges, [], draw(st.sampled_from([ids[b"<unk>"], None])))


_PARTS = st.one_of(_longest_match(), _word_piece(), _scored(), _scored(), _ranked(), _merged(), _merged())

# ---- stages


def _pattern() -> st.SearchStrategy[c.Pattern]:
    verbatim = st.sampled_from([" ", "a", "ab", "▁", "  ", "\n", ""]).map(c.Verbatim)
    sources = st.sampled_from([*TOKENIZERS.values(), r"\s+", "[ab]", r"(?=1)", r"\p{L}*", "é|e"])
    field = sources.map(lambda source: c.Regex(source, Dialect.TOKENIZERS))
    return verbatim | field | st.builds(c.Regex, patterns(), st.sampled_from(Dialect))


_CONTENTS = st.sampled_from(["", " ", "▁", "x", "ab", "é", "中 "])
_MARKS = st.sampled_from(["▁", "▁", " ", "a", "."])

NORMALIZERS: st.SearchStrategy[c.Normalizer] = st.one_of(
    st.builds(c.Normalize, st.sampled_from(c.NormalForm)),
    st.just(c.Lowercase()),
    st.just(c.StripAccents()),
    st.just(c.Nmt()),
    st.builds(c.Replace, _pattern(), _CONTENTS),
    st.builds(c.Prepend, _CONTENTS),
    st.builds(c.Strip, st.booleans(), st.booleans()),
    st.builds(c.BertNormalize, st.booleans(), st.booleans(), st.sampled_from([None, True, False]), st.booleans()),
    st.just(c.Precompiled()),
    st.just(c.CharacterMap()),
    st.builds(c.Spaces, st.booleans(), st.booleans(), st.sampled_from(["▁", " "]), st.booleans()),
)
PRETOKENIZERS: st.SearchStrategy[c.PreTokenizer] = st.one_of(
    st.builds(c.Split, _pattern(), st.sampled_from(c.Behaviour), st.booleans()),
    st.builds(c.Metaspace, _MARKS, st.sampled_from(c.PrependScheme), st.booleans()),
    st.builds(c.Digits, st.booleans()),
    st.builds(c.Punctuation, st.sampled_from(c.Behaviour)),
    st.just(c.Whitespace()),
    st.just(c.WhitespaceSplit()),
    st.just(c.BertPreTokenize()),
)
_BYTE_LEVEL = st.builds(c.ByteLevel, st.booleans(), st.booleans())
DECODERS: st.SearchStrategy[c.Decoder] = st.one_of(
    st.just(c.DecodeByteFallback()),
    st.just(c.DecodeByteFallback()),
    st.builds(c.DecodeMetaspace, _MARKS, st.sampled_from(c.PrependScheme)),
    st.builds(c.DecodeWordPiece, _PREFIXES, st.booleans()),
    st.builds(c.DecodeSuffix, st.sampled_from(["</w>", "a", "ab", ""])),
    st.builds(c.DecodeReplace, _pattern(), _CONTENTS),
    st.builds(c.DecodeStrip, st.sampled_from([" ", "a", "é"]), st.integers(0, 2), st.integers(0, 2)),
    st.just(c.Fuse()),
    st.just(c.Fuse()),
    st.just(c.Spaced()),
)
_KEYS = st.text("ab é\u0301\u093cक가Ａ▁\t", min_size=1, max_size=3)
_CHARSMAPS = st.dictionaries(_KEYS, st.sampled_from(["", " ", "a", "ab", "é", "  b"]), min_size=1, max_size=8).map(
    character_map
)


@st.composite
def _pretokenizers(draw: st.DrawFn, *, over_bytes: bool) -> tuple[c.PreTokenizer, ...]:
    """Some stages. Where the vocabulary is over bytes, "ByteLevel" may end them; elsewhere it never does."""
    stages = draw(st.lists(PRETOKENIZERS, max_size=3))
    if over_bytes and draw(st.booleans()):
        stages.append(draw(_BYTE_LEVEL))
    elif not over_bytes and stages and draw(st.integers(0, 5)) == 0:
        stages.insert(draw(st.integers(0, len(stages) - 1)), draw(_BYTE_LEVEL))
    return tuple(stages)


# ---- the whole


@st.composite
def tokenizers(draw: st.DrawFn) -> Drawn:
    """Any tokenizer."""
    parts = draw(_PARTS)
    tokens = dict(enumerate(parts.tokens))
    size = len(tokens)
    needed = 256 if isinstance(parts.segmentation, c.BytePairRanks) else 0
    free = [number for number, token in tokens.items() if not needed or len(token) > 1]
    merged = {number for merge in parts.merges for number in merge}
    loose = [number for number in free if number not in merged and number != parts.unknown]
    for number in draw(st.sets(st.sampled_from(loose), max_size=2)) if loose and not parts.scores else ():
        del tokens[number]  # a gap
    unreachable: frozenset[int] = frozenset()
    if parts.scores:
        spelled = {number for number, token in tokens.items() if token.startswith(b"<0x")}
        unreachable = draw(st.sampled_from([frozenset(), frozenset(spelled)]))
    added = (
        [
            _added(number, tokens[number])
            for number in draw(st.sets(st.sampled_from(free), max_size=2))
            if number in tokens
        ]
        if free
        else []
    )
    for content in draw(
        st.lists(st.sampled_from(["<s>", "ab", "\n\n", "é", "<0x61>", "ĠaĊ"]), unique=True, max_size=3)
    ):
        size += 1
        added.append(c.AddedToken(size + 5, content, control=draw(st.booleans())))
    ids = st.sampled_from([*tokens, *(token.id for token in added)]) if tokens or added else st.nothing()
    frames = st.lists(ids, max_size=2).map(tuple) if tokens or added else st.just(())
    decoders = st.just([c.DecodeBytes()]) | st.lists(DECODERS, max_size=4)
    configuration = c.TokenizerConfiguration(
        normalizers=tuple(draw(st.lists(NORMALIZERS, max_size=3))),
        pretokenizers=draw(_pretokenizers(over_bytes=parts.over_bytes)),
        segmentation=parts.segmentation,
        frame=c.Frame(draw(frames), draw(frames)),
        decoders=tuple(draw(decoders)),
        unknown=parts.unknown,
        added_tokens=tuple(added),
    )
    data = VocabularyData(
        Tokens.by_id(tokens),
        merges=merge_array(parts.merges),
        scores=score_array(parts.scores),
        lowest=min(parts.scores, default=0.0),
        unreachable=unreachable,
        charsmap=draw(_CHARSMAPS),
    )
    return Drawn(configuration, data)


def _added(number: int, token: bytes) -> c.AddedToken:
    return c.AddedToken(number, token.decode(errors="replace"), control=True)


def texts(drawn: Drawn) -> st.SearchStrategy[str]:
    """Texts that a tokenizer finds much in: what its tokens spell, runs, and all kinds of characters."""
    spelled = [token.decode(errors="ignore") for token in drawn.data.tokens][:60]
    spelled += [token.content for token in drawn.configuration.added_tokens]
    lively = st.text(st.sampled_from(UNITS + LIVELY), max_size=20)
    joined = st.lists(st.sampled_from([*filter(None, spelled), " "]), max_size=10).map("".join)
    runs = st.builds(str.__mul__, st.sampled_from([*"a▁ \n1中é.", "ab", " a", "e\u0301"]), st.integers(1, 110))
    parts = joined | lively | st.text(UNITS, max_size=20) | st.text(st.characters(codec="utf-8"), max_size=8)
    return parts | st.lists(parts | runs, max_size=3).map("".join)


def ids(drawn: Drawn) -> st.SearchStrategy[list[int]]:
    """Ids of a tokenizer, in any order."""
    known = [number for number in range(len(drawn.data.tokens)) if drawn.data.tokens.has(number)]
    known += [token.id for token in drawn.configuration.added_tokens]
    spelled = [
        number for number in known[:300] if drawn.data.tokens.has(number) and drawn.data.tokens[number][:3] == b"<0x"
    ]
    if not known:
        return st.just([])
    some = st.sampled_from(known) if not spelled else st.sampled_from(known) | st.sampled_from(spelled)
    return st.lists(some, max_size=10)
