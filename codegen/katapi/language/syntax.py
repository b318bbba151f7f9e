"""The syntax tree of a .kata file: what was written, before any name is resolved.

Every node has a `span`, which does not take part in comparison, so that parse(print(tree)) == tree can be tested.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from katapi.language.syntax_expressions import (
    And as And,
)
from katapi.language.syntax_expressions import (
    As as As,
)
from katapi.language.syntax_expressions import (
    Beside as Beside,
)
from katapi.language.syntax_expressions import (
    BoolLiteral as BoolLiteral,
)
from katapi.language.syntax_expressions import (
    Call as Call,
)
from katapi.language.syntax_expressions import (
    Coalesce as Coalesce,
)
from katapi.language.syntax_expressions import (
    Compare as Compare,
)
from katapi.language.syntax_expressions import (
    Conditional as Conditional,
)
from katapi.language.syntax_expressions import (
    ControlRef as ControlRef,
)
from katapi.language.syntax_expressions import (
    End as End,
)
from katapi.language.syntax_expressions import (
    Exists as Exists,
)
from katapi.language.syntax_expressions import (
    Expr as Expr,
)
from katapi.language.syntax_expressions import (
    FieldRef as FieldRef,
)
from katapi.language.syntax_expressions import (
    Given as Given,
)
from katapi.language.syntax_expressions import (
    Has as Has,
)
from katapi.language.syntax_expressions import (
    IntLiteral as IntLiteral,
)
from katapi.language.syntax_expressions import (
    IsBeside as IsBeside,
)
from katapi.language.syntax_expressions import (
    IsEnd as IsEnd,
)
from katapi.language.syntax_expressions import (
    IsKind as IsKind,
)
from katapi.language.syntax_expressions import (
    ListLiteral as ListLiteral,
)
from katapi.language.syntax_expressions import (
    MethodCall as MethodCall,
)
from katapi.language.syntax_expressions import (
    Name as Name,
)
from katapi.language.syntax_expressions import (
    NameRef as NameRef,
)
from katapi.language.syntax_expressions import (
    Neighbour as Neighbour,
)
from katapi.language.syntax_expressions import (
    Node as Node,
)
from katapi.language.syntax_expressions import (
    Not as Not,
)
from katapi.language.syntax_expressions import (
    ObjectLiteral as ObjectLiteral,
)
from katapi.language.syntax_expressions import (
    Operator as Operator,
)
from katapi.language.syntax_expressions import (
    Or as Or,
)
from katapi.language.syntax_expressions import (
    Quantifier as Quantifier,
)
from katapi.language.syntax_expressions import (
    Query as Query,
)
from katapi.language.syntax_expressions import (
    Side as Side,
)
from katapi.language.syntax_expressions import (
    TextLiteral as TextLiteral,
)
from katapi.language.syntax_expressions import (
    View as View,
)
from katapi.language.syntax_expressions import (
    Within as Within,
)
from katapi.language.syntax_formulas import (
    Formula as Formula,
)
from katapi.language.syntax_images import (
    Image as Image,
)
from katapi.language.syntax_settings import (
    Atom as Atom,
)
from katapi.language.syntax_settings import (
    ControlName as ControlName,
)
from katapi.language.syntax_settings import (
    Header as Header,
)
from katapi.language.syntax_settings import (
    Number as Number,
)
from katapi.language.syntax_settings import (
    Part as Part,
)
from katapi.language.syntax_settings import (
    Quoted as Quoted,
)
from katapi.language.syntax_settings import (
    Regex as Regex,
)
from katapi.language.syntax_settings import (
    Setting as Setting,
)
from katapi.language.syntax_types import (
    CarriedImage as CarriedImage,
)
from katapi.language.syntax_types import (
    Choice as Choice,
)
from katapi.language.syntax_types import (
    FromParts as FromParts,
)
from katapi.language.syntax_types import (
    FromText as FromText,
)
from katapi.language.syntax_types import (
    ListOf as ListOf,
)
from katapi.language.syntax_types import (
    MediaKind as MediaKind,
)
from katapi.language.syntax_types import (
    NamedType as NamedType,
)
from katapi.language.syntax_types import (
    OptionalOf as OptionalOf,
)
from katapi.language.syntax_types import (
    TypeRef as TypeRef,
)
from katapi.language.syntax_types import (
    UnionOf as UnionOf,
)

# ---- declarations ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Use(Node):
    """`use "../tokenizers/qwen2.kata"`: another file, whose declarations count here too, by its path seen from here."""

    path: str


@dataclass(frozen=True, slots=True)
class File(Node):
    """All declarations; `unread` are the words of what could not be read outside of templates.

    Where that may have given any `name`, no use of a name can be called wrong. `shared` are the records and `def`s
    outside of a request or template: the file's own, and those of the files that it uses. `variant` is the model for
    which the options are decided, where a file has several.
    """

    uses: tuple[Use, ...]
    options: tuple[Option, ...]
    models: tuple[Model, ...]
    declarations: tuple[Declaration, ...]
    shared: tuple[Shared, ...]
    unread: frozenset[str] = frozenset()
    nameless: bool = False
    variant: str | None = None


@dataclass(frozen=True, slots=True)
class Option(Node):
    """`option thinking: "never" | "asked"`: in what the models of a file differ."""

    name: Name
    type: TypeRef
    default: Expr | None


@dataclass(frozen=True, slots=True)
class OptionValue(Node):
    """`thinking: "asked"` in a `model`."""

    name: Name
    value: Expr


@dataclass(frozen=True, slots=True)
class Model(Node):
    """`model "qwen3-vl" { … }`: one of several models of a file, with the value of each option."""

    name: str
    uses: tuple[Use, ...]
    values: tuple[OptionValue, ...]


@dataclass(frozen=True, slots=True)
class ControlRow(Node):
    """`151644 @im_start "<|im_start|>" rstrip`: an id, the template's name for it, its spelling, and its flags."""

    id: int
    name: str
    spelling: str
    flags: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class AddedRow(Node):
    """`107 "▁▁" normalized`: a token that was added to the model's own and is text, and its flags."""

    id: int
    text: str
    flags: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class TokenRange(Node):
    """`11 to 255 "<|reserved_{3}|>"`: tokens in a row, their spellings counted up from the number in braces."""

    first: int
    last: int
    pattern: str
    flags: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class TextRow(Node):
    """`8 "天空"`: an ordinary token of a vocabulary that is written out in the spec."""

    id: int
    text: str


@dataclass(frozen=True, slots=True)
class ControlTable(Node):
    """`control { … }`."""

    rows: tuple[ControlRow | TokenRange, ...]


@dataclass(frozen=True, slots=True)
class AddedTable(Node):
    """`added { … }`."""

    rows: tuple[AddedRow | TokenRange, ...]


@dataclass(frozen=True, slots=True)
class TextTable(Node):
    """`text { … }`."""

    rows: tuple[TextRow, ...]


@dataclass(frozen=True, slots=True)
class UnknownRow(Node):
    """`unknown 13 "<unk>"`: what stands for text that no token spells."""

    id: int
    spelling: str


@dataclass(frozen=True, slots=True)
class UnknownControl(Node):
    """`unknown @unk`: a control token stands for text that no token spells."""

    name: Name


@dataclass(frozen=True, slots=True)
class UnusedIds(Node):
    """`unused 5 to 7`: ids that no token has."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class SizeRow(Node):
    """`size 151936`: how many rows the model's embedding has."""

    size: int


@dataclass(frozen=True, slots=True)
class ArtifactRef(Node):
    """`artifact "qwen/qwen.tiktoken" sha256 "…"`: a row of `artifacts.lock`, and the digest that the file must have.

    With `bare` behind it, the added tokens that the file lists are not those of this vocabulary.
    """

    name: str
    sha256: str | None
    bare: bool = False


VocabularyItem: TypeAlias = (
    ArtifactRef | SizeRow | ControlTable | AddedTable | TextTable | UnknownRow | UnknownControl | UnusedIds
)


@dataclass(frozen=True, slots=True)
class Vocabulary(Node):
    header: Header
    items: tuple[VocabularyItem, ...]


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
    target: Name | None
    settings: tuple[Setting, ...]


# ---- request -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FieldDecl(Node):
    """A field; `also` are other spellings of its name in a request."""

    name: Name
    type: TypeRef
    also: tuple[Name, ...]
    ignored: bool


@dataclass(frozen=True, slots=True)
class RoleDecl(Node):
    """`role user, system { … }`; with `(any)` behind its name it stands for all roles that no other declares."""

    names: tuple[Name, ...]
    open: bool
    fields: tuple[FieldDecl, ...]
    choices: tuple[EntryIf, ...]


@dataclass(frozen=True, slots=True)
class RecordDecl(Node):
    name: Name
    fields: tuple[FieldDecl, ...]
    choices: tuple[EntryIf, ...]


@dataclass(frozen=True, slots=True)
class ToolsDecl(Node):
    type: TypeRef


@dataclass(frozen=True, slots=True)
class DocumentsDecl(Node):
    type: TypeRef


@dataclass(frozen=True, slots=True)
class ParamDecl(Node):
    """A parameter; `also` are other spellings of its name in a request."""

    name: Name
    type: TypeRef
    also: tuple[Name, ...]
    default: Expr | None


@dataclass(frozen=True, slots=True)
class Request(Node):
    header: Header
    settings: tuple[Setting, ...]
    roles: tuple[RoleDecl, ...]
    records: tuple[RecordDecl, ...]
    tools: tuple[ToolsDecl, ...]
    documents: tuple[DocumentsDecl, ...]
    params: tuple[ParamDecl, ...]
    choices: tuple[EntryIf, ...]


@dataclass(frozen=True, slots=True)
class Entries(Node):
    """`{ … }` behind an `if` of a request, a role or a record."""

    entries: tuple[RequestEntry, ...]


@dataclass(frozen=True, slots=True)
class EntryIf(Node):
    """`if thinking == "asked" { … }` in a request, a role or a record: entries that not every model has."""

    test: Expr
    then: Entries
    otherwise: Entries | EntryIf | None


RequestEntry: TypeAlias = Setting | RoleDecl | RecordDecl | ToolsDecl | DocumentsDecl | ParamDecl | FieldDecl | EntryIf


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


#: What a file can declare for the requests and templates of others.
Shared: TypeAlias = RecordDecl | Def | Formula


@dataclass(frozen=True, slots=True)
class Generate(Node):
    condition: Expr | None
    body: Block


@dataclass(frozen=True, slots=True)
class NoPrefix(Node):
    """`generate none`: a reply needs no prefix."""


@dataclass(frozen=True, slots=True)
class Parse(Node):
    """`parse m { … }`: what the model writes, where that is not what the template prints."""

    name: Name
    condition: Expr | None
    body: Block


@dataclass(frozen=True, slots=True)
class Counter(Node):
    """`counter calls`: a number that goes up while the template prints."""

    name: Name


class AnswerKind(Enum):
    """What becomes of a content that spells a boundary."""

    ACCEPT = "accept"
    REJECT = "reject"
    ESCAPE = "escape"


@dataclass(frozen=True, slots=True)
class Answer(Node):
    """`accept`, `reject` or `escape with "…"`."""

    kind: AnswerKind
    escape: str | None


@dataclass(frozen=True, slots=True)
class Boundary(Node):
    """`boundary "[INST]", "[/INST]": reject`: texts that part messages, and what becomes of contents that hold them."""

    texts: tuple[TextLiteral, ...]
    answer: Answer


@dataclass(frozen=True, slots=True)
class Template(Node):
    header: Header
    target: Name
    parts: tuple[TemplatePart, ...]


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
class LetText(Node):
    """`let x = text { … }`: what the block prints is kept as a text."""

    name: Name
    body: Block


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
class Joined(Node):
    """`joined ", " { … }`: a text between those items of the block that print something."""

    separator: str
    body: Block


@dataclass(frozen=True, slots=True)
class ImageOf(Node):
    """`image p by qwen3_vl { … }`: the image or video of a part; the block is for one whose bytes are not at hand."""

    kind: MediaKind
    value: Expr
    pipeline: Name | None
    body: Block


@dataclass(frozen=True, slots=True)
class Drop(Node):
    value: Expr


@dataclass(frozen=True, slots=True)
class CounterFrom(Node):
    """`counter number = first`: a counter of a block, which begins with a value."""

    name: Name
    value: Expr


@dataclass(frozen=True, slots=True)
class Advance(Node):
    """`advance calls`: the counter goes up by one."""

    name: Name


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


Item: TypeAlias = (
    Put
    | BlockText
    | Block
    | Let
    | LetText
    | If
    | Each
    | Walk
    | Match
    | Take
    | Sampled
    | Joined
    | ImageOf
    | Drop
    | CounterFrom
    | Advance
    | Reject
)

TemplatePart: TypeAlias = Def | Generate | NoPrefix | Parse | Counter | Boundary | Item
Declaration: TypeAlias = Vocabulary | Tokenizer | Serialization | Budget | Request | Template | Image
