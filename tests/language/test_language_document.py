"""Every example of `spec/LANGUAGE.md` is true: it compiles to the Python that stands below it, or fails with its code.

The first words of a fence say what it holds:

    kata file            a whole file; the first of them is the file that the other examples stand in
    kata declarations    what stands there in place of its declarations of the same kinds
    kata parts           parts of its template
    kata arms            arms of its walk
    kata items           items in the arm for the role `user`
    kata images          a whole file of formulas and images
    kata … error         one of these with mistakes, `# K203` on the line of each
    python [MODULE]      lines of the module (`renderer`, where no other is named) that the example before gives

Parts, arms and items begin on line 2 of their file. What they leave of a request, the frame around them drops.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from textwrap import dedent, indent

import pytest
from lark.lexer import PatternStr

from katapi.analyse import analyse
from katapi.artifacts.lock import read_lock
from katapi.derive.reply import reply_of
from katapi.derive.reply_forms import NotInvertible
from katapi.emit.formulas import emit_formulas
from katapi.emit.images import emit_images
from katapi.emit.package import emit_model
from katapi.emit.renderer import emit_renderer
from katapi.emit.reply import emit_reply
from katapi.emit.request import emit_request
from katapi.emit.tokenizer import emit_tokenizer
from katapi.emit.vocabulary import emit_vocabulary
from katapi.language import syntax as s
from katapi.language import syntax_formulas as f
from katapi.language import syntax_images as i
from katapi.language.build import RESERVED
from katapi.language.build_images import RESERVED_IN_TERMS
from katapi.language.diagnostics import SpecError
from katapi.language.parser import grammar, parse
from katapi.language.printer import format_source
from katapi.language.source import Source
from katapi.model import declarations as d
from katapi.model.formulas import Filter, Function, Member, Operation
from katapi.model.program import Library, Program
from katapi.model.template import CutKind, RewriteKind, TextTestKind
from katapi.model.types import KIND_WORDS
from katapi.runtime.record import TokenizerParts
from tests.specs import whole_program

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "spec" / "LANGUAGE.md").read_text(encoding="utf-8")
FENCE = re.compile(r"^```(?P<info>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"\bK\d{3}\b")
MARK = re.compile(r"# (K\d{3})$")
DEPTHS = {"images": 0, "file": 0, "declarations": 0, "parts": 1, "arms": 2, "items": 3}
GAP = "..."
IMAGE_MODULES = ("formulas", "pipelines")
MODULES = ("vocabulary", "tokenizer", "request", "renderer", "reply", "model")
PACKAGE = "katapi_models.example"


@dataclass(frozen=True)
class Fence:
    """A fenced block of the page; `line` is that of its first backquotes."""

    line: int
    info: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class Example:
    """Something written in the language, and what the page says comes of it."""

    fence: Fence
    emitted: tuple[Fence, ...]

    @property
    def mistakes(self) -> set[tuple[int, str]]:
        """The lines of the whole file on which the compiler finds something, each with the code."""
        lines = enumerate(self.fence.text.splitlines(), start=2 if DEPTHS[self.fence.info[1]] else 1)
        return {(number, mark[1]) for number, line in lines if (mark := MARK.search(line))}


def fences() -> list[Fence]:
    """The fenced blocks of the page."""
    return [
        Fence(PAGE.count("\n", 0, m.start()) + 1, tuple(m["info"].split()), m["text"]) for m in FENCE.finditer(PAGE)
    ]


def examples() -> list[Example]:
    """The examples of the page, each with the Python up to the next."""
    found: list[tuple[Fence, list[Fence]]] = []
    for fence in fences():
        if fence.info[:1] == ("kata",):
            found.append((fence, []))
        else:
            found[-1][1].append(fence)
    return [Example(fence, tuple(emitted)) for fence, emitted in found]


EXAMPLES = examples()
SOUND = [e for e in EXAMPLES if "error" not in e.fence.info]
FAULTY = [e for e in EXAMPLES if "error" in e.fence.info]
EMITTING = [(e, python) for e in SOUND for python in e.emitted]
LOCK = read_lock(ROOT / "spec" / "artifacts.lock")
BASE = EXAMPLES[0].fence.text


def at(value: object) -> str:
    """An example or fence in the name of a test."""
    fence = value.fence if isinstance(value, Example) else value
    assert isinstance(fence, Fence)
    return f"line-{fence.line}"


# ---- the file that an example stands for


def whole(fence: Fence) -> str:
    """The text of the whole file."""
    depth = DEPTHS[fence.info[1]]
    if fence.info[1] in ("file", "images"):
        return fence.text
    if depth == 0:
        own = {type(one): one for one in parse(Source("", fence.text))[0].declarations}
        request = own.get(s.Request)
        if s.Template in own or not (request or s.Vocabulary in own):
            return with_rest(fence.text, set(own))
        assert request is None or isinstance(request, s.Request)
        return with_rest(f"{fence.text}{HEADS[0]}\n{foot('', request)}", {s.Template, *own})
    inner = "".join(FEET[:depth][::-1])
    template = f"{' '.join(HEADS[:depth])}\n{fence.text}{inner}{foot(fence.text if depth == 1 else WALK)}"
    return with_rest(template, {s.Template})


HEADS = ['template Example version "1" for Example {', "each m in messages {", "when user {"]
FEET = ["", "when other { drop m }\n}\n", "drop m\n}\n"]
WALK = "each m in messages { when other { drop m } }\n"


def foot(parts: str, request: s.Request | None = None) -> str:
    """The end of a template that begins with some parts: what it lacks, and the end of its block."""
    request = next(one for one in base() if isinstance(one, s.Request)) if request is None else request
    there = parse(Source("", f"{HEADS[0]}\n{parts}}}"))[0].declarations
    own = there[0].parts if there and isinstance(there[0], s.Template) else ()
    walk = "" if any(isinstance(part, s.Walk) for part in own) else WALK
    drops = [*(["drop tools"] if request.tools else []), *(f"drop {param.name.text}" for param in request.params)]
    generate = "" if any(isinstance(part, s.Generate | s.NoPrefix) for part in own) else "generate { @assistant }\n"
    return walk + "\n".join(drops) + "\n" + generate + "}\n"


@cache
def base() -> tuple[s.Declaration, ...]:
    """The declarations of the file of the examples."""
    return parse(Source("", BASE))[0].declarations


def with_rest(text: str, kinds: set[type[s.Declaration]]) -> str:
    """A text with declarations of some kinds, and those of other kinds that the file of the examples has."""
    if s.Template in kinds and " as json" not in text:
        kinds = kinds | {s.Serialization}  # which nothing would use
    return text + "\n".join(BASE[one.span.start : one.span.end] for one in base() if type(one) not in kinds)


@cache
def program_of(fence: Fence) -> Program:
    """The checked program."""
    return whole_program("example", Source("example.kata", whole(fence)))


@cache
def library_of(fence: Fence) -> Library:
    """The checked file, be it a whole program or one of images."""
    if fence.info[1] != "images":
        return program_of(fence)
    (library,) = analyse("example", Source("example.kata", fence.text))
    return library


def modules(library: Library) -> tuple[str, ...]:
    """The names of the modules that a file is emitted to."""
    return MODULES if isinstance(library, Program) else IMAGE_MODULES


def module(library: Library, name: str) -> str:
    """The text of a generated module."""
    if isinstance(library, Program):
        return module_of_program(library, name)
    return emit_formulas(library) if name == "formulas" else emit_images(library, PACKAGE)


def module_of_program(program: Program, name: str) -> str:
    """The text of a generated module of a model."""
    match name:
        case "renderer":
            return emit_renderer(program, PACKAGE)
        case "request":
            return emit_request(program)
        case "tokenizer":
            artifact = program.vocabulary.artifact
            row = None if artifact is None else LOCK[artifact.name]
            return emit_tokenizer(program, PACKAGE, row)
        case "vocabulary":
            return emit_vocabulary(program)
        case "reply":
            try:
                return emit_reply(program, PACKAGE, reply_of(program))
            except NotInvertible:
                return ""
        case "model":
            parts = TokenizerParts(configuration="", vocabulary="", controls="")
            return emit_model(
                program, PACKAGE, template="", request="", tokenizer="", parts=parts, unreadable=None, unbounded=None
            )
        case _:
            raise AssertionError(f"there is no module {name}")


# ---- the examples


@pytest.mark.parametrize("fence", fences(), ids=at)
def test_each_fence_is_of_a_kind_that_is_checked(fence: Fence) -> None:
    match fence.info:
        case ("kata", context) | ("kata", context, "error"):
            assert context in DEPTHS
        case _:
            assert fence.info == ("python",) or (
                fence.info[0] == "python" and fence.info[1:] in {(m,) for m in (*MODULES, *IMAGE_MODULES)}
            )


@pytest.mark.parametrize("example", SOUND, ids=at)
def test_an_example_compiles(example: Example) -> None:
    assert library_of(example.fence).name == "example"
    assert example.emitted, "nothing is said about what it emits"


@pytest.mark.parametrize("example", SOUND, ids=at)
def test_what_is_emitted_is_python(example: Example) -> None:
    library = library_of(example.fence)
    for name in modules(library):
        compile(module(library, name), name, "exec", dont_inherit=True)


@pytest.mark.parametrize("example", FAULTY, ids=at)
def test_a_mistake_is_found(example: Example) -> None:
    with pytest.raises(SpecError) as caught:
        library_of(example.fence)
    source = caught.value.source
    found = {(source.line_column(finding.span.start)[0], finding.code) for finding in caught.value.diagnostics}
    assert found == example.mistakes
    assert not example.emitted


@pytest.mark.parametrize(("example", "python"), EMITTING, ids=at)
def test_an_example_emits_what_stands_below_it(example: Example, python: Fence) -> None:
    text = module(library_of(example.fence), python.info[1] if len(python.info) > 1 else "renderer")
    lines = text.splitlines()
    start = 0
    for block in dedent(python.text).split(f"{GAP}\n"):
        wanted = block.strip("\n")
        size = wanted.count("\n") + 1
        found = next(
            (i for i in range(start, len(lines)) if dedent("\n".join(lines[i : i + size])) == dedent(wanted)), None
        )
        assert found is not None, f"not emitted, or not in this order:\n{wanted}"
        start = found + size


@pytest.mark.parametrize("example", SOUND, ids=at)
def test_an_example_is_in_canonical_form(example: Example) -> None:
    text = indent(example.fence.text, "  " * DEPTHS[example.fence.info[1]])
    assert text in format_source(Source("", whole(example.fence)))


# ---- the page leaves nothing out


def nodes(value: object) -> Iterator[object]:
    """A syntax tree's nodes and the words in them."""
    if isinstance(value, (tuple, list)):
        for part in value:
            yield from nodes(part)
    elif isinstance(value, Enum):
        yield value
    elif is_dataclass(value):
        yield value
        for part in fields(value):
            yield from nodes(getattr(value, part.name))


def test_each_node_of_the_syntax_stands_in_an_example() -> None:
    shown = [node for example in SOUND for node in nodes(parse(Source("", whole(example.fence)))[0])]
    of_syntax = [value for part in (s, f, i) for value in vars(part).values()]
    kinds = {value for value in of_syntax if isinstance(value, type) and issubclass(value, s.Node)}
    words = {word for value in of_syntax if isinstance(value, type) and issubclass(value, Enum) for word in value}
    kinds -= {s.Node, s.Broken}  # what stands for a part that cannot be read
    kinds -= {s.Use}  # examples have no files beside them: it stands in one with a mistake
    assert kinds == {type(node) for node in shown if isinstance(node, s.Node)}
    assert words == {node for node in shown if isinstance(node, Enum)}


def test_each_word_of_the_language_stands_on_the_page() -> None:
    terminals = {t.pattern.value for t in grammar().terminals if isinstance(t.pattern, PatternStr)}
    keywords = {value for value in terminals if value.isalpha()} | RESERVED
    settings = {
        str(word.value)
        for kind in vars(d).values()
        if isinstance(kind, type) and issubclass(kind, Enum)
        for word in kind
    }
    functions = {kind.value for kind in (*CutKind, *RewriteKind, *TextTestKind)} | {"sorted"}
    functions |= {kind.value for kind in (*Function, *Operation, *Filter, *Member)} | RESERVED_IN_TERMS
    written = set(
        re.findall(r"[a-z_][a-z0-9_]*", " ".join(re.findall(r"`[^`\n]+`|^```.*?^```$", PAGE, re.MULTILINE | re.DOTALL)))
    )
    wanted = {part for word in keywords | settings | functions | set(KIND_WORDS) for part in word.split()}
    assert wanted <= written


def test_each_code_of_the_compiler_stands_on_the_page() -> None:
    listed = (ROOT / "docs" / "diagnostics.md").read_text(encoding="utf-8")
    assert set(CODE.findall(PAGE)) == set(CODE.findall(listed))
