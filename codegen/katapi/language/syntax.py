"""The syntax tree of a .kata file: what was written, before any name is resolved.

Every node has a `span`, which does not take part in comparison, so that parse(print(tree)) == tree can be tested.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from katapi.language.source import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Name(Node):
    text: str


# ---- declarations ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class File(Node):
    """All declarations; `unread` are the words of what could not be read outside of templates.

    Where that may have given any `name`, no use of a name can be called wrong.
    """

    declarations: tuple[Declaration, ...]
    unread: frozenset[str] = frozenset()
    nameless: bool = False


@dataclass(frozen=True, slots=True)
class Header(Node):
    """What every declaration begins with: its name and its version."""

    name: Name
    version: str


@dataclass(frozen=True, slots=True)
class ControlRow(Node):
    """`151644 @im_start "<|im_start|>"`: an id, the template's name for it, and how it is spelled."""

    id: int
    name: str
    spelling: str


@dataclass(frozen=True, slots=True)
class TextRow(Node):
    """`8 "天空"`: an ordinary token of a vocabulary that is written out in the spec."""

    id: int
    text: str


@dataclass(frozen=True, slots=True)
class UnknownRow(Node):
    """`unknown 13 "<unk>"`: what stands for text that no token spells."""

    id: int
    spelling: str


@dataclass(frozen=True, slots=True)
class ArtifactRef(Node):
    """`artifact "qwen/qwen.tiktoken"`: a row of `artifacts.lock`."""

    name: str


@dataclass(frozen=True, slots=True)
class Vocabulary(Node):
    header: Header
    artifacts: tuple[ArtifactRef, ...]
    controls: tuple[ControlRow, ...]
    texts: tuple[TextRow, ...]
    unknowns: tuple[UnknownRow, ...]


@dataclass(frozen=True, slots=True)
class Words(Node):
    """A setting's value in words, for example `bpe bytes`, `", "` or `40960`."""

    words: tuple[Name, ...]
    text: str | None
    number: int | None


@dataclass(frozen=True, slots=True)
class Pattern(Node):
    """A regular expression between backquotes, and what becomes of its matches."""

    regex: str
    behaviour: Name


@dataclass(frozen=True, slots=True)
class Setting(Node):
    key: Name
    values: tuple[Words | Pattern, ...]


@dataclass(frozen=True, slots=True)
class Tokenizer(Node):
    header: Header
    over: Name
    settings: tuple[Setting, ...]


@dataclass(frozen=True, slots=True)
class Serialization(Node):
    header: Header
    like: Name | None
    settings: tuple[Setting, ...]


@dataclass(frozen=True, slots=True)
class Budget(Node):
    header: Header
    target: Name
    settings: tuple[Setting, ...]


# ---- request -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NamedType(Node):
    name: Name


@dataclass(frozen=True, slots=True)
class ListOf(Node):
    item: TypeRef


@dataclass(frozen=True, slots=True)
class OptionalOf(Node):
    item: TypeRef


@dataclass(frozen=True, slots=True)
class Choice(Node):
    """`"low" | "medium" | "high"`"""

    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FromText(Node):
    """`object from text verbatim`: an object that may also arrive as the text of one."""

    target: Name
    verbatim: bool


TypeRef: TypeAlias = NamedType | ListOf | OptionalOf | Choice | FromText


@dataclass(frozen=True, slots=True)
class FieldDecl(Node):
    name: Name
    type: TypeRef
    ignored: bool


@dataclass(frozen=True, slots=True)
class RoleDecl(Node):
    names: tuple[Name, ...]
    fields: tuple[FieldDecl, ...]


@dataclass(frozen=True, slots=True)
class RecordDecl(Node):
    name: Name
    fields: tuple[FieldDecl, ...]


@dataclass(frozen=True, slots=True)
class ToolsDecl(Node):
    type: TypeRef


@dataclass(frozen=True, slots=True)
class ParamDecl(Node):
    name: Name
    type: TypeRef
    default: Expr | None


@dataclass(frozen=True, slots=True)
class Request(Node):
    header: Header
    settings: tuple[Setting, ...]
    roles: tuple[RoleDecl, ...]
    records: tuple[RecordDecl, ...]
    tools: tuple[ToolsDecl, ...]
    params: tuple[ParamDecl, ...]


# ---- template ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Block(Node):
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Broken(Block):
    """What stands for an item that cannot be read: the blocks in it that can, and the words of what cannot."""

    words: frozenset[str]


@dataclass(frozen=True, slots=True)
class Parameter(Node):
    name: Name
    type: TypeRef


@dataclass(frozen=True, slots=True)
class Def(Node):
    name: Name
    parameters: tuple[Parameter, ...]
    body: Block


@dataclass(frozen=True, slots=True)
class Generate(Node):
    condition: Expr | None
    body: Block


@dataclass(frozen=True, slots=True)
class Template(Node):
    header: Header
    target: Name
    parts: tuple[Def | Generate | Item, ...]


@dataclass(frozen=True, slots=True)
class Put(Node):
    """An expression that stands as an item: it is printed."""

    value: Expr


@dataclass(frozen=True, slots=True)
class BlockText(Node):
    '''A text between `"""`, dedented, with `${…}` parts.'''

    parts: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Let(Node):
    name: Name
    value: Expr


@dataclass(frozen=True, slots=True)
class If(Node):
    test: Expr
    then: Block
    otherwise: Block | If | None


@dataclass(frozen=True, slots=True)
class Each(Node):
    """`each x in list where c join ", " { … }`; with `value_name`, over the pairs of an object."""

    name: Name
    value_name: Name | None
    source: Expr
    condition: Expr | None
    join: str | None
    body: Block


@dataclass(frozen=True, slots=True)
class Arm(Node):
    """An arm of a walk or a `match`; one that cannot be read has no patterns."""

    patterns: tuple[ArmPattern, ...]
    then: Name | None
    bound: Name | None
    condition: Expr | None
    body: Block


@dataclass(frozen=True, slots=True)
class Walk(Node):
    """`each m in messages { when user { … } … }`: one arm for each message or run of messages."""

    name: Name
    source: Expr
    arms: tuple[Arm, ...]


@dataclass(frozen=True, slots=True)
class Match(Node):
    subject: Expr
    arms: tuple[Arm, ...]


class TakeHow(Enum):
    LEADING = "leading"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Take(Node):
    how: TakeHow
    roles: tuple[Name, ...]
    bound: Name
    otherwise: Block | None


@dataclass(frozen=True, slots=True)
class Sampled(Node):
    body: Block


@dataclass(frozen=True, slots=True)
class Drop(Node):
    value: Expr


@dataclass(frozen=True, slots=True)
class Reject(Node):
    message: str


@dataclass(frozen=True, slots=True)
class NamePattern(Node):
    """A role or a JSON kind."""

    name: Name


@dataclass(frozen=True, slots=True)
class RunPattern(Node):
    """`tool+`: a maximal run of messages of one role."""

    name: Name


@dataclass(frozen=True, slots=True)
class TextPattern(Node):
    text: str


@dataclass(frozen=True, slots=True)
class OtherPattern(Node):
    pass


ArmPattern: TypeAlias = NamePattern | RunPattern | TextPattern | OtherPattern


# ---- expressions -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ControlRef(Node):
    """`@im_start`"""

    name: str


@dataclass(frozen=True, slots=True)
class TextLiteral(Node):
    text: str


@dataclass(frozen=True, slots=True)
class IntLiteral(Node):
    value: int


@dataclass(frozen=True, slots=True)
class BoolLiteral(Node):
    value: bool


@dataclass(frozen=True, slots=True)
class ListLiteral(Node):
    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class ObjectLiteral(Node):
    pairs: tuple[tuple[str, Expr], ...]


@dataclass(frozen=True, slots=True)
class NameRef(Node):
    name: str


@dataclass(frozen=True, slots=True)
class FieldRef(Node):
    base: Expr
    name: Name


@dataclass(frozen=True, slots=True)
class MethodCall(Node):
    base: Expr
    name: Name
    arguments: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Call(Node):
    name: Name
    arguments: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Coalesce(Node):
    """`a ?? b`: the first that is there."""

    options: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class As(Node):
    """`x as json`: through a named serialization."""

    value: Expr
    serialization: Name


@dataclass(frozen=True, slots=True)
class Conditional(Node):
    test: Expr
    then: Expr
    otherwise: Expr


@dataclass(frozen=True, slots=True)
class Or(Node):
    operands: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class And(Node):
    operands: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Not(Node):
    operand: Expr


class Operator(Enum):
    EQUAL = "=="
    NOT_EQUAL = "!="
    LESS = "<"
    LESS_EQUAL = "<="
    GREATER = ">"
    GREATER_EQUAL = ">="


@dataclass(frozen=True, slots=True)
class Compare(Node):
    operator: Operator
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Within(Node):
    """`x in [a, b]`"""

    value: Expr
    container: Expr


@dataclass(frozen=True, slots=True)
class Has(Node):
    """`text has "x"`: a text holds another; an object has a key."""

    container: Expr
    value: Expr


@dataclass(frozen=True, slots=True)
class IsKind(Node):
    """`m is user or tool`, `v is text`"""

    value: Expr
    kinds: tuple[Name, ...]
    negated: bool


class End(Enum):
    FIRST = "first"
    LAST = "last"


@dataclass(frozen=True, slots=True)
class IsEnd(Node):
    """`m is last`: the loop variable stands at an end of what is walked."""

    value: Expr
    end: End
    negated: bool


class Side(Enum):
    AFTER = "after"
    BEFORE = "before"


@dataclass(frozen=True, slots=True)
class IsBeside(Node):
    """`m is after query`: the order of two messages in the conversation."""

    value: Expr
    side: Side
    other: Expr
    negated: bool


@dataclass(frozen=True, slots=True)
class Given(Node):
    """There, and neither empty, zero nor false."""

    value: Expr


@dataclass(frozen=True, slots=True)
class Exists(Node):
    """There, and not null."""

    value: Expr


class Quantifier(Enum):
    ANY = "any"
    ALL = "all"
    COUNT = "count"
    FIRST = "first"
    LAST = "last"


@dataclass(frozen=True, slots=True)
class Query(Node):
    """`last u in messages where u is user`"""

    quantifier: Quantifier
    name: Name
    source: Expr
    condition: Expr


class Neighbour(Enum):
    PREV = "prev"
    NEXT = "next"


@dataclass(frozen=True, slots=True)
class Beside(Node):
    """`prev m`, `next m`: the neighbour of the loop variable in what is walked."""

    neighbour: Neighbour
    name: Name


Expr: TypeAlias = (
    ControlRef
    | TextLiteral
    | IntLiteral
    | BoolLiteral
    | ListLiteral
    | ObjectLiteral
    | NameRef
    | FieldRef
    | MethodCall
    | Call
    | Coalesce
    | As
    | Conditional
    | Or
    | And
    | Not
    | Compare
    | Within
    | Has
    | IsKind
    | IsEnd
    | IsBeside
    | Given
    | Exists
    | Query
    | Beside
)

Item: TypeAlias = Put | BlockText | Block | Let | If | Each | Walk | Match | Take | Sampled | Drop | Reject

Declaration: TypeAlias = Vocabulary | Tokenizer | Serialization | Budget | Request | Template
