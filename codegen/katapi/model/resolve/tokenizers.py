"""Tokenizer blocks → model: each stage as the runtime takes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Generic, TypeVar

from katapi.language import syntax as s
from katapi.model.declarations import ControlToken, DeclaredPattern, Tokenizer, Vocabulary
from katapi.model.resolve.findings import Findings, nearest
from katapi.model.resolve.headers import identity
from katapi.model.resolve.settings import Misread, Part, Settings, settings_of
from katapi.runtime.tokenization import configuration as c
from katapi.runtime.tokenization.unicode_kinds import needed_unicode
from katapi.runtime.unicode import known_versions

StageT = TypeVar("StageT")


@dataclass(frozen=True, slots=True)
class _Form(Generic[StageT]):
    """How a stage is written, and what is made of the atoms behind its first word."""

    written: str
    read: Callable[[Part], StageT | None]


_BEHAVIOURS = {behaviour.name.lower(): behaviour for behaviour in c.Behaviour}
_BEHAVIOUR_WORDS = "|".join(_BEHAVIOURS)
_SCHEMES = {scheme.value: scheme for scheme in c.PrependScheme}
_SCHEME_WORDS = "|".join(_SCHEMES)


def _normal_form(form: c.NormalForm) -> _Form[c.Normalizer]:
    return _Form(form.value.lower(), lambda part: c.Normalize(form))


def _strip(part: Part) -> c.Strip:
    sides = {"left": (True, False), "right": (False, True), "both": (True, True)}
    left, right = part.one_of(sides)
    return c.Strip(left, right)


def _bert(part: Part) -> c.BertNormalize:
    return c.BertNormalize(
        clean_text=part.flag("clean_text"),
        handle_chinese_chars=part.flag("chinese_characters"),
        strip_accents=part.flag("strip_accents"),
        lowercase=part.flag("lowercase"),
    )


def _charsmap(part: Part) -> c.Normalizer:
    choices: Mapping[str, c.Normalizer] = {"graphemes": c.Precompiled(), "longest": c.CharacterMap()}
    return part.one_of(choices)


def _spaces(part: Part) -> c.Spaces:
    mark = _mark(part)
    return c.Spaces(
        mark=mark, dummy=part.flag("dummy"), remove_extra=part.flag("remove_extra"), behind=part.flag("behind")
    )


_NORMALIZERS: Mapping[str, _Form[c.Normalizer]] = {
    "none": _Form("none", lambda part: None),
    **{form.value.lower(): _normal_form(form) for form in c.NormalForm},
    "lowercase": _Form("lowercase", lambda part: c.Lowercase()),
    "strip_accents": _Form("strip_accents", lambda part: c.StripAccents()),
    "nmt": _Form("nmt", lambda part: c.Nmt()),
    "replace": _Form('replace "…" "…"', lambda part: c.Replace(part.pattern(), part.text())),
    "prepend": _Form('prepend "…"', lambda part: c.Prepend(part.text())),
    "strip": _Form("strip left|right|both", _strip),
    "bert": _Form("bert [clean_text] [chinese_characters] [strip_accents] [lowercase]", _bert),
    "charsmap": _Form("charsmap graphemes|longest", _charsmap),
    "spaces": _Form('spaces "▁" [dummy] [remove_extra] [behind]', _spaces),
}


def _split(part: Part) -> c.Split:
    return c.Split(part.pattern(), part.one_of(_BEHAVIOURS), part.flag("inverted"))


def _mark(part: Part) -> str:
    """The single character that stands for a space."""
    mark = part.text()
    if len(mark) != 1:
        raise Misread
    return mark


def _metaspace(part: Part) -> c.Metaspace:
    return c.Metaspace(_mark(part), part.one_of(_SCHEMES), part.flag("split"))


_PRETOKENIZERS: Mapping[str, _Form[c.PreTokenizer]] = {
    "none": _Form("none", lambda part: None),
    "": _Form(f"`…` {_BEHAVIOUR_WORDS} [inverted]", _split),
    "bytes": _Form(
        "bytes [prefix_space] [gpt2]", lambda part: c.ByteLevel(part.flag("prefix_space"), part.flag("gpt2"))
    ),
    "metaspace": _Form(f'metaspace "▁" {_SCHEME_WORDS} [split]', _metaspace),
    "digits": _Form("digits individual|runs", lambda part: c.Digits(part.one_of({"individual": True, "runs": False}))),
    "punctuation": _Form(f"punctuation {_BEHAVIOUR_WORDS}", lambda part: c.Punctuation(part.one_of(_BEHAVIOURS))),
    "words": _Form("words", lambda part: c.Whitespace()),
    "white_space": _Form("white_space", lambda part: c.WhitespaceSplit()),
    "bert": _Form("bert", lambda part: c.BertPreTokenize()),
}

_DECODERS: Mapping[str, _Form[c.Decoder]] = {
    "concat": _Form("concat", lambda part: None),
    "bytes": _Form("bytes", lambda part: c.DecodeBytes()),
    "byte_fallback": _Form("byte_fallback", lambda part: c.DecodeByteFallback()),
    "metaspace": _Form(
        f'metaspace "▁" {_SCHEME_WORDS}', lambda part: c.DecodeMetaspace(_mark(part), part.one_of(_SCHEMES))
    ),
    "wordpiece": _Form('wordpiece "##" [cleanup]', lambda part: c.DecodeWordPiece(part.text(), part.flag("cleanup"))),
    "suffix": _Form('suffix "…"', lambda part: c.DecodeSuffix(part.text())),
    "replace": _Form('replace "…" "…"', lambda part: c.DecodeReplace(part.pattern(), part.text())),
    "strip": _Form('strip " " 1 0', lambda part: c.DecodeStrip(part.text(), part.number(), part.number())),
    "fuse": _Form("fuse", lambda part: c.Fuse()),
    "spaced": _Form("spaced", lambda part: c.Spaced()),
}


def resolve_tokenizer(node: s.Tokenizer, vocabulary: Vocabulary | None, findings: Findings) -> Tokenizer:
    """The stages, and that they fit each other and the vocabulary; what could not be read is left out."""
    before = len(findings.diagnostics)
    with settings_of(node.settings, node.header, findings) as read:
        versions = _unicode(read, findings)
        normalizers = _stages(read, "normalize", _NORMALIZERS)
        pretokenizers = _stages(read, "pretokenize", _PRETOKENIZERS)
        segmentation = _segmentation(read)
        frame = _frame(read, vocabulary, findings)
        decoders = _stages(read, "decode", _DECODERS)
    patterns = [
        DeclaredPattern(atom.source, atom.span)
        for setting in node.settings
        for part in setting.parts
        for atom in part.atoms
        if isinstance(atom, s.Regex)
    ]
    tokenizer = Tokenizer(
        identity(node.header),
        versions,
        normalizers,
        pretokenizers,
        segmentation or c.LongestMatch(),
        frame.get("before", ()),
        frame.get("behind", ()),
        decoders,
        tuple(patterns),
        node.header.span,
    )
    if len(findings.diagnostics) == before:
        _check_unicode(tokenizer, read, findings)
        if vocabulary is not None:
            _check_fit(node, tokenizer, vocabulary, read, findings)
    return tokenizer


def _stages(read: Settings, key: str, forms: Mapping[str, _Form[StageT]]) -> tuple[StageT, ...]:
    """The stages of a setting; one that is not written as its form asks is reported with that form."""
    every = " | ".join(word or "`…`" for word in forms)
    parts = read.parts(key, every)
    out: list[StageT] = []
    for node in parts:
        part = Part(node)
        written = every
        try:
            word = "" if part.begins_with_pattern() else part.word()
            form = forms.get(word)
            if form is None:
                message = f"`{key}` has no stage `{word}`"
                read.report(node.atoms[0].span, message, nearest(word, [w for w in forms if w]) or f"known: {every}")
                continue
            written = form.written
            stage = form.read(part)
            part.done()
            if stage is not None:
                out.append(stage)
            elif len(parts) > 1:
                raise Misread
        except Misread:
            read.bad(node.span, key, written)
    return tuple(out)


_SEGMENT = "longest_match | bpe ranks | bpe merges, bytes|characters | bpe scores | unigram | wordpiece"
_CONTINUING = 'continuing_prefix "…"'
_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "longest_match": (),
    "bpe ranks": (),
    "bpe merges": (
        "bytes",
        "characters",
        "ignore_merges",
        "byte_fallback",
        "fuse_unknown",
        _CONTINUING,
        'word_suffix "…"',
    ),
    "bpe scores": ("byte_fallback",),
    "unigram": ("byte_fallback", "binary32"),
    "wordpiece": (_CONTINUING, "longest_word 100"),
}


_ALGORITHMS: Mapping[type[c.Segmentation], str] = {
    c.LongestMatch: "`longest_match`",
    c.BytePairRanks: "`bpe ranks`",
    c.BytePairMerges: "`bpe merges`",
    c.BytePairScores: "`bpe scores`",
    c.Unigram: "`unigram`",
    c.WordPiece: "`wordpiece`",
}


def _segmentation(read: Settings) -> c.Segmentation | None:
    """The algorithm, which stands first, with the options behind it."""
    parts = read.parts("segment", _SEGMENT)
    if not parts:
        return None
    algorithm = " ".join(atom.text if isinstance(atom, s.Name) else "?" for atom in parts[0].atoms)
    known = _OPTIONS.get(algorithm)
    if known is None:
        read.bad(parts[0].span, "segment", _SEGMENT)
        return None
    flags: set[str] = set()
    texts: dict[str, str] = {}
    numbers: dict[str, int] = {}
    words = {option.split(" ")[0]: option for option in known}
    for node in parts[1:]:
        part = Part(node)
        try:
            word = part.word()
            option = words.get(word, "")
            if not option or word in flags | texts.keys() | numbers.keys():
                raise Misread
            if option == word:
                flags.add(word)
            elif option.endswith('"'):
                texts[word] = part.text()
            else:
                numbers[word] = part.number()
                if numbers[word] < 1:
                    raise Misread
            part.done()
        except Misread:
            read.bad(node.span, "segment", ", ".join([algorithm, *(f"[{option}]" for option in known)]))
            return None
    match algorithm:
        case "longest_match":
            return c.LongestMatch()
        case "bpe ranks":
            return c.BytePairRanks()
        case "bpe merges":
            if ("bytes" in flags) is ("characters" in flags):
                read.bad(parts[0].span, "segment", "bpe merges, bytes` or `bpe merges, characters")
                return None
            return c.BytePairMerges(
                over_bytes="bytes" in flags,
                ignore_merges="ignore_merges" in flags,
                byte_fallback="byte_fallback" in flags,
                fuse_unknown="fuse_unknown" in flags,
                continuing_prefix=texts.get("continuing_prefix", ""),
                word_suffix=texts.get("word_suffix", ""),
            )
        case "bpe scores":
            return c.BytePairScores(byte_fallback="byte_fallback" in flags)
        case "unigram":
            return c.Unigram(byte_fallback="byte_fallback" in flags, binary32="binary32" in flags)
        case _:
            if "longest_word" not in numbers:
                read.bad(parts[0].span, "segment", 'wordpiece, continuing_prefix "##", longest_word 100')
                return None
            return c.WordPiece(
                continuing_prefix=texts.get("continuing_prefix", ""), longest_word=numbers["longest_word"]
            )


def _frame(read: Settings, vocabulary: Vocabulary | None, findings: Findings) -> dict[str, tuple[ControlToken, ...]]:
    """Which control tokens the post-processor puts before and behind."""
    form = "none | before @… | behind @… | before @…, behind @…"
    out: dict[str, tuple[ControlToken, ...]] = {}
    parts = read.parts("post", form)
    for node in parts:
        part = Part(node)
        try:
            word = part.one_of({"none": "none", "before": "before", "behind": "behind"})
            if word in out or (word == "none" and len(parts) > 1):
                raise Misread
            names = [] if word == "none" else part.controls()
            part.done()
        except Misread:
            read.bad(node.span, "post", form)
            continue
        found: list[ControlToken] = []
        for name in names:
            token = None if vocabulary is None else vocabulary.control(name.name)
            if token is not None:
                found.append(token)
            elif vocabulary is not None:
                owner = f"the vocabulary `{vocabulary.identity.name}`"
                findings.unknown_control(owner, name.name, vocabulary.controls, name.span)
        out[word] = tuple(found)
    return out


_KINDS = tuple(field.name for field in fields(c.UnicodeVersions))


def _unicode(read: Settings, findings: Findings) -> dict[str, str]:
    """The version of each kind of Unicode data that the spec names."""
    form = " | ".join(f'{kind} "…"' for kind in _KINDS)
    out: dict[str, str] = {}
    for node in read.parts("unicode", form, required=False):
        part = Part(node)
        try:
            kind = part.one_of({kind: kind for kind in _KINDS})
            if kind in out:
                raise Misread
            out[kind] = part.text()
            part.done()
            if out[kind] not in known_versions(kind):
                findings.add(
                    "K710",
                    node.span,
                    f"there is no data of Unicode {out[kind]} for `{kind}`",
                    help="known: " + ", ".join(f'"{version}"' for version in known_versions(kind)),
                )
        except Misread:
            read.bad(node.span, "unicode", form)
    return out


def _check_unicode(tokenizer: Tokenizer, read: Settings, findings: Findings) -> None:
    """Exactly the kinds of Unicode data that the stages need are named, in versions that there are."""
    needed = needed_unicode(tokenizer.configuration())
    missing = [kind for kind in _KINDS if kind in needed and kind not in tokenizer.unicode]
    if missing:
        newest = c.UnicodeVersions()
        written = ", ".join(f'{kind} "{getattr(newest, kind)}"' for kind in _KINDS if kind in needed)
        findings.add(
            "K111",
            tokenizer.span,
            f"`{tokenizer.identity.name}` does not say the Unicode version of its {' and '.join(missing)}",
            help=f"as the official libraries have it: `unicode: {written}`",
        )
    for kind in tokenizer.unicode:
        if kind not in needed:
            findings.add("K710", read.place("unicode"), f"no stage of this tokenizer needs Unicode's {kind}")


def _check_fit(
    node: s.Tokenizer, tokenizer: Tokenizer, vocabulary: Vocabulary, read: Settings, findings: Findings
) -> None:
    """The decoder undoes the segmentation, and the vocabulary has what the segmentation needs."""
    if isinstance(tokenizer.segmentation, c.BytePairRanks) or (
        isinstance(tokenizer.segmentation, c.BytePairMerges) and tokenizer.segmentation.over_bytes
    ):
        if tokenizer.decoders != (c.DecodeBytes(),):
            findings.add("K706", read.place("decode"), "tokens that are bytes are undone by `decode: bytes`")
    elif c.DecodeBytes() in tokenizer.decoders:
        if len(tokenizer.decoders) > 1:
            findings.add("K706", read.place("decode"), "`bytes` stands alone")
        elif not any(isinstance(stage, c.ByteLevel) for stage in tokenizer.pretokenizers):
            findings.add("K706", read.place("decode"), "`decode: bytes` undoes tokens that are bytes; these are text")
    algorithm = _ALGORITHMS[type(tokenizer.segmentation)]
    written_out = isinstance(tokenizer.segmentation, c.LongestMatch)
    if written_out and vocabulary.artifact is not None:
        findings.add("K707", node.over.span, f"{algorithm} needs a vocabulary that is written out")
    if not written_out and vocabulary.artifact is None:
        findings.add("K707", node.over.span, f"{algorithm} needs a vocabulary with an artifact")
    needs_unknown = isinstance(tokenizer.segmentation, c.LongestMatch | c.WordPiece | c.BytePairScores)
    if needs_unknown and vocabulary.unknown is None:
        findings.add("K707", node.over.span, f"{algorithm} needs an `unknown` token in its vocabulary")
