"""The canonical form: parse ∘ print = identity, formatting twice changes nothing, and no comment is lost."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from random import Random
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from katapi.language import syntax as s
from katapi.language import syntax_formulas as f
from katapi.language import syntax_images as i
from katapi.language.build import RESERVED
from katapi.language.diagnostics import SpecError
from katapi.language.mistakes import ITEM_WORDS, alike
from katapi.language.parser import parse
from katapi.language.printer import WIDTH, canonical, format_source
from katapi.language.scanner import Kind, scan
from katapi.language.source import Source, Span
from tests.examples import FUZZ

SPECS = sorted(Path(__file__).parents[2].joinpath("spec").rglob("*.kata"))
T = TypeVar("T")
thorough = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=500 if FUZZ else 150)


def formatted(text: str) -> str:
    return format_source(Source("t.kata", text))


def tree(text: str) -> s.File:
    file, findings = parse(Source("t.kata", text))
    assert findings == []
    return file


def comments(text: str) -> list[str]:
    return [text[p.span.start : p.span.end].rstrip() for p in scan(text) if p.kind is Kind.COMMENT]


# ---- random trees, every kind of node


def node(kind: type[T], *parts: SearchStrategy[object]) -> SearchStrategy[T]:
    return st.builds(kind, *parts, span=st.just(Span(0, 0)))


def many(part: SearchStrategy[T], least: int = 0, most: int = 3) -> SearchStrategy[tuple[T, ...]]:
    return st.lists(part, min_size=least, max_size=most).map(tuple)


# Words that mean something in one place only are names in all others.
CONTEXTUAL = ["version", "over", "for", "text", "from", "verbatim", "like", "tools", "ignore", "param"]
words = st.sampled_from(["a", "m", "x1", "_y", "Qwen3", "iffy", "isnt", "notes", *CONTEXTUAL])
names = node(s.Name, words)
fields = node(s.Name, st.one_of(words, st.sampled_from(sorted(RESERVED))))
texts = st.text(st.sampled_from("ab \"'\\\n\t\r{}$#`@天？\u3000\u200b\U0001f600"), max_size=8)
numbers = st.integers(0, 10**18 - 1)
controls = st.sampled_from(["bos", "/tool_call", "im_start", "x_1"])
booleans = st.booleans()


@cache
def posts(depth: int) -> SearchStrategy[s.Expr]:
    """Expressions that may begin an item."""
    leaf = st.one_of(node(s.NameRef, words), node(s.TextLiteral, texts))
    if depth == 0:
        return leaf
    inner = expressions(depth - 1)
    return st.one_of(
        leaf,
        node(s.ObjectLiteral, many(st.tuples(fields.map(lambda n: n.text), inner))),
        node(s.Call, names, many(inner)),
        node(s.FieldRef, posts(depth - 1), fields),
        node(s.MethodCall, posts(depth - 1), fields, many(inner)),
    )


@cache
def puts(depth: int) -> SearchStrategy[s.Expr]:
    """Expressions that may be printed."""
    option = st.one_of(posts(depth), node(s.As, posts(depth), names))
    return st.one_of(option, node(s.Coalesce, many(option, 2)))


def is_misspelt(expr: s.Expr) -> bool:
    """Whether a name that nothing declares is told to be another word, where it stands by itself."""
    return isinstance(expr, s.NameRef) and alike(expr.name, ITEM_WORDS) is not None


@cache
def expressions(depth: int) -> SearchStrategy[s.Expr]:
    leaf = st.one_of(
        puts(0),
        node(s.ControlRef, controls),
        node(s.IntLiteral, numbers),
        node(s.BoolLiteral, booleans),
        node(s.Beside, st.sampled_from(s.Neighbour), names),
    )
    if depth == 0:
        return leaf
    inner = expressions(depth - 1)
    view = node(s.View, st.sampled_from(s.Side), names)
    return st.one_of(
        leaf,
        puts(depth),
        node(s.ListLiteral, many(inner)),
        node(s.ObjectLiteral, many(st.tuples(words, inner))),
        node(s.FieldRef, inner, fields),
        node(s.MethodCall, inner, fields, many(inner)),
        node(s.Coalesce, many(inner, 2)),
        node(s.As, inner, names),
        node(s.Conditional, inner, inner, inner),
        node(s.Or, many(inner, 2)),
        node(s.And, many(inner, 2)),
        node(s.Not, inner),
        node(s.Compare, st.sampled_from(s.Operator), inner, inner),
        node(s.Within, inner, inner),
        node(s.Has, inner, inner),
        node(s.IsKind, inner, many(names, 1), booleans),
        node(s.IsEnd, inner, st.sampled_from(s.End), booleans),
        node(s.IsBeside, inner, st.sampled_from(s.Side), inner, booleans),
        node(s.Given, inner),
        node(s.Exists, inner),
        node(s.Query, st.sampled_from(s.Quantifier), names, inner, st.none() | view, inner),
    )


@cache
def blocks(depth: int) -> SearchStrategy[s.Block]:
    return node(s.Block, many(items(depth - 1)) if depth else st.just(()))


@cache
def items(depth: int) -> SearchStrategy[s.Item]:
    value, printed, body = expressions(2), puts(2), blocks(depth)
    maybe = st.none() | value
    patterns = st.one_of(
        node(s.NamePattern, names), node(s.RunPattern, names), node(s.TextPattern, texts), node(s.OtherPattern)
    )
    arms = many(node(s.Arm, many(patterns, 1), st.none() | names, st.none() | names, maybe, body), 1, 2)
    control = node(s.ControlRef, controls)
    leaf = st.one_of(
        node(s.Put, printed.filter(lambda e: not is_misspelt(e)) | control),
        node(s.BlockText, many(node(s.TextLiteral, texts) | printed | control, 0, 5)),
        node(s.Let, names, value),
        node(s.Drop, printed),
        node(s.CounterFrom, names, value),
        node(s.Advance, names),
        node(s.Reject, texts),
    )
    if depth == 0:
        return leaf
    choice = node(s.If, value, body, st.none() | body)
    return st.one_of(
        leaf,
        body,
        node(s.If, value, body, choice | body),
        node(s.Each, names, st.none() | names, value, maybe, st.none() | texts, body),
        node(s.Walk, names, value, arms),
        node(s.Match, value, arms),
        node(s.Take, st.sampled_from(s.TakeHow), many(names, 1), names, st.none() | body),
        node(s.Sampled, body),
        node(s.LetText, names, body),
        node(s.Joined, texts, body),
    )


headers = node(s.Header, names, texts)
setting_names = names.filter(lambda n: n.text != "param")
regexes = st.text(st.sampled_from("ab`|\\ \"'#{天"), max_size=6)
atoms: SearchStrategy[s.Atom] = st.one_of(
    setting_names, node(s.Quoted, texts), node(s.Number, numbers), node(s.Regex, regexes), node(s.ControlName, controls)
)
setting = node(s.Setting, fields.filter(lambda n: n.text != "tools"), many(node(s.Part, many(atoms, 1)), 1))
named_types = node(s.NamedType, names)
plain_types = st.one_of(
    named_types,
    node(s.FromText, names, booleans),
    node(s.FromParts, names, texts),
    node(s.Choice, many(texts, 1)),
    node(s.UnionOf, st.lists(named_types | node(s.ListOf, named_types), min_size=2, max_size=3).map(tuple)),
)
list_types = plain_types | node(s.ListOf, plain_types)
types = st.one_of(list_types, node(s.OptionalOf, list_types), node(s.ListOf, node(s.OptionalOf, list_types)))
literals = st.one_of(node(s.TextLiteral, texts), node(s.IntLiteral, numbers), node(s.BoolLiteral, booleans))
constants = literals | node(s.ListLiteral, many(literals | node(s.ListLiteral, many(literals))))
declared = many(node(s.FieldDecl, fields, types, many(names), booleans))


def choices(entries: SearchStrategy[tuple[s.RequestEntry, ...]], depth: int = 1) -> SearchStrategy[s.EntryIf]:
    """An `if` with entries of a request, a role or a record in its braces."""
    if depth:
        inner = choices(entries, depth - 1)
        entries = st.tuples(entries, many(inner, 0, 1)).map(lambda pair: (*pair[0], *pair[1]))
    braced = node(s.Entries, entries)
    otherwise = st.none() | braced if not depth else st.one_of(st.none(), braced, choices(entries, depth - 1))
    return node(s.EntryIf, expressions(1), braced, otherwise)


flags = many(names.filter(lambda n: n.text != "to"))
ranges = node(s.TokenRange, numbers, numbers, texts, flags)
vocabularies = node(
    s.Vocabulary,
    headers,
    many(
        st.one_of(
            node(s.ArtifactRef, texts, st.none() | texts),
            node(s.SizeRow, numbers),
            node(s.ControlTable, many(node(s.ControlRow, numbers, controls, texts, flags) | ranges)),
            node(s.AddedTable, many(node(s.AddedRow, numbers, texts, flags) | ranges)),
            node(s.TextTable, many(node(s.TextRow, numbers, texts))),
            node(s.UnknownRow, numbers, texts),
            node(s.UnknownControl, controls.map(lambda text: s.Name(text, span=Span(0, 0)))),
            node(s.UnusedIds, numbers, numbers),
        )
    ),
)
params = node(s.ParamDecl, names, types, many(names), st.none() | constants)
requests = node(
    s.Request,
    headers,
    many(setting),
    many(node(s.RoleDecl, many(names, 1), booleans, declared, many(choices(declared), 0, 1))),
    many(node(s.RecordDecl, names, declared, many(choices(declared), 0, 1))),
    many(node(s.ToolsDecl, types)),
    many(node(s.DocumentsDecl, types)),
    many(params),
    many(choices(st.tuples(params | node(s.RoleDecl, many(names, 1), booleans, declared, st.just(())))), 0, 1),
)
answers = node(s.Answer, st.sampled_from([s.AnswerKind.ACCEPT, s.AnswerKind.REJECT]), st.none()) | node(
    s.Answer, st.just(s.AnswerKind.ESCAPE), texts
)
templates = node(
    s.Template,
    headers,
    names,
    many(
        st.one_of(
            node(s.Def, names, many(node(s.Parameter, names, types)), blocks(2)),
            node(s.Generate, st.none() | expressions(2), blocks(2)),
            node(s.NoPrefix),
            node(s.Counter, names),
            node(s.Boundary, many(node(s.TextLiteral, texts), 1), answers),
            items(2),
        )
    ),
)
plain = node(s.Name, st.sampled_from(["a", "height", "x1", "_y", "Qwen3", "images", "letter"]))


@cache
def terms(depth: int) -> SearchStrategy[f.Term]:
    """Terms of formulas and images."""
    reals = st.floats(0, 1e9, allow_subnormal=False)
    leaf = st.one_of(node(f.Number, numbers | reals), node(f.Truth, booleans), node(f.Ref, plain))
    if depth == 0:
        return leaf
    inner = terms(depth - 1)
    kept = st.none() | inner
    return st.one_of(
        leaf,
        node(f.Member, inner, fields),
        node(f.Item, inner, inner),
        node(f.Apply, plain, many(inner)),
        node(f.Listed, many(inner)),
        node(f.Collected, inner, many(node(f.Loop, plain, inner), 1, 2), kept),
        node(f.Pick, st.sampled_from(f.Choice), plain, inner, kept, kept),
        node(f.Bisect, plain, inner, inner, inner, inner),
        node(f.When, inner, inner, inner),
        node(f.AnyOf, many(inner, 2)),
        node(f.AllOf, many(inner, 2)),
        node(f.NotOf, inner),
        node(f.Comparison, st.sampled_from(s.Operator), inner, inner),
        node(f.Binary, st.sampled_from(f.Sign), inner, inner),
        node(f.Negative, inner),
    )


@cache
def marks(depth: int) -> SearchStrategy[i.MarkBlock]:
    """Blocks of placeholders."""
    leaf = st.one_of(
        node(i.MarkControl, node(s.Name, controls), many(terms(1), 0, 2)),
        node(i.MarkText, texts),
        node(i.MarkNumber, terms(1), numbers),
    )
    if depth == 0:
        return node(i.MarkBlock, many(leaf))
    inner = marks(depth - 1)
    choice = node(i.MarkIf, terms(1), inner, st.none() | inner)
    blocks_too = st.one_of(
        leaf,
        node(i.MarkEach, plain, terms(1), inner),
        node(i.MarkRepeat, terms(1), inner),
        choice,
        node(i.MarkIf, terms(1), inner, choice),
    )
    return node(i.MarkBlock, many(blocks_too))


plain_parts = node(s.Part, many(plain | node(s.Number, numbers), 1))
plain_settings = node(s.Setting, plain, many(plain_parts, 1))
lets = node(f.FormulaLet, plain, terms(2))
refusals = node(f.Refuse, texts, terms(2))
images = node(
    s.Image,
    st.sampled_from(s.MediaKind),
    headers,
    st.none() | plain,
    many(
        st.one_of(
            plain_settings,
            node(i.Arrival, plain, many(plain_settings)),
            node(i.ImageParam, plain, st.none() | types, terms(1)),
            lets,
            refusals,
            node(i.Numbers, terms(1)),
            node(i.Output, plain, many(plain_parts, 1), terms(2)),
            node(i.TokenCount, st.none() | node(s.Name, controls), terms(1)),
            node(i.ImageControls, many(node(i.ImageControl, node(s.Name, controls), many(plain), texts))),
            node(i.Placeholder, marks(2)),
        )
    ),
)
formulas = node(
    s.Formula,
    plain,
    many(node(f.FormulaParameter, plain, types)),
    types,
    many(st.one_of(lets, refusals, node(f.Give, terms(2), st.none() | terms(1)))),
)
declarations: SearchStrategy[s.Declaration] = st.one_of(
    images,
    vocabularies,
    node(s.Tokenizer, headers, names, many(setting)),
    node(s.Serialization, headers, st.none() | names, many(setting)),
    node(s.Budget, headers, names, many(setting)),
    requests,
    templates,
)


@thorough
@given(many(declarations, 0, 3))
def test_printing_and_formatting_change_no_tree_and_are_done_after_one_time(file: tuple[s.Declaration, ...]) -> None:
    once = formatted("".join(canonical(d) for d in file))
    assert tree(once).declarations == file
    assert formatted(once) == once


@thorough
@given(many(formulas, 0, 3))
def test_printing_and_formatting_change_no_formula(file: tuple[s.Formula, ...]) -> None:
    once = formatted("".join(canonical(formula) for formula in file))
    assert tree(once).shared == file
    assert formatted(once) == once


# ---- random layout: the words of a file with other white space and comments between them

TOKEN = re.compile(
    r'''"""[\s\S]*?"""|"(?!"")(?:\\.|[^"\\\n])*"|'''
    r"""'(?:\\.|[^'\\\n])*'|`(?:``|[^`\n])*`|@/?\w+|\d+(?:\.\d+)?(?:e[+-]?\d+)?\b|\w+\s*:|\w+|\?\?|//|[=!<>]=|\S"""
)
GAPS = [" ", " ", " ", "\n", "\n", "\n\n\n", " # one\n", "\n# two {\n", '\n\n  # "three\n\n', " # `four  \n\t# five\n"]


def scattered(text: str, random: Random) -> str:
    return random.choice(GAPS) + "".join(token + random.choice(GAPS) for token in TOKEN.findall(text))


def assert_formatted_well(text: str) -> None:
    once = formatted(text)
    assert comments(once) == comments(text)
    assert tree(once) == tree(text)
    assert formatted(once) == once


@thorough
@given(declarations, st.randoms(use_true_random=False))
def test_no_comment_is_lost(declaration: s.Declaration, random: Random) -> None:
    assert_formatted_well(scattered(canonical(declaration), random))


def test_a_name_behind_a_comment_is_known_where_it_is_printed() -> None:
    """Alone it could be a misspelt `if`."""
    assert "{ f }" in formatted('template A version "1" for B { each # one\nf in x { f } }')


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("path", SPECS, ids=lambda p: p.stem)
def test_no_comment_is_lost_in_the_specs(path: Path, seed: int) -> None:
    file = tree(path.read_text(encoding="utf-8"))
    longest = max(map(canonical, [*file.declarations, *file.shared]), key=len)
    assert_formatted_well(scattered(longest, Random(seed)))


def test_the_canonical_text_depends_on_the_tree_alone() -> None:
    for path in SPECS:
        file = tree(path.read_text(encoding="utf-8"))
        parts: list[s.Declaration | s.Shared] = [*file.declarations, *file.shared]
        for declaration in parts:
            text = canonical(declaration)
            written = tree(scattered(text, Random(7)))
            assert [canonical(again) for again in (*written.declarations, *written.shared)] == [text]


def test_a_comment_stands_between_any_two_words() -> None:
    spread = 'template A version "1" for B {\n  let x = text # one\n  { "a" } x\n}'
    assert canonical(tree(spread).declarations[0]) == canonical(tree(spread.replace(" # one\n  ", " ")).declarations[0])
    spread = 'request A version "1" {\n  depth # one\n  : 8 bytes: utf8 strict tools # two\n  : [object]\n}'
    (request,) = tree(spread).declarations
    assert isinstance(request, s.Request)
    assert (len(request.settings), len(request.tools)) == (2, 1)


@pytest.mark.parametrize("path", SPECS, ids=lambda p: p.stem)
def test_the_specs_are_in_canonical_form(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert formatted(text) == text


# ---- the form itself


@pytest.mark.parametrize(
    ("written", "canonical_form"),
    [
        pytest.param("{x}", "{ x }", id="one line stays one line"),
        pytest.param("{\nx\n}", "{\n    x\n  }", id="several lines stay several"),
        pytest.param("{ x\n}", "{ x }", id="the first item decides"),
        pytest.param("{ }", "{}", id="an empty block"),
        pytest.param("{ let a = b a }", "{\n    let a = b\n    a\n  }", id="a name and its use never share a line"),
        pytest.param("if a {x} else if b {y}\nelse{z}", "if a { x } else if b { y } else { z }", id="a choice"),
        pytest.param(
            "if a {x} else {\ny\n}", "if a {\n    x\n  } else {\n    y\n  }", id="a choice has one form for all blocks"
        ),
        pytest.param("x   y\n\n\n\nz", "x y\n\n  z", id="lines and one empty line are kept"),
        pytest.param("match v { when a {x} when other {y} }", "match v {\n    when a { x }\n    when other { y }\n  }"),
        pytest.param("let x = ((a) or ((b and c)))", "let x = a or b and c", id="parentheses that nothing needs"),
        pytest.param("let x = (a or b) and not (c == d)", "let x = (a or b) and not c == d"),
        pytest.param('"\\u{5929}" \'x\' "\u3000"', '"天" "x" "\\u{3000}"', id="quotes and escapes"),
        pytest.param('"""\na\n\n b\n"""', '"""\n  a\n\n   b\n  """', id="a block text follows the indentation"),
        pytest.param("x # a\n# b\ny", "x  # a\n  # b\n  y", id="comments behind and above"),
        pytest.param("let x = a # why\n or b", "# why\n  let x = a or b", id="a comment inside goes above"),
        pytest.param("if a {x} # x\nelse {y}", "if a {\n    x\n  } else {\n    # x\n    y\n  }", id="within a choice"),
        pytest.param("if a { # why\nx\n} # end", "if a {  # why\n    x\n  }  # end", id="comments at braces"),
        pytest.param(
            "if a {\nx\n}\n# else\nelse { y }", "if a {\n    x\n  } else {\n    # else\n    y\n  }", id="before else"
        ),
        pytest.param(
            "each m in x { when other {} # last\n# end\n}", "each m in x {\n    when other {}  # last\n    # end\n  }"
        ),
    ],
)
def test_items(written: str, canonical_form: str) -> None:
    head = 'template T version "1" for T {'
    assert formatted(f"{head}\n{written}\n}}") == f"{head}\n  {canonical_form}\n}}\n"


@pytest.mark.parametrize(
    "expression",
    [
        "(a or b) or c",
        "a and (b or c) and (d and e)",
        "not (a and b) or not not c",
        "(a ?? b) ?? (c ?? d)",
        "(a ?? b) as j",
        "((a as j) as k).trim()",
        "(a or b).c.f(d or e, if a then b else c)",
        "(not a) == (b in c)",
        "a ?? b == c as j",
        "given (a == b) and (exists a) has b",
        "(last u in m where u is user).content",
        "last u in (m or n) where (any v in u where v)",
        "last u in m ?? n where u or (if a then b else c)",
        "(if a then b else c) is not text | list",
        "if if a then b else c then (any u in m where u) or d else any u in m where u",
        "if a then b else if c then d else e",
        "x is after (y or z) and x is not last",
        "[prev m, [], object {}, object { a: a, if: b or c }, @bos, 5, true]",
    ],
)
def test_the_parentheses_that_the_tree_needs_are_kept(expression: str) -> None:
    text = f'template T version "1" for T {{\n  let x = {expression}\n}}\n'
    assert formatted(text) == text
    (declaration,) = tree(text).declarations
    assert canonical(declaration) == text


@pytest.mark.parametrize("spare", [0, 1])
def test_a_line_is_broken_when_it_is_too_long_and_not_before(spare: int) -> None:
    line = "  let x = a and b or [c, d] and object { e: f } or "
    text = f'template T version "1" for T {{\n{line}{"g" * (WIDTH - len(line) + 1 - spare)}\n}}\n'
    assert (formatted(text) == text) == (spare == 1)
    items = [f"{'h' * 20}", "i", "j", "k", "l", "m", "n", "o"]
    row = "  " + " ".join([*items, "p" * (WIDTH - 2 - sum(len(i) + 1 for i in items) + 1 - spare)])
    filled = formatted(f'template T version "1" for T {{\n{row}\n}}\n').split("\n")[1]
    assert (filled == row) == (spare == 1)


def test_what_cannot_stand_raw_in_a_block_text_is_quoted_there() -> None:
    head = 'template T version "1" for T {\n  """\n  '
    for part in (r'${"\"\"\""}', 'a${"b"}', '${""}', '${"$"}${x}', r'${"\r"}', '${x.f(\'"\', "}")}', "$${ $ {", "$$${"):
        text = f'{head}{part}\n  """\n}}\n'
        assert formatted(text) == text
    assert formatted(f'{head}${{"a"}}\n  """\n}}\n') == f'{head}a\n  """\n}}\n'


LONG = "a" * 55


@pytest.mark.parametrize(
    ("written", "canonical_form"),
    [
        (f"let x = {LONG} and {LONG} and b", f"let x = {LONG}\n    and {LONG}\n    and b"),
        (f"let x = last u in m where {LONG} or {LONG}", f"let x = last u in m where {LONG}\n    or {LONG}"),
        (
            f"let x = if {LONG} then {LONG} else if b then c else d",
            f"let x = if {LONG}\n    then {LONG}\n    else if b\n    then c\n    else d",
        ),
        (f"if {LONG} or {LONG} or b {{ x }}", f"if {LONG}\n      or {LONG}\n      or b {{\n    x\n  }}"),
        (f"{LONG} {LONG} {LONG} b", f"{LONG} {LONG}\n  {LONG} b"),
        (f"b sampled {{ {LONG} }} {LONG}", f"b sampled {{ {LONG} }}\n  {LONG}"),
        (f"x sampled {{ {LONG} {LONG} {LONG} }} b", f"x\n  sampled {{\n    {LONG} {LONG}\n    {LONG}\n  }}\n  b"),
        (f"let x = f({LONG}, {LONG}, b)", f"let x = f(\n    {LONG},\n    {LONG},\n    b\n  )"),
        (f'let x = m.f("{LONG}").g("{LONG}").h', f'let x = m\n    .f("{LONG}")\n    .g("{LONG}").h'),
        (
            f"each c in {LONG} where {LONG} join ', ' {{ c }}",
            f'each c in {LONG}\n      where {LONG}\n      join ", " {{\n    c\n  }}',
        ),
    ],
)
def test_long_items_are_broken(written: str, canonical_form: str) -> None:
    head = 'template T version "1" for T {'
    text = f"{head}\n  {canonical_form}\n}}\n"
    assert formatted(f"{head} {written} }}") == text
    assert max(map(len, text.split("\n"))) <= WIDTH


def test_declarations_stand_apart_and_tables_have_a_row_a_line() -> None:
    text = """# top
vocabulary A version "1" { control { 0 @bos "<s>" 1 @eos "</s>" # end
} unknown 2 "?" }
# about B
tokenizer B version "1" over A { normalize: none post: none }


# about C

request C version "1" { depth: 64
role user { content: text ignore name: text?, id: text? } role tool {
content: text ignore a: text ignore b: text } param n: int = 5 }
# the end
"""
    assert (
        formatted(text)
        == """# top
vocabulary A version "1" {
  control {
    0 @bos "<s>"
    1 @eos "</s>"  # end
  }
  unknown 2 "?"
}

# about B
tokenizer B version "1" over A {
  normalize: none
  post: none
}

# about C

request C version "1" {
  depth: 64
  role user { content: text  ignore name: text?, id: text? }
  role tool {
    content: text
    ignore a: text
    ignore b: text
  }
  param n: int = 5
}
# the end
"""
    )


@pytest.mark.parametrize(("text", "canonical_form"), [("", ""), ("\n\n", ""), ("\ufeff#  x \r\n", "#  x\n")])
def test_files_without_declarations(text: str, canonical_form: str) -> None:
    assert formatted(text) == canonical_form


def test_a_file_with_a_syntax_error_is_not_formatted() -> None:
    with pytest.raises(SpecError) as raised:
        formatted('budget A version "1" for B { window: }')
    assert [d.code for d in raised.value.diagnostics] == ["K001"]
