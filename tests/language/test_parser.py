"""Text → syntax tree: literals, spans, and what is said about text that is no .kata file."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from katapi.language import syntax as s
from katapi.language.diagnostics import Diagnostic
from katapi.language.literals import quote, unquote
from katapi.language.parser import grammar, parse
from katapi.language.source import Source

SPECS = sorted(Path(__file__).parents[2].joinpath("spec").rglob("*.kata"))


def template(body: str) -> str:
    return f'template T version "1" for T {{ {body} }}'


def items(body: str) -> tuple[s.TemplatePart, ...]:
    file, findings = parse(Source("t.kata", template(body)))
    assert findings == []
    (declaration,) = file.declarations
    assert isinstance(declaration, s.Template)
    return declaration.parts


def value(text: str) -> s.Expr:
    (item,) = items(f"let x = {text}")
    assert isinstance(item, s.Let)
    return item.value


def block(token: str) -> tuple[s.Expr, ...]:
    (item,) = items(token)
    assert isinstance(item, s.BlockText)
    return item.parts


def findings_of(text: str) -> list[tuple[str, str, str]]:
    """Code, marked text and message of each finding."""
    source = Source("t.kata", text)
    return [(d.code, source.text[d.span.start : d.span.end], d.message) for d in parse(source)[1]]


def only_finding(text: str) -> Diagnostic:
    (finding,) = parse(Source("t.kata", text))[1]
    return finding


def names(text: str) -> list[str]:
    """The declarations of a file that could be read."""
    return [d.header.name.text for d in parse(Source("t.kata", text))[0].declarations]


def test_the_grammar_is_lalr1_without_conflicts() -> None:
    grammar(strict=True)


@pytest.mark.parametrize("path", SPECS, ids=lambda p: p.stem)
def test_the_specs_parse(path: Path) -> None:
    file, findings = parse(Source(path.name, path.read_text(encoding="utf-8")))
    assert findings == []
    assert file.declarations or file.shared


def test_words_of_declarations_name_values_behind_a_block() -> None:
    text = next(path for path in SPECS if path.stem == "book").read_text(encoding="utf-8")
    for word in (
        "budget",
        "template",
        "request",
        "vocabulary",
        "tokenizer",
        "serialization",
        "option",
        "model",
        "record",
    ):
        named = text.replace("  @bos\n", f"  def f() {{ }}\n  @bos\n  if true {{ }}\n  {word}\n")
        shared = f"def f({word}: text) {{\n  if true {{ }}\n  {word}\n}}\n\ndef g() {{ }}\n"
        for one in (named, shared):
            assert parse(Source("t.kata", one))[1] == [], word


# ---- literals


@pytest.mark.parametrize(
    ("token", "text"),
    [
        (r'"a\nb\tc\rd"', "a\nb\tc\rd"),
        (r'"\\ \" \'"', "\\ \" '"),
        (r"'say \"it\'s\"'", 'say "it\'s"'),
        (r"'plain \"double\"'", 'plain "double"'),
        (r'"\u{41}\u{5929}\u{10FFFF}"', "A天\U0010ffff"),
        (r'"\\u{41}"', "\\u{41}"),
        ('""', ""),
        ('"# no comment"', "# no comment"),
    ],
)
def test_quoted_texts(token: str, text: str) -> None:
    literal = value(token)
    assert isinstance(literal, s.TextLiteral)
    assert literal.text == text
    assert unquote(quote(text)) == text


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("plain 天空", '"plain 天空"'),
        ('say "x"', "'say \"x\"'"),
        ('it\'s "x"', '"it\'s \\"x\\""'),
        ("a\u3000b\u200bc", r'"a\u{3000}b\u{200b}c"'),
        ("\\n\n", r'"\\n\n"'),
    ],
)
def test_quoting_shows_what_cannot_be_seen(text: str, quoted: str) -> None:
    assert quote(text) == quoted


@pytest.mark.parametrize(
    ("token", "marked", "message"),
    [
        (r'"ab\q"', r"\q", r"unknown escape \q"),
        (r'"天\x41"', r"\x", r"unknown escape \x"),
        (r'"\u{110000}"', r"\u{110000}", "U+110000 is no Unicode character"),
        (r'"\u{d800}"', r"\u{d800}", "U+D800 is no Unicode character"),
        (r'"a \u41"', r"\u", r"an escape by number is written \u{…}, with one to six hexadecimal digits"),
        (r'"\u{}"', r"\u", r"an escape by number is written \u{…}, with one to six hexadecimal digits"),
    ],
)
def test_bad_escapes_are_marked_exactly(token: str, marked: str, message: str) -> None:
    assert findings_of(template(token)) == [("K002", marked, message)]


def test_all_bad_literals_of_a_declaration_are_reported() -> None:
    found = findings_of(template(r'"\a" if x { "\b" } """' + "\n ${y ?? '\\c'} ${last}\n" + ' """'))
    assert [(code, marked) for code, marked, _ in found] == [
        ("K002", r"\a"),
        ("K002", r"\b"),
        ("K002", r"\c"),
        ("K004", "last"),
    ]


@pytest.mark.parametrize(
    ("token", "text"),
    [
        ('"""\n  a\n    b\n\n  c\n  """', "a\n  b\n\nc"),
        ('"""\n  a\n  \n  """', "a\n"),
        ('"""\n  a\n     \n  """', "a\n   "),
        ('"""\n\n  """', None),
        ('"""\n\n\n  """', "\n"),
        ('"""\na\n"""', "a"),
        ('"""\n  \\n is no escape\n  """', "\\n is no escape"),
        ('"""\n  $${x} costs $5 $\n  """', "${x} costs $5 $"),
        ('"""\n  $$${x}\n  """', "$${x}"),
        ('"""\n  # a heading\n  """', "# a heading"),
    ],
)
def test_block_texts(token: str, text: str | None) -> None:
    parts = block(token)
    assert [p.text for p in parts if isinstance(p, s.TextLiteral)] == ([] if text is None else [text])
    assert len(parts) == (text is not None)


def test_interpolations_hold_a_printed_expression_or_a_control_token() -> None:
    first, control, between, coalesce, call, built = block(
        '"""\n a ${@bos}\n ${x ?? "}"}${f("{", \'"\')}${object {a: "}"} as json}\n """'
    )
    assert first == s.TextLiteral("a ", span=first.span)
    assert isinstance(control, s.ControlRef)
    assert control.name == "bos"
    assert between == s.TextLiteral("\n", span=between.span)
    assert isinstance(coalesce, s.Coalesce)
    assert isinstance(call, s.Call)
    assert isinstance(built, s.As)


def test_places_in_an_interpolation_are_places_in_the_file() -> None:
    text = template('"""\n   天 ${m.content}\n   """')
    file, _ = parse(Source("t.kata", text))
    (declaration,) = file.declarations
    assert isinstance(declaration, s.Template)
    (item,) = declaration.parts
    assert isinstance(item, s.BlockText)
    reference = item.parts[1]
    assert text[reference.span.start : reference.span.end] == "m.content"


@pytest.mark.parametrize(
    ("token", "code", "marked", "message"),
    [
        ('"""a\n"""', "K002", '"""', 'a block text begins on the line after its """'),
        ('"""\n  a """', "K002", '"""', 'the closing """ stands alone on its line, after spaces only'),
        ('"""\n\ta\n\t"""', "K002", '"""', 'the closing """ stands alone on its line, after spaces only'),
        ('"""\n  a\n b\n  """', "K002", "b", 'this line is indented less than the closing """'),
        (
            '"""\n  ${a\n  }\n  """',
            "K002",
            "${",
            "this ${ is not closed on its line; the characters themselves are written $${",
        ),
        ('"""\n  ${a # b}\n  """', "K002", "#", "a comment cannot stand in ${…}"),
        ('"""\n  ${a b}\n  """', "K001", "b", "unexpected `b`"),
        ('"""\n  ${a.}\n  """', "K001", ".", "the expression in ${…} ends too early"),
        ('"""\n  ${(a)}\n  """', "K001", "(", "unexpected `(`"),
    ],
)
def test_bad_block_texts_are_marked_exactly(token: str, code: str, marked: str, message: str) -> None:
    assert findings_of(template(token)) == [(code, marked, message)]


def test_a_block_text_is_no_expression() -> None:
    assert findings_of(template('let x = """abc"""')) == [("K001", '"""abc"""', 'unexpected """ text')]


def test_numbers_have_an_end() -> None:
    assert isinstance(value("9" * 18), s.IntLiteral)
    assert findings_of(template(f"let x = {'9' * 5000}")) == [("K002", "9" * 5000, "a number has at most 18 digits")]
    assert findings_of(template("let x = 5y"))[0][:2] == ("K001", "5")


# ---- words


def test_a_keyword_ends_where_its_word_ends() -> None:
    assert findings_of(template("each m inside { m }"))[0][1] == "inside"
    assert items("iffy in_ notes")[0] == items("iffy")[0]
    assert isinstance(value("isnt"), s.NameRef)
    assert value("x is nothing") == value("x is  nothing")
    kind = value("x is nothing")
    assert isinstance(kind, s.IsKind)
    assert not kind.negated


def test_comments_and_line_ends_may_stand_anywhere_between_words() -> None:
    assert value("a is # here\n not\n user | # there\n tool") == value("a is not user | tool")
    assert value("last # here\n u in m where u") == value("last u in m where u")


@pytest.mark.parametrize(
    "body",
    [
        "let last = 1",
        "each first in x { }",
        "each k, all in x { }",
        "each next in x { when other { } }",
        "x ?? true",
        "def join() { }",
        "def f(in: text) { }",
        "take all system as not",
        "each m in x { when tool as if { } }",
        "let x = any prev in y where z",
    ],
)
def test_reserved_words_name_no_value(body: str) -> None:
    ((code, _, message),) = findings_of(template(body))
    assert code == "K004"
    assert message.endswith("is a word of the language and names no value")


def test_reserved_words_may_name_fields_and_keys() -> None:
    assert isinstance(value("m.first.in"), s.FieldRef)
    assert value("object {if: 1, not: m.last}") == value("object { if: 1, not: m.last }")


@pytest.mark.parametrize("word", ["role", "record", "param", "tools", "text", "version", "ignore"])
def test_words_of_other_declarations_name_values(word: str) -> None:
    assert len(items(f"x {word} let y = {word} {word} x.f({word}) {word}")) == 6
    ((code, marked, _),) = findings_of(
        f'request R version "1" {{ role a {{ {word}: text {word}: text }} param x: int = y }}'
    )
    assert (code, marked) == ("K001", "y")


# ---- precedence


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("a or b and not c == d ?? e as j", "a or (b and (not (c == (d ?? (e as j)))))"),
        ("not not a", "not (not a)"),
        ("last u in a ?? b where c or d", "last u in (a ?? b) where (c or d)"),
        ("if a then b else if c then d else e", "if a then b else (if c then d else e)"),
        ("given a.b and c", "(given (a.b)) and c"),
        ("a is not user and b", "(a is not user) and b"),
    ],
)
def test_precedence(text: str, same: str) -> None:
    assert value(text) == value(same)


def test_nested_operators_are_kept_apart() -> None:
    assert value("a or b or c") != value("(a or b) or c")
    assert value("a and b and c") != value("a and (b and c)")


def test_a_choice_of_several_texts_may_be_optional() -> None:
    file, findings = parse(Source("t.kata", 'request R version "1" { param effort: "low" | "high"? }'))
    assert findings == []
    (request,) = file.declarations
    assert isinstance(request, s.Request)
    kind = request.params[0].type
    assert isinstance(kind, s.OptionalOf)
    assert isinstance(kind.item, s.Choice)
    assert kind.item.values == ("low", "high")


def test_a_setting_needs_a_value() -> None:
    ((code, marked, _),) = findings_of('budget B version "1" for B { window: }')
    assert (code, marked) == ("K001", "}")


# ---- error recovery


def test_each_declaration_has_its_own_error_and_the_others_are_read() -> None:
    text = (
        'vocabulary A version "1" { control { 0 bos "<s>" } }\n'
        'tokenizer B version "1" over A { post: none }\n'
        'template C version "1" for A { let = 1 }\n'
        'template D version "1" for A { "\\q" }\n'
        'budget E version "1" for A { window: 64 }\n'
    )
    assert [(code, marked) for code, marked, _ in findings_of(text)] == [
        ("K001", "bos"),
        ("K001", "="),
        ("K002", "\\q"),
    ]
    assert names(text) == ["A", "B", "C", "D", "E"]


def test_an_open_brace_does_not_swallow_the_next_declaration() -> None:
    text = 'template A version "1" for T {\n  if x {\n    y\n  "z"\n}\ntemplate B version "1" for T { w }\n'
    assert findings_of(text) == [("K001", "{", "this `{` is never closed")]
    assert only_finding(text).span.start == text.index("{\n    y")
    assert names(text) == ["A", "B"]


def test_without_better_knowledge_the_innermost_open_brace_is_named() -> None:
    text = template("if x { y")
    assert findings_of(text) == [("K001", "{", "this `{` is never closed")]
    assert only_finding(text).span.start == text.index("{")
    assert only_finding(text[:-2]).span.start == text.index("{ y")


def test_a_closing_brace_too_many() -> None:
    assert findings_of(template("x } }")) == [("K001", "}", "this `}` closes nothing")]


def test_a_closing_brace_below_a_comment_alone() -> None:
    assert findings_of("# nothing\n}\n") == [("K001", "}", "this `}` closes nothing")]


@pytest.mark.parametrize(
    ("behind", "marked", "message"),
    [
        ("role user { a: text }", "role", "unexpected `role`"),
        ("counter c", "counter", "unexpected `counter`"),
        ("param x: text", "param", "unexpected `param`"),
        ('use "other.kata"', "use", "a `use` stands before all declarations"),
    ],
)
def test_what_stands_behind_a_whole_declaration(behind: str, marked: str, message: str) -> None:
    for declaration in ("def a() { b }", "record a { b: text }", 'serialization S version "1" {\n  order: sorted\n}'):
        text = f"{declaration}\n{behind}\ndef c() {{ d }}\n"
        assert findings_of(text) == [("K001", marked, message)]
        assert [d.name.text for d in parse(Source("t.kata", text))[0].shared][-1] == "c"


def test_text_before_the_first_declaration() -> None:
    text = 'hello\nbudget E version "1" for A { window: 64 }\n'
    assert findings_of(text) == [("K001", "hello", "unexpected `hello`")]
    assert names(text) == ["E"]


def test_prose_in_a_block_text_is_no_declaration() -> None:
    text = (
        template('"""\nbudget for the day\nrequest what you need\n"""') + '\nbudget E version "1" for A { window: }\n'
    )
    assert [code for code, _, _ in findings_of(text)] == ["K001"]
    assert names(text) == ["T", "E"]


def test_a_part_of_a_template_is_no_declaration_though_it_begins_a_line() -> None:
    whole = template('def a() { b }\n"""\ndef f(x)\nrecord a {\n"""\n?')
    assert findings_of(whole) == [("K001", "?", "unexpected `?`")]
    file, _ = parse(Source("t.kata", whole))
    assert not file.shared


def test_what_was_expected_is_said() -> None:
    assert only_finding("budget B for C { }").help == "expected `version`"
    assert only_finding(template("each m into x { }")).help == "expected `,` or `in`"


def test_many_broken_declarations_take_linear_time() -> None:
    text = "\n".join(template('"\\q"') for _ in range(2000))
    start = time.perf_counter()
    assert len(parse(Source("t.kata", text))[1]) == 2000
    assert time.perf_counter() - start < 30


# ---- files at the edge


@pytest.mark.parametrize(
    ("body", "marked", "message"),
    [
        ('"abc', '"', "this quoted text does not end on its line"),
        ("'abc", "'", "this quoted text does not end on its line"),
        ('"abc\\', '"', "this quoted text does not end on its line"),
        ('"""\n  abc', '"""', 'this """ text does not end'),
        ("x $ y", "$", "unexpected character `$`"),
    ],
)
def test_what_does_not_end_is_named_where_it_begins(body: str, marked: str, message: str) -> None:
    assert findings_of(template(body)) == [("K001", marked, message)]


def test_a_pattern_ends_on_its_line() -> None:
    text = 'tokenizer A version "1" over A {\n  pretokenize: `a|b isolated\n  post: `x` isolated\n}\n'
    assert findings_of(text) == [("K001", "`", "this pattern does not end on its line")]


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment", "\ufeff"])
def test_an_empty_file_declares_nothing(text: str) -> None:
    file, findings = parse(Source("t.kata", text))
    assert file.declarations == ()
    assert findings == []


def test_line_ends_and_a_byte_order_mark_mean_nothing() -> None:
    text = template('"""\n  a\n\n  b\n  """ # comment\n "c"')
    plain = parse(Source("t.kata", text))
    assert plain[1] == []
    for written in ("\ufeff" + text, text.replace("\n", "\r\n"), text.replace("\n", "\r")):
        assert parse(Source("t.kata", written)) == plain


def test_lines_are_counted_alike_with_every_line_end() -> None:
    text = 'budget B version "1" for B {\n  window: 1\n  reserve: $\n}\n'
    for written in (text, text.replace("\n", "\r\n"), text.replace("\n", "\r")):
        source = Source("t.kata", written)
        (finding,) = parse(source)[1]
        assert source.line_column(finding.span.start) == (3, 12)


# ---- depth


def test_a_hundred_levels_are_read() -> None:
    assert items("{" * 99 + "}" * 99)
    assert isinstance(value("(" * 98 + "a" + ")" * 98), s.NameRef)
    assert isinstance(value("not " * 150 + "a"), s.Not)
    assert items("if a { } else " * 100 + "{ }")


@pytest.mark.parametrize(
    "body",
    [
        "{" * 200 + "}" * 200,
        "let x = " + "(" * 200 + "a" + ")" * 200,
        "let x = " + "[" * 200 + "]" * 200,
        "let x = " + "not " * 1500 + "a",
        "let x = a" + ".b" * 1500,
        "let x = " + "if a then b else " * 1500 + "c",
        "if a { } else " * 1500 + "{ }",
        '"""\n${a' + ".b" * 1500 + '}\n"""',
        '"""\n${f' + "(" * 1500 + '}\n"""',
    ],
)
def test_deeper_nesting_is_an_error(body: str) -> None:
    ((code, _, message),) = findings_of(template(body))
    assert (code, message) == ("K003", "nested too deeply")


def test_a_megabyte_of_braces_is_one_error_at_once() -> None:
    start = time.perf_counter()
    assert [f[0] for f in findings_of(template("{" * 1_000_000))] == ["K003"]
    assert [f[0] for f in findings_of("{" * 1_000_000)] == ["K003"]
    assert time.perf_counter() - start < 10
