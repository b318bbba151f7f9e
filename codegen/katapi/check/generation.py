"""One generation prefix, and what the model samples is marked (K401 to K405)."""

from __future__ import annotations

from katapi.check.traverse import blocks, statements
from katapi.language.diagnostics import Diagnostic
from katapi.model import template as t
from katapi.model.program import Program
from katapi.model.request import ASSISTANT


def check(program: Program) -> list[Diagnostic]:
    """The findings about `generate` and `sampled`."""
    definitions = {d.name: d for d in program.template.definitions}
    return [
        *_prefix(program.template, definitions),
        *_sampled_arms(program.template, definitions),
        *_misplaced(program.template, definitions),
    ]


#: Where `sampled` cannot stand, and why.
_PLACES = {
    "`sampled`": "what is sampled is marked once",
    "`text`": "a text is kept here; mark it where it is printed",
    "`parse`": "all that it says is what the model writes",
    "`generate`": "the prefix is given to the model; what it writes stands in the arm of its role",
}

Definitions = dict[str, t.Def]


def _prefix(template: t.Template, definitions: Definitions) -> list[Diagnostic]:
    prefixes = sorted([*(g.span for g in template.generates), *template.no_prefix], key=lambda span: span.start)
    if not prefixes and any(isinstance(s, t.Unsure) for s in template.body.statements):
        return []
    if not prefixes:
        return [
            Diagnostic(
                "K401",
                template.span,
                "this template has no generation prefix",
                "no `generate`",
                "add `generate { … }` with what stands before the model's next message, or `generate none`",
            )
        ]
    found = [
        Diagnostic(
            "K402",
            span,
            "a template has one generation prefix",
            "a second `generate`",
            "put the two into one, with `if`",
        )
        for span in prefixes[1:]
    ]
    found.extend(
        Diagnostic(
            "K405",
            generate.span,
            "this generation prefix may be empty",
            "not every path prints a control token or a literal",
            "print something on each path, or say with `generate where …` when there is none",
        )
        for generate in template.generates
        if not _always_prints(generate.body, definitions, frozenset())
    )
    return found


def _always_prints(block: t.Block, definitions: Definitions, calling: frozenset[str]) -> bool:
    """Whether every path through a block prints a control token or a literal, or ends in `reject`."""
    return any(_prints(statement, definitions, calling) for statement in block.statements)


def _prints(statement: t.Statement, definitions: Definitions, calling: frozenset[str]) -> bool:
    match statement:
        case t.Print(value=value):
            return isinstance(value, t.ControlConst) or (isinstance(value, t.TextConst) and bool(value.text))
        case t.CallDef(name=name):
            return name not in calling and _always_prints(definitions[name].body, definitions, calling | {name})
        case t.If(then=then, otherwise=otherwise):
            return (
                otherwise is not None
                and _always_prints(then, definitions, calling)
                and _always_prints(otherwise, definitions, calling)
            )
        case t.Match(arms=arms, unsure=unsure):
            return unsure or all(_always_prints(arm.body, definitions, calling) for arm in arms)
        case t.Unsure():
            return True
        case t.Block() as block:
            return _always_prints(block, definitions, calling)
        case t.Sampled(body=body) | t.Joined(body=body) | t.ImageOf(body=body):
            return _always_prints(body, definitions, calling)
        case t.Reject():
            return True
        case t.Let() | t.Capture() | t.Drop() | t.Begin() | t.Advance() | t.Each() | t.Walk() | t.Take():
            return False


def _sampled_arms(template: t.Template, definitions: Definitions) -> list[Diagnostic]:
    """Arms for the model's own messages in which nothing is marked as its work."""
    found: list[Diagnostic] = []
    marking = _reaching(definitions, t.Sampled)
    printing = _reaching(definitions, t.Print)
    for walk in statements(template.body):
        if not isinstance(walk, t.Walk):
            continue
        covered = False
        for arm in walk.arms:
            if ASSISTANT not in arm.roles or covered:
                continue
            covered = arm.condition is None
            inside = list(statements(arm.body))
            if any(isinstance(s, t.Unsure) for s in inside):
                continue
            if _has(inside, t.Print, printing) and not _has(inside, t.Sampled, marking):
                found.append(
                    Diagnostic(
                        "K403",
                        arm.span,
                        "nothing in this arm is marked as sampled",
                        "no `sampled { … }`",
                        "put what the model itself writes, its end token too, into `sampled { … }`",
                    )
                )
    return found


def _has(inside: list[t.Statement], kind: type[t.Sampled] | type[t.Print], reaching: set[str]) -> bool:
    return any(isinstance(s, kind) or (isinstance(s, t.CallDef) and s.name in reaching) for s in inside)


def _reaching(definitions: Definitions, kind: type[t.Sampled] | type[t.Print]) -> set[str]:
    """The defs in which a kind of statement stands, directly or in a def that they call."""
    found: set[str] = set()
    grown = True
    while grown:
        more = {name for name, d in definitions.items() if _has(list(statements(d.body)), kind, found)}
        grown = more != found
        found = more
    return found


def _misplaced(template: t.Template, definitions: Definitions) -> list[Diagnostic]:
    """`sampled` inside another, or inside the prefix that stands before what is sampled."""
    marking = _reaching(definitions, t.Sampled)
    found: list[Diagnostic] = []
    for body in (template.body, *(d.body for d in definitions.values())):
        found.extend(_inside(body, marking, None))
    for generate in template.generates:
        found.extend(_inside(generate.body, marking, "`generate`"))
    for parse in template.parses:
        found.extend(_inside(parse.body, marking, "`parse`"))
    return found


def _inside(block: t.Block, marking: set[str], around: str | None) -> list[Diagnostic]:
    found: list[Diagnostic] = []
    for statement in block.statements:
        marks = isinstance(statement, t.Sampled) or (isinstance(statement, t.CallDef) and statement.name in marking)
        if marks and around is not None:
            label = f"`def {statement.name}` marks what is sampled" if isinstance(statement, t.CallDef) else ""
            found.append(
                Diagnostic("K404", statement.span, f"`sampled` cannot stand in {around}", label, _PLACES[around])
            )
            continue
        within = "`sampled`" if isinstance(statement, t.Sampled) else around
        within = "`text`" if isinstance(statement, t.Capture) else within
        for inner in blocks(statement):
            found.extend(_inside(inner, marking, within))
    return found
