"""Items of a template → statements."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from katapi.language import syntax as s
from katapi.language.nodes import nodes, words
from katapi.language.source import Span
from katapi.language.syntax_types import MediaKind
from katapi.model import template as t
from katapi.model.flow import always_rejects
from katapi.model.request import CARRIED
from katapi.model.resolve.expressions import Expressions
from katapi.model.resolve.findings import Findings, Unresolved, nearest
from katapi.model.resolve.scope import Scope, facts, path_of
from katapi.model.types import (
    CONTENT,
    KIND_WORDS,
    ControlType,
    DateType,
    IntType,
    JsonKind,
    JsonType,
    ListType,
    MessageType,
    OptionalType,
    ParsedType,
    RecordType,
    TaggedType,
    TextType,
    Type,
    UnionType,
    assignable,
    describe,
    holds_verbatim,
    json_kinds,
    kinds_told_apart,
    of_kinds,
    of_tag,
    optional,
    present,
    records_in,
)


class Statements:
    """Resolves blocks; knows the signatures of all defs, so that they may call each other in any order."""

    def __init__(self, findings: Findings, expressions: Expressions, definitions: dict[str, tuple[Type, ...]]) -> None:
        self._findings = findings
        self._expressions = expressions
        self._definitions = definitions
        self._taken_from = False

    def block(self, node: s.Block, scope: Scope) -> t.Block:
        """A block; its names end with it."""
        if isinstance(node, s.Broken):
            return t.Block((self._unsure(node, scope),), span=node.span)
        statements, _ = self.items(node.items, scope, top=False)
        return t.Block(statements, span=node.span)

    def items(self, nodes: tuple[s.Item, ...], scope: Scope, *, top: bool) -> tuple[tuple[t.Statement, ...], Scope]:
        """Statements in order, and the scope after the last of them."""
        out: list[t.Statement] = []
        for node in nodes:
            if isinstance(node, (s.Take, s.Walk)) and not top:
                self._findings.add(
                    "K305", node.span, f"`{_word(node)}` over messages stands only at the top level of a template"
                )
                out.append(self._unsure(node, scope))
                scope = _without(scope, node)
                continue
            try:
                made, scope = self._item(node, scope)
                out.extend(made)
            except Unresolved:
                out.append(self._unsure(node, scope))
                scope = _without(scope, node)
        return tuple(out), scope

    def _parts(self, node: s.Block, scope: Scope) -> t.Block:
        """A block with a statement for each item: what one item prints belongs together."""
        out: list[t.Statement] = []
        for item in node.items:
            made, scope = self.items((item,), scope, top=False)
            out.extend(made if len(made) == 1 else [t.Block(made, span=item.span)])
        return t.Block(tuple(out), span=node.span)

    def _block_text(self, parts: tuple[s.Expr, ...], scope: Scope) -> tuple[tuple[t.Statement, ...], Scope]:
        """What the parts of a block text print; a mistake in one hides nothing in the others."""
        out: list[t.Statement] = []
        for part in parts:
            try:
                out.append(self._print(part, scope))
            except Unresolved:
                put = s.Put(part, span=part.span)
                out.append(self._unsure(put, scope))
                scope = _without(scope, put)
        return tuple(out), scope

    def _unsure(self, node: s.Item | s.Arm, scope: Scope) -> t.Unsure:
        """What stands for an item with a mistake in its head; in its blocks only what is certain is noted."""
        found = words(node)
        inner = _without(scope, node)
        with self._findings.unsure():
            for block in _blocks(node):
                self.items(block.items, inner, top=isinstance(node, s.Broken))
        return t.Unsure((), found, span=node.span)

    def _item(self, node: s.Item, scope: Scope) -> tuple[tuple[t.Statement, ...], Scope]:
        match node:
            case s.Put(value=s.Call() as call):
                return (self._call(call, scope),), scope
            case s.Put(value=value):
                return (self._print(value, scope),), scope
            case s.BlockText(parts=parts):
                return self._block_text(parts, scope)
            case s.Broken():
                return (self._unsure(node, scope),), _without(scope, node)
            case s.Block():
                return (self.block(node, scope),), scope
            case s.Let():
                return self._let(node, scope)
            case s.LetText():
                return self._capture(node, scope)
            case s.If():
                return self._if(node, scope)
            case s.Each():
                return (self._each(node, scope),), scope
            case s.Walk():
                return self._walk(node, scope), scope
            case s.Match():
                return self._match(node, scope), scope
            case s.Take():
                return self._take(node, scope)
            case s.Sampled(body=body):
                return (t.Sampled(self.block(body, scope), span=_keyword(node, "sampled")),), scope
            case s.Joined(separator=separator):
                return (t.Joined(separator, self._parts(node.body, scope), span=_keyword(node, "joined")),), scope
            case s.ImageOf():
                return (self._image(node, scope),), scope
            case s.Drop(value=s.FieldRef(base=base, name=s.Name(text=("image" | "video") as word))):
                carried = self._carried(self._expressions.resolve(base, scope), MediaKind(word))
                dropped = self._expressions.resolve(node.value, scope) if carried is None else carried
                return (t.Drop(dropped, span=node.span),), scope
            case s.Drop(value=value):
                return (t.Drop(self._expressions.resolve(value, scope), span=node.span),), scope
            case s.CounterFrom():
                return self._begin(node, scope)
            case s.Advance(name=name):
                return (self._advance(name, node.span, scope),), scope
            case s.Reject(message=message):
                return (t.Reject(message, span=node.span),), scope

    def _print(self, node: s.Expr, scope: Scope) -> t.Print:
        value = self._expressions.resolve(node, scope)
        value = self._expressions.there(value, "what is printed must be there")
        if not isinstance(value.type, (ControlType, TextType, IntType)):
            help = "write it through a serialization: `x as json`" if json_kinds(value.type) else "print a field of it"
            if isinstance(value.type, DateType):
                help = 'say how: `x.format("%Y-%m-%d")`'
            raise self._findings.fail("K204", node.span, f"{describe(value.type)} cannot be printed", help=help)
        return t.Print(value, span=node.span)

    def _call(self, node: s.Call, scope: Scope) -> t.CallDef:
        name = node.name.text
        if name not in self._definitions and name in self._findings.untyped:
            raise Unresolved
        if name not in self._definitions:
            raise self._findings.fail(
                "K115", node.name.span, f"there is no `def {name}`", help=nearest(name, self._definitions)
            )
        if name in self._findings.untyped:
            raise Unresolved
        wanted = self._definitions[name]
        if len(wanted) != len(node.arguments):
            raise self._findings.fail(
                "K114",
                node.span,
                f"`{name}` takes {len(wanted)} value{'' if len(wanted) == 1 else 's'}, not {len(node.arguments)}",
            )
        arguments: list[t.Expr] = []
        for argument, target in zip(node.arguments, wanted, strict=True):
            value = self._expressions.resolve(argument, scope)
            if not isinstance(target, (OptionalType, JsonType)):
                value = self._expressions.there(value, f"`{name}` takes {describe(target)}")
            if not assignable(value.type, target):
                self._mismatch(value, target, argument.span)
            if isinstance(present(target), UnionType) and not _stands_in_request(value):
                raise self._findings.fail(
                    "K201", argument.span, f"what is passed as {describe(target)} stands as it is in the request"
                )
            if isinstance(present(value.type), ListType) and holds_verbatim(value.type) and not holds_verbatim(target):
                raise self._findings.fail(
                    "K201",
                    argument.span,
                    f"objects that are written as they came are not passed as {describe(target)}",
                    help=f"give the parameter the type `{describe(value.type)}`, or pass each by itself",
                )
            if isinstance(present(target), JsonType) and _is_made_text(value):
                raise self._findings.fail(
                    "K201",
                    argument.span,
                    f"a text that is made of another is passed as text, not as {describe(target)}",
                    help="give the parameter the type `text`",
                )
            arguments.append(value)
        return t.CallDef(name, tuple(arguments), span=node.span)

    def _mismatch(self, value: t.Expr, target: Type, span: Span) -> None:
        if isinstance(target, ControlType):
            raise self._findings.fail(
                "K202",
                span,
                "text where a control token is needed",
                label=f"{describe(value.type)}, not Control",
                help="a control token is written in the template as `@name`; no text can become one",
            )
        if isinstance(value.type, ControlType):
            raise self._findings.fail("K202", span, f"a control token where {describe(target)} is needed")
        raise self._findings.fail("K201", span, f"this is {describe(value.type)}, and {describe(target)} is needed")

    def _let(self, node: s.Let, scope: Scope) -> tuple[tuple[t.Statement, ...], Scope]:
        value = self._expressions.resolve(node.value, scope)
        if isinstance(value.type, ControlType):
            raise self._findings.fail("K202", node.value.span, "a control token is printed, not kept in a name")
        self._expressions.fresh(node.name, scope)
        variable = self._expressions.variable(node.name.text, t.Binding.LET, value.type, node.name.span)
        return (t.Let(variable, value, span=node.span),), scope.bind(variable.name, variable)

    def _capture(self, node: s.LetText, scope: Scope) -> tuple[tuple[t.Statement, ...], Scope]:
        self._expressions.fresh(node.name, scope)
        body = self.block(node.body, scope)
        variable = self._expressions.variable(node.name.text, t.Binding.LET, CONTENT, node.name.span)
        return (t.Capture(variable, body, span=_head(node, node.name)),), scope.bind(variable.name, variable)

    def _image(self, node: s.ImageOf, scope: Scope) -> t.ImageOf:
        what = {MediaKind.IMAGE: "an image", MediaKind.VIDEO: "a video", MediaKind.AUDIO: "a recording"}[node.kind]
        value = self._expressions.there(self._expressions.resolve(node.value, scope), f"{what} is that of a part")
        image = self._carried(value, node.kind)
        if image is None:
            raise self._findings.fail(
                "K201",
                node.value.span,
                f"this is {describe(value.type)}, and a part that carries {what} is needed",
                help=f"write the line `{node.kind.value}` into its record",
            )
        pipeline = None if node.pipeline is None else node.pipeline.text
        return t.ImageOf(
            node.kind, image, pipeline, self.block(node.body, scope), span=_head(node, node.pipeline or node.value)
        )

    def _carried(self, value: t.Expr, kind: MediaKind) -> t.FieldOf | None:
        """The image or video of a part, where each record that it may be of carries one."""
        names = records_in(value.type) if isinstance(value.type, RecordType | TaggedType) else ()
        records = [self._expressions.record(name) for name in names]
        if not records or any(record.carries is not kind for record in records):
            return None
        return t.FieldOf(value, CARRIED[kind], type=CARRIED[kind].type, span=value.span)

    def _begin(self, node: s.CounterFrom, scope: Scope) -> tuple[tuple[t.Statement, ...], Scope]:
        value = self._expressions.there(self._expressions.resolve(node.value, scope), "a counter begins with a number")
        if not isinstance(value.type, IntType):
            message = f"a counter begins with a whole number, and this is {describe(value.type)}"
            raise self._findings.fail("K201", node.value.span, message)
        self._expressions.fresh(node.name, scope)
        variable = self._expressions.variable(node.name.text, t.Binding.COUNTER, value.type, node.name.span)
        return (t.Begin(variable, value, span=node.span),), scope.bind(variable.name, variable)

    def _advance(self, name: s.Name, span: Span, scope: Scope) -> t.Advance:
        value = self._expressions.resolve(s.NameRef(name.text, span=name.span), scope)
        if not isinstance(value, t.Var) or value.variable.binding is not t.Binding.COUNTER:
            raise self._findings.fail(
                "K201",
                name.span,
                f"`advance` takes a counter, and `{name.text}` is {describe(value.type)}",
                help="a counter is declared in the template: `counter calls`",
            )
        return t.Advance(value.variable, span=span)

    def _if(self, node: s.If, scope: Scope) -> tuple[tuple[t.Statement, ...], Scope]:
        test: t.Expr | None = None
        with suppress(Unresolved):
            test = self._expressions.condition(node.test, scope)
        if test is None:
            return (self._unsure(node, scope),), _without(scope, node)
        known, unknown = facts(test, True), facts(test, False)
        then = self.block(node.then, scope.learn(known))
        otherwise: t.Block | None = None
        if isinstance(node.otherwise, s.If):
            inner, _ = self._if(node.otherwise, scope.learn(unknown))
            otherwise = t.Block(inner, span=node.otherwise.span)
        elif node.otherwise is not None:
            otherwise = self.block(node.otherwise, scope.learn(unknown))
        after = scope
        if always_rejects(then):
            after = after.learn(unknown)
        if otherwise is not None and always_rejects(otherwise):
            after = after.learn(known)
        return (t.If(test, then, otherwise, span=_head(node, node.test)),), after

    def _each(self, node: s.Each, scope: Scope) -> t.Statement:
        listed, in_order = self._order(node.source)
        source = self._expressions.there(self._expressions.resolve(listed, scope), "a loop needs a list")
        if isinstance(source, t.Var) and source.variable.binding is t.Binding.MESSAGES:
            return self._walk_all(node, source, scope)
        if in_order and node.value_name is None and not _holds_texts(source.type):
            raise self._findings.fail(
                "K201", node.source.span, f"texts and keys can be sorted, and this is {describe(source.type)}"
            )
        self._expressions.fresh(node.name, scope)
        key: t.Variable | None = None
        if node.value_name is not None:
            if not (source.type == JsonType(KIND_WORDS["object"]) or isinstance(source.type, ParsedType)):
                raise self._findings.fail(
                    "K201", source.span, f"pairs come from an object, and this is {describe(source.type)}"
                )
            key = self._expressions.variable(node.name.text, t.Binding.KEY, CONTENT, node.name.span)
            self._expressions.fresh(node.value_name, scope)
            item = self._expressions.variable(
                node.value_name.text, t.Binding.LOOP, JsonType(frozenset(JsonKind)), node.value_name.span
            )
            scope = scope.bind(key.name, key)
        elif isinstance(source.type, ListType):
            item = self._expressions.variable(node.name.text, t.Binding.LOOP, source.type.item, node.name.span)
        else:
            raise self._findings.fail(
                "K201",
                source.span,
                f"a loop needs a list, and this is {describe(source.type)}",
                help="over an object, write `each key, value in …`"
                if JsonKind.OBJECT in (json_kinds(source.type) or ())
                else "",
            )
        scope = scope.bind(item.name, item)
        condition = None if node.condition is None else self._expressions.condition(node.condition, scope)
        if condition is not None:
            scope = scope.learn(facts(condition, True))
        self._expressions.enter((item,) if key is None else (key, item), filtered=condition is not None)
        body = self.block(node.body, scope)
        return t.Each(key, item, source, in_order, condition, node.join, body, span=_head(node, node.source))

    def _order(self, node: s.Expr) -> tuple[s.Expr, bool]:
        """What a loop goes through, and whether in the order of `sorted()`."""
        if not isinstance(node, s.MethodCall) or node.name.text != "sorted":
            return node, False
        if node.arguments:
            self._findings.add("K114", node.span, "`sorted` takes no value")
        return node.base, True

    def _walk_all(self, node: s.Each, source: t.Expr, scope: Scope) -> t.Statement:
        """`each m in messages { … }`: a walk with one arm for every role."""
        if node.value_name is not None or node.condition is not None or node.join is not None:
            raise self._findings.fail(
                "K306", node.span, "a walk over the messages has neither `where` nor `join`", help="use arms: `when …`"
            )
        raise self._findings.fail(
            "K306",
            _head(node, node.source),
            "a walk over the messages has an arm for each role",
            help="write `when ROLE { … }` inside",
        )

    def _walk(self, node: s.Walk, scope: Scope) -> tuple[t.Statement, ...]:
        source = self._expressions.resolve(node.source, scope)
        if not isinstance(source, t.Var) or source.variable.binding is not t.Binding.MESSAGES:
            raise self._findings.fail("K306", node.source.span, "arms with roles go with `each m in messages`")
        self._expressions.fresh(node.name, scope)
        assert isinstance(source.type, ListType)
        assert isinstance(source.type.item, MessageType)
        variable = self._expressions.variable(node.name.text, t.Binding.WALK, source.type.item, node.name.span)
        arms: list[t.WalkArm] = []
        unsure: list[t.Unsure] = []
        left = source.type.item.roles
        for arm in node.arms:
            try:
                made = self._walk_arm(arm, variable, left, scope)
            except Unresolved:
                unsure.append(self._unsure(arm, scope.bind(node.name.text, None)))
                continue
            arms.append(made)
            if made.condition is None:
                left = tuple(r for r in left if r not in made.roles)
        walk = t.Walk(variable, tuple(arms), bool(unsure), span=_head(node, node.source))
        return (walk, *unsure)

    def _walk_arm(self, node: s.Arm, variable: t.Variable, left: tuple[str, ...], scope: Scope) -> t.WalkArm:
        """One arm; `left` are the roles that no arm before it takes for certain, which is what `other` means."""
        if not node.patterns:
            raise Unresolved
        assert isinstance(variable.type, MessageType)
        roles: list[str] = []
        is_run = False
        for pattern in node.patterns:
            match pattern:
                case s.NamePattern(name=name):
                    roles.append(self._expressions.known_role(name))
                case s.RunPattern(name=name):
                    roles.append(self._expressions.known_role(name))
                    is_run = True
                case s.OtherPattern():
                    if not left and self._findings.untyped:
                        raise Unresolved  # it may be for a role whose declaration could not be read
                    roles.extend(left or variable.type.roles)
                case s.TextPattern():
                    raise self._findings.fail("K306", pattern.span, "a message is told by its role, not by a text")
        if is_run and len(roles) > 1:
            raise self._findings.fail("K306", node.patterns[0].span, "a run has one role")
        if is_run and node.then is not None:
            raise self._findings.fail("K306", node.then.span, "`then` follows a single message, not a run")
        then = None if node.then is None else self._expressions.known_role(node.then)
        fitting = tuple(r for r in variable.type.roles if r in roles)
        if not fitting:
            raise self._findings.fail(
                "K303", node.patterns[0].span, "no message of this role is left to walk", label="taken before"
            )
        own = replace(variable, type=MessageType(fitting))
        run: t.Variable | None = None
        if node.bound is None and (is_run or then is not None):
            span = node.then.span if node.then is not None else node.patterns[0].span
            raise self._findings.fail("K306", span, "this run has no name", help="write `… as results` after it")
        if node.bound is not None and not is_run and then is None:
            raise self._findings.fail(
                "K306", node.bound.span, f"`as` names a run, and a single message is `{variable.name}` here"
            )
        inner = scope.bind(own.name, own)
        if node.bound is not None:
            self._expressions.fresh(node.bound, scope)
            of = ListType(MessageType(fitting if then is None else (then,)))
            run = self._expressions.variable(node.bound.text, t.Binding.RUN, of, node.bound.span)
            inner = inner.bind(run.name, run)
            if is_run:
                inner = Scope({k: v for k, v in inner.names.items() if k != own.name}, inner.known)
        condition = None if node.condition is None else self._expressions.condition(node.condition, inner)
        if condition is not None:
            inner = inner.learn(facts(condition, True))
        body = self.block(node.body, inner)
        return t.WalkArm(fitting, run, is_run, then, condition, own, body, span=_patterns(node))

    def _match(self, node: s.Match, scope: Scope) -> tuple[t.Statement, ...]:
        subject = self._expressions.resolve(node.subject, scope)
        kinds = kinds_told_apart(subject.type)
        if kinds is None:
            raise self._findings.fail("K201", subject.span, f"`match` cannot take {describe(subject.type)} apart")
        if isinstance(present(subject.type), UnionType) and path_of(subject) is None:
            raise self._findings.fail("K201", subject.span, "a value of several types has a name", help="use `let`")
        left = kinds
        seen: set[str] = set()
        arms: list[t.MatchArm] = []
        unsure: list[t.Unsure] = []
        for arm in node.arms:
            try:
                made = self._match_arm(arm, subject, kinds, left, seen, scope)
            except Unresolved:
                unsure.append(self._unsure(arm, scope))
                continue
            arms.append(made)
            if made.condition is None and not made.texts:
                left = left - made.kinds
            if made.condition is None:
                seen.update(made.texts)
        match = t.Match(subject, tuple(arms), bool(unsure), span=_head(node, node.subject))
        return (match, *unsure)

    def _match_arm(
        self,
        node: s.Arm,
        subject: t.Expr,
        kinds: frozenset[JsonKind],
        left: frozenset[JsonKind],
        seen: set[str],
        scope: Scope,
    ) -> t.MatchArm:
        """One arm; `left` are the kinds and `seen` the texts that the arms before it take for certain."""
        if not node.patterns:
            raise Unresolved
        if node.then is not None or node.bound is not None:
            raise self._findings.fail("K306", node.span, "`then` and `as` belong to a walk over messages")
        own: frozenset[JsonKind] = frozenset()
        texts: list[str] = []
        other = False
        choices = subject.type.choices if isinstance(subject.type, TextType) else None
        for pattern in node.patterns:
            match pattern:
                case s.NamePattern(name=name):
                    if name.text not in KIND_WORDS:
                        raise self._findings.fail(
                            "K106", name.span, f"`{name.text}` is no kind of JSON", help=nearest(name.text, KIND_WORDS)
                        )
                    own = own | KIND_WORDS[name.text]
                    if not own & kinds:
                        raise self._findings.fail(
                            "K303", name.span, f"the value is never {name.text}: it is {describe(subject.type)}"
                        )
                case s.TextPattern(text=text):
                    if choices is not None and text not in choices:
                        raise self._findings.fail(
                            "K207", pattern.span, "the value is never this text", help=nearest(text, choices)
                        )
                    if JsonKind.TEXT not in kinds:
                        raise self._findings.fail("K303", pattern.span, "the value is never a text")
                    texts.append(text)
                case s.OtherPattern():
                    other = True
                    own = own | left
                case s.RunPattern():
                    raise self._findings.fail("K306", pattern.span, "runs belong to a walk over messages")
        narrowed = own | (KIND_WORDS["text"] if texts else frozenset())
        path = path_of(subject)
        inner = scope
        if path is not None and narrowed & kinds:
            if not isinstance(present(subject.type), TextType):
                inner = scope.learn({path: of_kinds(subject.type, narrowed & kinds)})
            else:
                inner = scope.learn({path: _of_arm(subject.type, narrowed, None if own else texts, seen)})
        if isinstance(subject, t.FieldOf) and isinstance(subject.base.type, TaggedType):
            values = set(subject.base.type.values) - seen if own else set(texts)
            record = path_of(subject.base)
            if record is not None and values:
                inner = inner.learn({record: of_tag(subject.base.type, values)})
        condition = None if node.condition is None else self._expressions.condition(node.condition, inner)
        if condition is not None:
            inner = inner.learn(facts(condition, True))
        body = self.block(node.body, inner)
        return t.MatchArm(own & kinds, tuple(texts), other, condition, body, span=_patterns(node))

    def _take(self, node: s.Take, scope: Scope) -> tuple[tuple[t.Statement, ...], Scope]:
        roles = tuple(self._expressions.known_role(r) for r in node.roles)
        messages = scope.names.get("messages")
        if messages is None:
            raise Unresolved
        assert isinstance(messages.type, ListType)
        assert isinstance(messages.type.item, MessageType)
        self._expressions.fresh(node.bound, scope)
        takes_all = node.how is s.TakeHow.ALL
        of: Type = ListType(MessageType(roles)) if takes_all else OptionalType(MessageType(roles))
        otherwise = None if node.otherwise is None else self.block(node.otherwise, scope)
        variable = self._expressions.variable(node.bound.text, t.Binding.TAKE, of, node.bound.span)
        after = scope.bind(variable.name, variable)
        if takes_all:
            left = tuple(r for r in messages.type.item.roles if r not in roles)
            after = after.bind("messages", replace(messages, type=ListType(MessageType(left))))
        elif otherwise is not None and always_rejects(otherwise):
            after = after.learn({(variable.number,): present(of)})
        return (t.Take(takes_all, roles, variable, otherwise, span=_head(node, node.bound)),), after


def _without(scope: Scope, node: s.Item | s.Arm) -> Scope:
    """The scope in which nothing is known of the names that an item or arm with a mistake gives."""
    match node:
        case s.Broken(words=found, items=items):
            rejects = any(isinstance(one, s.Reject) for one in nodes(items))
            names = found if rejects else found - scope.names.keys()
        case s.If(test=test):
            # Behind a block that rejects more is known than this compiler can tell.
            rejects = any(isinstance(one, s.Reject) for one in nodes(node))
            names = words(test) if rejects else frozenset()
        case s.Let(name=name) | s.LetText(name=name) | s.CounterFrom(name=name) | s.Take(bound=name):
            names = frozenset({name.text})
        case s.Each(name=name, value_name=value_name):
            names = frozenset({name.text} if value_name is None else {name.text, value_name.text})
        case s.Walk(name=name):
            names = frozenset({name.text})
        case s.Arm(bound=bound):
            names = frozenset() if bound is None else frozenset({bound.text})
        case _:
            return scope
    for text in names:
        scope = scope.bind(text, None)
    return scope


def _of_arm(of: Type, kinds: frozenset[JsonKind], texts: list[str] | None, before: set[str]) -> Type:
    """The type of a text in an arm for these kinds, or for `texts`, behind arms for the texts `before`."""
    inner = present(of)
    if isinstance(inner, TextType) and inner.choices is not None:
        left = tuple(c for c in inner.choices if (c not in before if texts is None else c in texts))
        inner = replace(inner, choices=left or inner.choices)
    return optional(inner) if isinstance(of, OptionalType) and JsonKind.NULL in kinds else inner


def _stands_in_request(value: t.Expr) -> bool:
    """Whether a value is one of the request as it is: a field, an item or a parameter, and not a text made of it."""
    match value:
        case t.FieldOf(field=declared):
            return isinstance(present(declared.type), UnionType | ListType) or present(declared.type) == CONTENT
        case t.Var(variable=variable):
            made = variable.binding in (t.Binding.LET, t.Binding.DEF_PARAMETER, t.Binding.KEY)
            of = present(variable.type)
            return isinstance(of, UnionType | ListType) or (of == CONTENT and not made)
        case _:
            return False


def _is_made_text(value: t.Expr) -> bool:
    """Whether a value is a text that does not stand as it is in the request, nor in the template."""
    if not isinstance(present(value.type), TextType):
        return False
    match value:
        case t.Cut() | t.Rewrite() | t.Serialize() | t.FormatDate() | t.Conditional() | t.Coalesce():
            return True
        case t.Var(variable=variable):
            return variable.binding is t.Binding.LET and isinstance(present(variable.type), TextType)
        case _:
            return False


def _holds_texts(of: Type) -> bool:
    return isinstance(of, ListType) and isinstance(of.item, TextType)


def _blocks(node: s.Item | s.Arm) -> tuple[s.Block, ...]:
    """The blocks directly inside an item or arm; an `else if` counts as one."""
    match node:
        case s.Broken(items=items):
            return tuple(item for item in items if isinstance(item, s.Block)) + tuple(
                s.Block((item,), span=item.span) for item in items if not isinstance(item, s.Block)
            )
        case s.Block():
            return (node,)
        case s.Each(body=body) | s.Sampled(body=body) | s.Joined(body=body) | s.LetText(body=body) | s.Arm(body=body):
            return (body,)
        case s.ImageOf(body=body):
            return (body,)
        case s.If(then=then, otherwise=otherwise):
            last = s.Block((otherwise,), span=otherwise.span) if isinstance(otherwise, s.If) else otherwise
            return (then,) if last is None else (then, last)
        case s.Walk(arms=arms) | s.Match(arms=arms):
            return tuple(arm.body for arm in arms)
        case s.Take(otherwise=otherwise):
            return () if otherwise is None else (otherwise,)
        case _:
            return ()


def _head(node: s.Node, last: s.Node) -> Span:
    """Where a statement with a block begins, up to the last thing before its block that names it."""
    return node.span.to(last.span)


def _keyword(node: s.Node, word: str) -> Span:
    return Span(node.span.start, node.span.start + len(word))


def _patterns(node: s.Arm) -> Span:
    return node.patterns[0].span.to(node.patterns[-1].span)


def _word(node: s.Item) -> str:
    return "take" if isinstance(node, s.Take) else "each"
