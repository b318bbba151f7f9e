"""A template as it is meant: every name bound, every expression typed.

An expression is a tree of frozen nodes; `type` is what the compiler knows at that place, so a value that a test has
shown to be there has the narrower type. A statement prints, binds, branches or refuses; nothing else happens.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from katapi.language.source import Span
from katapi.language.syntax import AnswerKind, End, Neighbour, Operator, Quantifier, Side
from katapi.language.syntax_types import MediaKind
from katapi.model.declarations import AbsentPairs, ControlToken, Identity, Serialization
from katapi.model.request import Field
from katapi.model.types import JsonKind, Type


class Binding(Enum):
    """What brought a variable into being."""

    MESSAGES = "messages"
    TOOLS = "tools"
    DOCUMENTS = "documents"
    GENERATING = "generating"
    PARAM = "param"
    DEF_PARAMETER = "def parameter"
    LET = "let"
    LOOP = "loop"
    KEY = "key"
    WALK = "walk"
    RUN = "run"
    TAKE = "take"
    COUNTER = "counter"
    QUERY = "query"


@dataclass(frozen=True, slots=True)
class Variable:
    """A bound name; `number` tells two variables of one name apart."""

    name: str
    number: int
    binding: Binding
    type: Type = field(compare=False)
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    type: Type
    span: Span = field(compare=False, repr=False)


# ---- expressions -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Var(Typed):
    variable: Variable


@dataclass(frozen=True, slots=True)
class FieldOf(Typed):
    """A declared field of a message or record; absent where the base is absent."""

    base: Expr
    field: Field


@dataclass(frozen=True, slots=True)
class RoleOf(Typed):
    """The role of a message, as text."""

    base: Expr


@dataclass(frozen=True, slots=True)
class JsonFieldOf(Typed):
    """A key of a JSON value; absent where the value is no object or lacks the key."""

    base: Expr
    key: str


@dataclass(frozen=True, slots=True)
class LengthOf(Typed):
    """The number of items of a list, or of code points of a text."""

    base: Expr


@dataclass(frozen=True, slots=True)
class EndOf(Typed):
    """The first or last item of a list; absent where the list is empty."""

    base: Expr
    end: End


@dataclass(frozen=True, slots=True)
class ControlConst(Typed):
    token: ControlToken


@dataclass(frozen=True, slots=True)
class TextConst(Typed):
    text: str


@dataclass(frozen=True, slots=True)
class IntConst(Typed):
    value: int


@dataclass(frozen=True, slots=True)
class BoolConst(Typed):
    value: bool


@dataclass(frozen=True, slots=True)
class ListConst(Typed):
    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class ObjectExpr(Typed):
    """An object whose keys are written in the template. What is absent is left out, or null."""

    pairs: tuple[tuple[str, Expr], ...]
    absent: AbsentPairs


class CutKind(Enum):
    """The functions that take something off a text; what is left is a stretch of the same text."""

    TRIM = "trim"
    TRIM_START = "trim_start"
    TRIM_END = "trim_end"
    BEFORE = "before"
    AFTER = "after"
    BEFORE_LAST = "before_last"
    AFTER_LAST = "after_last"


@dataclass(frozen=True, slots=True)
class Cut(Typed):
    """`argument` is the set of characters for the trims (None: white space), else the text to look for."""

    kind: CutKind
    base: Expr
    argument: str | None


class RewriteKind(Enum):
    """The functions that make a new text of one."""

    REPLACE = "replace"
    WITHOUT = "without"
    LOWER = "lower"
    UPPER = "upper"


@dataclass(frozen=True, slots=True)
class Rewrite(Typed):
    """`arguments` are literals: what to look for and what to put there, or where what goes begins and ends."""

    kind: RewriteKind
    base: Expr
    arguments: tuple[TextConst, ...]


@dataclass(frozen=True, slots=True)
class FormatDate(Typed):
    """A date as text, by a pattern of known directives."""

    base: Expr
    pattern: TextConst


class TextTestKind(Enum):
    STARTS_WITH = "starts_with"
    ENDS_WITH = "ends_with"
    HAS = "has"


@dataclass(frozen=True, slots=True)
class TextTest(Typed):
    kind: TextTestKind
    base: Expr
    needle: str


@dataclass(frozen=True, slots=True)
class HasKey(Typed):
    base: Expr
    key: str


@dataclass(frozen=True, slots=True)
class Coalesce(Typed):
    options: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Conditional(Typed):
    test: Expr
    then: Expr
    otherwise: Expr


@dataclass(frozen=True, slots=True)
class Or(Typed):
    operands: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class And(Typed):
    operands: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Not(Typed):
    operand: Expr


@dataclass(frozen=True, slots=True)
class Compare(Typed):
    operator: Operator
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Within(Typed):
    value: Expr
    container: Expr


@dataclass(frozen=True, slots=True)
class IsRole(Typed):
    value: Expr
    roles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class IsJson(Typed):
    value: Expr
    kinds: frozenset[JsonKind]


@dataclass(frozen=True, slots=True)
class IsEnd(Typed):
    """Whether the walk's message is the first or last of what is walked, or a loop's item that of its rounds."""

    variable: Variable
    end: End


@dataclass(frozen=True, slots=True)
class IsBeside(Typed):
    """Whether a message comes after or before another; false where either is absent."""

    value: Expr
    side: Side
    other: Expr


@dataclass(frozen=True, slots=True)
class Given(Typed):
    value: Expr


@dataclass(frozen=True, slots=True)
class Exists(Typed):
    value: Expr


@dataclass(frozen=True, slots=True)
class Query(Typed):
    """`any`, `all` and `count` give a value; `first` and `last` an item that may be absent."""

    quantifier: Quantifier
    variable: Variable
    source: Expr
    condition: Expr


@dataclass(frozen=True, slots=True)
class View(Typed):
    """What is walked before or after the walk's message, which is not part of it."""

    variable: Variable
    side: Side


@dataclass(frozen=True, slots=True)
class NeighbourOf(Typed):
    """The message before or after the walk's message; absent at the ends."""

    variable: Variable
    neighbour: Neighbour


@dataclass(frozen=True, slots=True)
class Serialize(Typed):
    value: Expr
    serialization: Serialization


Expr: TypeAlias = (
    Var
    | FieldOf
    | RoleOf
    | JsonFieldOf
    | LengthOf
    | EndOf
    | ControlConst
    | TextConst
    | IntConst
    | BoolConst
    | ListConst
    | ObjectExpr
    | Cut
    | Rewrite
    | FormatDate
    | TextTest
    | HasKey
    | Coalesce
    | Conditional
    | Or
    | And
    | Not
    | Compare
    | Within
    | IsRole
    | IsJson
    | IsEnd
    | IsBeside
    | Given
    | Exists
    | Query
    | View
    | NeighbourOf
    | Serialize
)


# ---- statements --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Block(Placed):
    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Unsure(Block):
    """Stands for a statement with a mistake: it may do anything with the values that its words name.

    Only the checks see it, so that they find what does not depend on it.
    """

    words: frozenset[str]


@dataclass(frozen=True, slots=True)
class Print(Placed):
    """Prints a control token, a text or a whole number."""

    value: Expr


@dataclass(frozen=True, slots=True)
class CallDef(Placed):
    name: str
    arguments: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Let(Placed):
    variable: Variable
    value: Expr


@dataclass(frozen=True, slots=True)
class Capture(Placed):
    """Keeps what a block prints, which is no control token, as a text; its pieces remember where they came from."""

    variable: Variable
    body: Block


@dataclass(frozen=True, slots=True)
class If(Placed):
    test: Expr
    then: Block
    otherwise: Block | None


@dataclass(frozen=True, slots=True)
class Each(Placed):
    """A loop over a list, or with `key` over the pairs of an object; `join` stands between two rounds that ran.

    Where it is `sorted`, texts or keys come in the order of their lower case.
    """

    key: Variable | None
    item: Variable
    source: Expr
    sorted: bool
    condition: Expr | None
    join: str | None
    body: Block


@dataclass(frozen=True, slots=True)
class WalkArm(Placed):
    """Handles a message of some roles; `run` takes all of that role that follow, `then` those of another role."""

    roles: tuple[str, ...]
    run: Variable | None
    is_run: bool
    then: str | None
    condition: Expr | None
    variable: Variable
    body: Block


@dataclass(frozen=True, slots=True)
class Walk(Placed):
    """Goes through the messages that no `take` removed; the first arm that fits handles each.

    Where it is `unsure`, it has other arms besides, with mistakes.
    """

    variable: Variable
    arms: tuple[WalkArm, ...]
    unsure: bool = False


@dataclass(frozen=True, slots=True)
class MatchArm(Placed):
    """Fits a value of these kinds or one of these texts; one that gives neither fits all."""

    kinds: frozenset[JsonKind]
    texts: tuple[str, ...]
    other: bool
    condition: Expr | None
    body: Block


@dataclass(frozen=True, slots=True)
class Match(Placed):
    """Where it is `unsure`, it has other arms besides, with mistakes."""

    subject: Expr
    arms: tuple[MatchArm, ...]
    unsure: bool = False


@dataclass(frozen=True, slots=True)
class Take(Placed):
    """Removes messages from what is walked: the first if it has the role, or all of the role."""

    all: bool
    roles: tuple[str, ...]
    variable: Variable
    otherwise: Block | None


@dataclass(frozen=True, slots=True)
class Sampled(Placed):
    """What the model itself generates."""

    body: Block


@dataclass(frozen=True, slots=True)
class Joined(Placed):
    """Puts a text between those statements of the block that print something; an empty text is nothing."""

    separator: str
    body: Block


@dataclass(frozen=True, slots=True)
class ImageOf(Placed):
    """The image or video of a part: the placeholder of its pipeline, or the block where its bytes are not at hand.

    `value` is the image or video, `pipeline` the name of what processes it, where the template says that.
    """

    kind: MediaKind
    value: FieldOf
    pipeline: str | None
    body: Block


@dataclass(frozen=True, slots=True)
class Drop(Placed):
    """A value that is lost knowingly."""

    value: Expr


@dataclass(frozen=True, slots=True)
class Begin(Placed):
    """A counter of this block begins with a whole number."""

    variable: Variable
    value: Expr


@dataclass(frozen=True, slots=True)
class Advance(Placed):
    """A counter goes up by one."""

    variable: Variable


@dataclass(frozen=True, slots=True)
class Reject(Placed):
    message: str


Statement: TypeAlias = (
    Block
    | Print
    | CallDef
    | Let
    | Capture
    | If
    | Each
    | Walk
    | Match
    | Take
    | Sampled
    | Joined
    | ImageOf
    | Drop
    | Begin
    | Advance
    | Reject
)


@dataclass(frozen=True, slots=True)
class Def(Placed):
    """A function that prints."""

    name: str
    parameters: tuple[Variable, ...]
    body: Block


@dataclass(frozen=True, slots=True)
class Generate(Placed):
    """The generation prefix, printed at the end where the request asks for it."""

    condition: Expr | None
    body: Block


@dataclass(frozen=True, slots=True)
class Parse(Placed):
    """What a model writes for a message of the assistant, where that is not what the template prints for it."""

    variable: Variable
    body: Block


@dataclass(frozen=True, slots=True)
class Boundary(Placed):
    """A text that parts messages, and what becomes of a content that spells it; `escape` is what stands for it then."""

    text: str
    answer: AnswerKind
    escape: str | None


@dataclass(frozen=True, slots=True)
class Template:
    """A whole template; its parts see `variables` (messages, tools and such), and its defs only the `counters`.

    A counter is a whole number that begins with 0 and goes up while the template prints. `no_prefix` are the places
    where it says that a reply needs no generation prefix. `boundaries` are those that it names.
    """

    identity: Identity
    variables: tuple[Variable, ...]
    counters: tuple[Variable, ...]
    definitions: tuple[Def, ...]
    body: Block
    generates: tuple[Generate, ...]
    no_prefix: tuple[Span, ...]
    parses: tuple[Parse, ...]
    span: Span
    boundaries: tuple[Boundary, ...] = ()
