"""A whole file → program."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from typing import NamedTuple, TypeVar

from katapi.language import syntax as s
from katapi.language.nodes import words
from katapi.language.source import Source, Span
from katapi.model import template as t
from katapi.model.declarations import Budget, Serialization, Vocabulary
from katapi.model.images import Image
from katapi.model.program import Library, Program, TokenizerProgram, budgets_of, images_of, offered
from katapi.model.request import ASSISTANT, Request
from katapi.model.resolve.budgets import resolve_budget
from katapi.model.resolve.expressions import Expressions
from katapi.model.resolve.findings import Findings, Unresolved, nearest
from katapi.model.resolve.formulas import resolve_formulas
from katapi.model.resolve.headers import identity
from katapi.model.resolve.images import resolve_images
from katapi.model.resolve.requests import ClosedFields, closed_fields, resolve_request, resolve_type
from katapi.model.resolve.scope import Scope
from katapi.model.resolve.serializations import resolve_serialization
from katapi.model.resolve.statements import Statements
from katapi.model.resolve.tokenizers import resolve_tokenizer
from katapi.model.resolve.vocabularies import resolve_vocabulary
from katapi.model.types import BoolType, IntType, ListType, MessageType, Type

_VERSION = re.compile(r"[A-Za-z0-9._+-]{1,40}")

D = TypeVar("D", s.Vocabulary, s.Tokenizer, s.Request, s.Template)


class Used(NamedTuple):
    """Another file of which a file takes the declarations: where it says so, and what it means."""

    place: Span
    program: Library


def resolve(name: str, source: Source, file: s.File, findings: Findings, used: Sequence[Used] = ()) -> Library | None:
    """What a file named `name` declares, or None where it lacks a block.

    A file without a request and a template gives a tokenizer, or only what others can use; any other is a whole
    `Program`. After a finding it is one for the checks only: what has a mistake in it is `Unsure` there.
    """
    findings.untyped |= file.unread
    _unique_names(file, findings)
    serializations = _serializations(file, used, findings)
    libraries = tuple(other.program for other in used)
    names = {d.header.name.text for d in file.declarations if isinstance(d, s.Serialization)}
    written = tuple(one for name, one in serializations.items() if name in names)
    kinds = {type(declaration) for declaration in file.declarations}
    budgets = _budgets(file, used, findings)
    images = _images(source, file, used, findings)
    if (kinds or file.shared) and kinds <= {s.Serialization, s.Budget, s.Image}:
        _for_any(file, findings)
        return Library(name, source, file, libraries, written, budgets, images)

    lent = _lent(file, used, findings)
    if lent is None:
        vocabulary_node = _only(file, s.Vocabulary, "vocabulary", source, findings)
        tokenizer_node = _only(file, s.Tokenizer, "tokenizer", source, findings)
        vocabulary = None if vocabulary_node is None else resolve_vocabulary(vocabulary_node, findings)
        tokenizer = None if tokenizer_node is None else resolve_tokenizer(tokenizer_node, vocabulary, findings)
    else:
        vocabulary, tokenizer = lent.vocabulary, lent.tokenizer
    _references(file, vocabulary, findings)
    if kinds & {s.Tokenizer, s.Vocabulary} and not kinds & {s.Request, s.Template, s.Budget}:
        if vocabulary is None or tokenizer is None:
            return None
        return TokenizerProgram(name, source, file, libraries, written, budgets, images, vocabulary, tokenizer, lent)

    request_node = _only(file, s.Request, "request", source, findings)
    template_node = _only(file, s.Template, "template", source, findings)
    request = None if request_node is None else resolve_request(request_node, findings)
    if template_node is None or vocabulary is None or request is None:
        return None
    template = resolve_template(template_node, vocabulary, request, serializations, findings)
    if tokenizer is None:
        return None
    unsure = frozenset(findings.untyped)
    declared = (name, source, file, libraries, written, budgets, images, vocabulary, tokenizer, lent)
    return Program(*declared, request, template, unsure)


def _lent(file: s.File, used: Sequence[Used], findings: Findings) -> TokenizerProgram | None:
    """The vocabulary and tokenizer that come from another file, if they do."""
    lent: TokenizerProgram | None = None
    for other in used:
        if not isinstance(other.program, TokenizerProgram):
            continue
        if lent is not None:
            findings.add("K107", other.place, "a file has one vocabulary", label="a second one")
        lent = other.program
    if lent is not None:
        for own in file.declarations:
            if isinstance(own, s.Vocabulary | s.Tokenizer):
                message = f"the vocabulary and the tokenizer come from {lent.source.name}"
                findings.add("K107", own.header.span, message, label="a second one")
    return lent


def _only(file: s.File, kind: type[D], word: str, source: Source, findings: Findings) -> D | None:
    found = [d for d in file.declarations if isinstance(d, kind)]
    for extra in found[1:]:
        findings.add(
            "K107", extra.header.span, f"a file has one {word}", label="a second one", first=found[0].header.span
        )
    if not found:
        end = len(source.text.rstrip())
        findings.add("K116", Span(max(0, end - 1), max(1, end)), f"this file has no `{word}`")
        return None
    return found[0]


def _unique_names(file: s.File, findings: Findings) -> None:
    seen: dict[tuple[type, str], Span] = {}
    for declaration in file.declarations:
        if not _VERSION.fullmatch(declaration.header.version):
            findings.add(
                "K112", declaration.header.span, "a version is one to forty letters, digits, `.`, `_`, `+` and `-`"
            )
        key = (type(declaration), declaration.header.name.text)
        if key in seen and isinstance(declaration, (s.Serialization, s.Budget, s.Image)):
            findings.add("K107", declaration.header.name.span, f"`{key[1]}` is declared twice", first=seen[key])
        seen.setdefault(key, declaration.header.name.span)


def _serializations(file: s.File, used: Sequence[Used], findings: Findings) -> dict[str, Serialization]:
    nodes: dict[str, s.Serialization] = {}
    out: dict[str, Serialization] = {}
    for other in used:
        nodes |= {
            node.header.name.text: node for node in other.program.file.declarations if isinstance(node, s.Serialization)
        }
        out |= {one.identity.name: one for library in offered(other.program) for one in library.serializations}
    taken = set(out)
    for node in file.declarations:
        if isinstance(node, s.Serialization):
            if node.header.name.text in taken:
                findings.add(
                    "K107", node.header.name.span, f"`{node.header.name.text}` comes from another file already"
                )
            out[node.header.name.text] = resolve_serialization(node, nodes, findings)
            nodes[node.header.name.text] = node
    return out


def _budgets(file: s.File, used: Sequence[Used], findings: Findings) -> tuple[Budget, ...]:
    """The budgets that a file declares; a name means one budget, be it of this file or of one that it uses."""
    taken: dict[str, Budget] = {}
    for other in used:
        for name, (_, budget) in budgets_of(other.program).items():
            if taken.setdefault(name, budget) != budget:
                findings.add("K107", other.place, f"the budget `{name}` comes from another file already")
    for node in file.declarations:
        if isinstance(node, s.Budget) and node.header.name.text in taken:
            message = f"the budget `{node.header.name.text}` comes from another file already"
            findings.add("K107", node.header.name.span, message)
    return tuple(resolve_budget(node, findings) for node in file.declarations if isinstance(node, s.Budget))


def _images(source: Source, file: s.File, used: Sequence[Used], findings: Findings) -> tuple[Image, ...]:
    """The images that a file declares; a name means one image, be it of this file or of one that it uses."""
    nodes = [node for node in file.declarations if isinstance(node, s.Image)]
    others = [node for node in file.declarations if not isinstance(node, s.Image | s.Budget | s.Serialization)]
    for node in nodes if others else ():
        what = f"the {node.kind.value} `{node.header.name.text}`"
        message = f"{what} stands beside a vocabulary, a request or a template"
        findings.add("K810", node.header.span, message, help="put it into a file of its own, and `use` that")
    for node in nodes:
        if node.kind is not nodes[0].kind:
            message = f"`{node.header.name.text}` is of another kind than what stands before it in this file"
            help = "put images, videos and audio into a file each"
            findings.add("K812", node.header.span, message, first=nodes[0].header.span, help=help)
    taken: dict[str, Image] = {}
    for other in used:
        for name, (_, image) in images_of(other.program).items():
            if taken.setdefault(name, image).digest != image.digest:
                findings.add("K107", other.place, f"the image `{name}` comes from another file already")
    for node in nodes:
        if node.header.name.text in taken:
            message = f"the image `{node.header.name.text}` comes from another file already"
            findings.add("K107", node.header.name.span, message)
    if others:
        return ()
    written = [node for node in file.shared if isinstance(node, s.Formula)]
    formulas, signatures = resolve_formulas(written, findings)
    images = resolve_images(nodes, formulas, signatures, written, findings)
    called = {name for image in images for name in (one.name for one in image.formulas)}
    unsure = findings.untyped or len(images) < len(nodes)
    for formula in written if nodes and not unsure else ():
        if formula.name.text not in called and source.file_of(formula.span.start)[0] is source:
            message = f"the formula `{formula.name.text}` is never called"
            findings.add("K503", formula.name.span, message, help="remove it, or call it")
    return images


def _for_any(file: s.File, findings: Findings) -> None:
    """Budgets in a file without a vocabulary are for any."""
    for node in file.declarations:
        if isinstance(node, s.Budget) and node.target is not None:
            message = f"this file has no vocabulary `{node.target.text}`"
            help = f"leave out `for {node.target.text}`: a budget in a file of its own is for any model"
            findings.add("K117", node.target.span, message, help=help)


def _references(file: s.File, vocabulary: Vocabulary | None, findings: Findings) -> None:
    """`over Qwen3` and `for Qwen3` name the vocabulary of the file."""
    for declaration in file.declarations:
        match declaration:
            case s.Tokenizer(over=name) | s.Template(target=name) | s.Budget(target=s.Name() as name):
                if vocabulary is not None and name.text != vocabulary.identity.name:
                    findings.add(
                        "K117",
                        name.span,
                        f"there is no vocabulary `{name.text}`",
                        help=nearest(name.text, [vocabulary.identity.name]),
                    )
            case _:
                pass


def resolve_template(
    node: s.Template,
    vocabulary: Vocabulary,
    request: Request,
    serializations: dict[str, Serialization],
    findings: Findings,
) -> t.Template:
    """The template."""
    expressions = Expressions(findings, vocabulary, request, serializations)
    definitions = [p for p in node.parts if isinstance(p, s.Def)]
    signatures = _signatures(definitions, closed_fields(request), findings)
    statements = Statements(findings, expressions, {n: tuple(p for _, p in s_) for n, s_ in signatures.items()})

    variables = _global_variables(expressions, request)
    scope = Scope({v.name: v for v in variables})
    counters: list[t.Variable] = []
    for counter in (p for p in node.parts if isinstance(p, s.Counter)):
        with suppress(Unresolved):
            expressions.fresh(counter.name, scope)
            one = expressions.variable(counter.name.text, t.Binding.COUNTER, IntType(), counter.name.span)
            counters.append(one)
            scope = scope.bind(one.name, one)
    others = (s.Def, s.Generate, s.NoPrefix, s.Parse, s.Counter, s.Boundary)
    items = tuple(p for p in node.parts if not isinstance(p, others))
    body, after = statements.items(items, scope, top=True)

    defs: list[t.Def] = []
    for definition in definitions:
        inner = Scope({v.name: v for v in counters})
        for name, _ in signatures.get(definition.name.text, ()):
            with suppress(Unresolved):
                expressions.fresh(name, inner)
        parameters = [
            expressions.variable(p.text, t.Binding.DEF_PARAMETER, of, p.span)
            for p, of in signatures.get(definition.name.text, ())
        ]
        for parameter in parameters:
            inner = inner.bind(parameter.name, parameter)
        block = statements.block(definition.body, inner)
        defs.append(t.Def(definition.name.text, tuple(parameters), block, span=definition.name.span))

    generates: list[t.Generate] = []
    for generate in (p for p in node.parts if isinstance(p, s.Generate)):
        condition = None
        with suppress(Unresolved):
            condition = None if generate.condition is None else expressions.condition(generate.condition, after)
        sure = generate.condition is None or condition is not None
        if generate.condition is not None and condition is None:
            findings.untyped |= words(generate.condition)
        with nullcontext() if sure else findings.unsure():
            body_ = statements.block(generate.body, after)
        generates.append(t.Generate(condition, body_, span=_keyword(generate)))

    parses = [_parse(p, after, expressions, statements, findings) for p in node.parts if isinstance(p, s.Parse)]
    whole = t.Block(body, span=node.span)
    unprompted = tuple(p.span for p in node.parts if isinstance(p, s.NoPrefix))
    return t.Template(
        identity(node.header),
        variables,
        tuple(counters),
        tuple(defs),
        whole,
        tuple(generates),
        unprompted,
        tuple(parses),
        node.header.span,
        _boundaries(node, findings),
    )


def _parse(
    node: s.Parse, scope: Scope, expressions: Expressions, statements: Statements, findings: Findings
) -> t.Parse:
    """A `parse` block. It may name fields that the template never prints."""
    with suppress(Unresolved):
        expressions.fresh(node.name, scope)
    if node.condition is not None:
        message = "which `parse` blocks there are is decided by options"
        help_ = "ask for options alone, or put an `if` into the block"
        findings.add("K409", node.condition.span, message, help=help_)
    roles = (ASSISTANT,) if expressions.has_role(ASSISTANT) else ()
    if not roles:
        message = f"the request has no role `{ASSISTANT}`, whose messages a model writes"
        findings.add("K103", node.name.span, message, label="unknown role", help="declare it in the request")
    variable = expressions.variable(node.name.text, t.Binding.WALK, MessageType(roles), node.name.span)
    with expressions.reading_replies():
        body = statements.block(node.body, scope.bind(variable.name, variable))
    return t.Parse(variable, body, span=node.name.span)


def _boundaries(node: s.Template, findings: Findings) -> tuple[t.Boundary, ...]:
    """The boundaries that a template names, each text once."""
    found: dict[str, t.Boundary] = {}
    for clause in (p for p in node.parts if isinstance(p, s.Boundary)):
        for one in clause.texts:
            if one.text in found:
                first = found[one.text].span
                findings.add("K107", one.span, "this boundary stands here twice", label="again here", first=first)
            else:
                found[one.text] = t.Boundary(one.text, clause.answer.kind, clause.answer.escape, span=one.span)
    return tuple(found.values())


def _keyword(node: s.Generate) -> Span:
    return Span(node.span.start, node.span.start + len("generate"))


def _signatures(
    definitions: list[s.Def], records: ClosedFields, findings: Findings
) -> dict[str, list[tuple[s.Name, Type]]]:
    out: dict[str, list[tuple[s.Name, Type]]] = {}
    for definition in definitions:
        if definition.name.text in out:
            first = next(d.name.span for d in definitions if d.name.text == definition.name.text)
            findings.add("K107", definition.name.span, f"`def {definition.name.text}` stands here twice", first=first)
            findings.untyped.add(definition.name.text)
        parameters: list[tuple[s.Name, Type]] = []
        for parameter in definition.parameters:
            taken = next((p.span for p, _ in parameters if p.text == parameter.name.text), None)
            if taken is not None:
                message = f"the name `{parameter.name.text}` is taken already"
                findings.add("K107", parameter.name.span, message, first=taken)
            try:
                parameters.append((parameter.name, resolve_type(parameter.type, records, findings, in_def=True)))
            except Unresolved:
                findings.untyped.update((parameter.name.text, definition.name.text))
        out[definition.name.text] = parameters
    return out


def _global_variables(expressions: Expressions, request: Request) -> tuple[t.Variable, ...]:
    roles = tuple(r.name for r in request.roles)
    out = [
        expressions.variable("messages", t.Binding.MESSAGES, ListType(MessageType(roles)), request.span),
        expressions.variable("generating", t.Binding.GENERATING, BoolType(), request.span),
    ]
    if request.tools is not None:
        out.append(expressions.variable("tools", t.Binding.TOOLS, request.tools, request.tools_span))
    if request.documents is not None:
        of = request.documents
        out.append(expressions.variable("documents", t.Binding.DOCUMENTS, of, request.documents_span))
    for param in request.params:
        of = param.type
        out.append(expressions.variable(param.name, t.Binding.PARAM, of, param.span))
    return tuple(out)
