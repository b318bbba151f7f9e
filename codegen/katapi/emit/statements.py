"""Statements of a template → Python statements."""

from __future__ import annotations

import re
from dataclasses import replace

from katapi.check.traverse import statements
from katapi.emit.code import AND, ATOM, COMPARE, NOT, OR, Code, ternary
from katapi.emit.expressions import Expressions
from katapi.emit.held import Held
from katapi.emit.lets import Lets
from katapi.emit.lifts import Lift
from katapi.emit.module import ControlPiece, LiteralPiece, MarkPiece, Piece, RolePiece, site_source
from katapi.emit.python import call, string, tuple_of
from katapi.emit.views import asks_the_same, steady_queries
from katapi.language.source import Span
from katapi.language.syntax import End, Operator, Quantifier
from katapi.model import template as t
from katapi.model.flow import always_rejects, rejects
from katapi.model.types import LITERAL, BoolType, JsonKind, MessageType, TaggedType, TextType, kinds_told_apart, present


class Statements(Lets):
    """Emits the statements of one function.

    What is printed is held back until something else comes, so that what always stands together goes out together.
    """

    def __init__(self, expressions: Expressions) -> None:
        super().__init__(expressions)
        self._held = Held(expressions.module)
        self._out = "out"

    def block(self, block: t.Block) -> None:
        """The statements of a block, one level deeper."""
        self.lines.indent()
        before = len(self.lines)
        self.body(block)
        if len(self.lines) == before:
            self.lines.add("pass")
        self.lines.dedent()

    def body(self, block: t.Block) -> None:
        """The statements of a block that ends here."""
        self._statements(block.statements)
        self._flush()

    def _statements(self, statements: tuple[t.Statement, ...]) -> None:
        for statement in statements:
            self._statement(statement)
            if rejects(statement):
                return

    def _head(self, word: str, test: str, comment: str) -> None:
        """The head of a branch with its comment, which goes into the branch where the line is full."""
        if len(word) + len(test) + len(comment) + 5 <= self.lines.room():
            self.lines.add(f"{word}{test}:  # {comment}")
        else:
            self.lines.statement(word, test, ":")
            self.lines.add(f"    # {comment}")

    def _flush(self) -> None:
        """Emits what was held back."""
        items = self._held.take()
        if len(items) == 1:
            self.lines.statement("", call(f"{self._out}.append", items))
        elif items:
            self.lines.items(f"{self._out} += ", items)

    def _print(self, value: t.Expr) -> None:
        value, lifts = self._lifting.out_of(value)
        if lifts:
            self._flush()
            self._lift(lifts)
        piece = self._e.piece(value)
        if piece is None:
            self._held.code(self._e.printed(value).text)
        elif isinstance(piece, RolePiece):
            self._held.role(piece, self._e.value(value).text)
        else:
            self._held.piece(piece)

    def _mark(self, name: str, span: Span) -> None:
        self._e.module.printed(name)
        self._held.piece(MarkPiece(name, self._e.module.site(span)))

    def _statement(self, statement: t.Statement) -> None:
        match statement:
            case t.Block(statements=inner):
                self._statements(inner)
            case t.Print(value=value):
                self._print(value)
            case t.Sampled(body=body, span=span):
                self._mark("SAMPLED", span)
                self._statements(body.statements)
                if not rejects(statement):
                    self._mark("END_SAMPLED", span)
            case t.ImageOf():
                self._image(statement)
            case t.Drop():
                pass
            case _:
                self._flush()
                self._emit(statement)

    def _image(self, image: t.ImageOf) -> None:
        """Prints the placeholder of an image, or its block where there is none."""
        base, lifts = self._lifting.out_of(image.value.base)
        if lifts:
            self._flush()
            self._lift(lifts)
        module = self._e.module
        module.segment("Site")
        part = self._e.value(base).within(ATOM)
        placeholder = f"{part}.placeholder.at({site_source(module.site(image.span))})"
        pieces = self._fixed(image.body)
        if pieces:
            self._held.code(f"{module.fixed(pieces)} if {part}.placeholder is None else {placeholder}")
            return
        self._flush()
        if not any(map(_may_print, image.body.statements)):
            self.lines.statement("if ", f"{part}.placeholder is not None", ":")
        else:
            self.lines.statement("if ", f"{part}.placeholder is None", ":")
            self.block(image.body)
            self.lines.add("else:")
        self.lines.indent()
        self.lines.statement("", call(f"{self._out}.append", [placeholder]))
        self.lines.dedent()

    def _fixed(self, block: t.Block) -> tuple[Piece, ...]:
        """What a block prints, where that is always the same."""
        pieces: list[Piece] = []
        for statement in block.statements:
            piece = self._e.piece(statement.value) if isinstance(statement, t.Print) else None
            if not isinstance(piece, ControlPiece | LiteralPiece):
                return ()
            pieces.append(piece)
        return tuple(pieces)

    def _emit(
        self,
        statement: t.CallDef
        | t.Let
        | t.Capture
        | t.If
        | t.Each
        | t.Walk
        | t.Match
        | t.Take
        | t.Joined
        | t.Begin
        | t.Advance
        | t.Reject,
    ) -> None:
        match statement:
            case t.CallDef():
                self._call(statement)
            case t.Let():
                self._let(statement)
            case t.Capture():
                self._capture(statement)
            case t.If():
                test, lifts = self._lifting.out_of(statement.test)
                self._lift(lifts)
                self._if(statement, test, "if ")
            case t.Each():
                self._each(statement)
            case t.Walk():
                self._walk(statement)
            case t.Match():
                self._match(statement)
            case t.Take():
                self._take(statement)
            case t.Joined():
                self._joined(statement)
            case t.Begin(variable=counter, value=value):
                code = self._e.value(value)
                self.lines.statement(f"{self._e.declare(counter)} = ", code.text)
            case t.Advance(variable=counter):
                self.lines.add(f"{self._e.name(counter)} += 1")
            case t.Reject(message=message):
                self._raise(message, "T100", statement.span)

    def _raise(self, message: str, code: str, span: Span) -> None:
        self._e.module.use("katapi.runtime.errors", "TemplateError")
        where = string(self._e.module.cite(span))
        self.lines.statement("raise ", call("TemplateError", [string(message), f'code="{code}"', f"where={where}"]))

    def _call(self, statement: t.CallDef) -> None:
        arguments = [self._out]
        for value, of in zip(statement.arguments, self._e.module.signatures[statement.name], strict=True):
            argument, lifts = self._lifting.out_of(value)
            self._lift(lifts)
            arguments.extend(self._e.argument(argument, of))
        counters = self._e.module.counters[statement.name]
        arguments.extend(self._e.name(counter) for counter in counters.needed)
        advanced = ", ".join(self._e.name(counter) for counter in counters.advanced)
        self.lines.statement(f"{advanced} = " if advanced else "", call(f"_{statement.name}", arguments))

    def _capture(self, capture: t.Capture) -> None:
        """What a block prints goes into a list of its own, of which one text is made."""
        module = self._e.module
        inner = tuple(statements(capture.body))
        unread = capture.variable.number in self._e.unread
        if unread and not any(isinstance(s, t.CallDef | t.Advance | t.Reject) for s in inner):
            return
        name = self._e.declare_captured(capture.variable)
        outer, self._out = self._out, f"{name}_printed"
        if not unread or any(isinstance(s, t.Print | t.CallDef) for s in inner):
            self.lines.add(f"{self._out}: list[{module.printed('Printed')}] = []")
        self.body(capture.body)
        if not (unread or rejects(capture)):
            self.lines.add(f"{name} = {module.printed('kept')}({self._out})")
        self._out = outer

    def _answer(self, query: t.Query) -> None:
        """A pass over the messages that answers a query for each of them."""
        e = self._e
        assert isinstance(query.source, t.View)
        side = query.source.side.value
        item = e.declare(query.variable)
        test = e.condition(query.condition)
        function = f"{query.quantifier.value}_{side}"
        e.module.use("katapi.runtime.views", function)
        hit = test.text
        target = f"{item}_at, {item}" if e.reads_place(query.variable) else f"_, {item}"
        if query.quantifier in (Quantifier.FIRST, Quantifier.LAST):
            target = f"{item}_at, {item}"
            hit = ternary(test, Code(f"({target})"), Code("None")).text
        answers = e.answers[query.variable.number] = e.fresh(f"{item}_{side}")
        words = f"{query.quantifier.value} {query.variable.name} in messages {side} … where …"
        self.lines.add(f"# {self._e.module.cite(query.span)} {words}")
        self.lines.statement(f"{answers} = ", f"{function}({hit} for {target} in {e.messages})")

    # ---- branches and loops

    def _if(self, statement: t.If, test: t.Expr, word: str) -> None:
        self.lines.statement(word, self._e.condition(test).text, ":")
        self.block(statement.then)
        if statement.otherwise is None:
            return
        alone = word == "if " and _ends_in_raise(statement.then)
        inner = statement.otherwise.statements
        if len(inner) == 1 and isinstance(inner[0], t.If):
            test, lifts = self._lifting.out_of(inner[0].test)
            deeper = bool(lifts) and not alone
            if deeper:
                self.lines.add("else:")
                self.lines.indent()
            self._lift(lifts)
            self._if(inner[0], test, "if " if lifts or alone else "elif ")
            if deeper:
                self.lines.dedent()
        elif alone:
            self.body(statement.otherwise)
        elif any(not isinstance(s, t.Drop) for s in inner):
            self.lines.add("else:")
            self.block(statement.otherwise)

    def _each(self, each: t.Each) -> None:
        joined = each.join is not None and each.condition is None
        if each.join is None and all(isinstance(s, t.Drop) for s in each.body.statements):
            return
        listed, lifts = self._lifting.out_of(each.source)
        self._lift(lifts)
        each = replace(each, source=listed)
        if each.key is not None:
            self._each_pair(each)
            return
        name = self._e.declare_item(each.item, each.source)
        source = self._e.value(each.source)
        index, last = f"{name}_at", f"len({source.text}) - 1"
        if each.sorted or isinstance(present(each.item.type), MessageType):
            known = self._e.reads_path(each.item) if each.sorted else self._e.reads_place(each.item)
            target, over, index = f"{name}_at, {name}" if known else f"_, {name}", source.text, f"{name}_index"
            if each.sorted:
                self._e.module.use("katapi.runtime.text", "sorted_texts")
                over = f"sorted_texts({over})"
            if self._counts(each):
                target, over = f"{index}, ({target})", f"enumerate({over})"
        elif self._e.reads_path(each.item) or joined or self._counts(each):
            target, over = f"{index}, {name}", f"enumerate({source.text})"
        else:
            target, over = name, source.text
        self._note_ends(each, name, index, last)
        target = target if self._e.reads(each.item) else re.sub(rf"\b{name}\b", "_", target)
        self._loop(each, f"for {target} in {over}:", name, f"{name}_at")

    def _counts(self, each: t.Each) -> bool:
        """Whether the body asks for the number of its round."""
        first = each.condition is None and self._asks(each, End.FIRST)
        return first or self._asks(each, End.LAST)

    def _asks(self, each: t.Each, end: End) -> bool:
        loop = (each.item,) if each.key is None else (each.key, each.item)
        return any(self._e.asks_end(variable, end) for variable in loop)

    def _note_ends(self, each: t.Each, name: str, index: str, last: str) -> None:
        """Keeps how the body tells its first and last round, and emits the number of the last before the loop."""
        first = Code(f"{index} == 0", COMPARE) if each.condition is None else Code(f"{name}_first")
        ends = {End.FIRST: first, End.LAST: Code(f"{index} == {name}_last", COMPARE)}
        self._e.rounds.update({v.number: ends for v in (each.key, each.item) if v is not None})
        if self._asks(each, End.LAST):
            self.lines.statement(f"{name}_last = ", last)

    def _each_pair(self, each: t.Each) -> None:
        assert each.key is not None
        key = self._e.declare_item(each.key, each.source, key=True, pairs=True)
        name = self._e.declare_item(each.item, each.source, pairs=True)
        pairs = self._e.pairs(each.source)
        self._note_ends(each, name, f"{name}_at", f"len({pairs.removesuffix('.items()')}) - 1")
        if each.sorted:
            self._e.module.use("katapi.runtime.text", "sorted_pairs")
            pairs = f"sorted_pairs({pairs})"
        keyed = self._e.reads(each.key) or self._e.reads_path(each.key) or self._e.reads_path(each.item)
        target = f"{key if keyed else '_'}, {name if self._e.reads(each.item) else '_'}"
        if (each.join is not None and each.condition is None) or self._counts(each):
            head = f"for {name}_at, ({target}) in enumerate({pairs}):"
        elif not each.sorted and target.endswith(", _"):
            head = f"for {key if keyed else '_'} in {pairs.removesuffix('.items()')}:"
        elif not each.sorted and not keyed:
            head = f"for {name} in {pairs.removesuffix('.items()')}.values():"
        else:
            head = f"for {target} in {pairs}:"
        self._loop(each, head, name, key)

    def _loop(self, each: t.Each, head: str, name: str, step: str) -> None:
        unnumbered = isinstance(present(each.item.type), MessageType) or (each.sorted and each.key is None)
        counted = each.join is not None and (each.condition is not None or unnumbered)
        asked = each.condition is not None and self._asks(each, End.FIRST)
        first = f"{name}_first"
        if counted or asked:
            self.lines.add(f"{first} = True")
        target, _, source = head.removeprefix("for ").removesuffix(":").partition(" in ")
        self.lines.loop(target, source)
        before = len(self.lines)
        self.lines.indent()
        companions = {
            f"{self._e.name(variable)}_path": self._e.item_path(each.source, step)
            for variable in (each.item, each.key)
            if variable is not None and self._e.reads_path(variable)
        }
        if each.condition is not None:
            condition, lifts = self._lifting.out_of(t.Not(each.condition, type=BoolType(), span=each.span))
            if lifts:
                for own, path in companions.items():
                    self.lines.statement(f"{own} = ", path)
                companions.clear()
                self._lift(lifts)
            test = self._e.condition(condition)
            for own in [name for name in companions if name in re.findall(r"\w+", test.text)]:
                self.lines.statement(f"{own} = ", companions.pop(own))
            self.lines.statement("if ", test.text, ":")
            self.lines.add("    continue")
        if each.join is not None:
            joint = self._e.module.fixed((LiteralPiece(each.join, self._e.module.site(each.span)),))
            self.lines.add(f"if not {first}:" if counted else f"if {name}_at:")
            self.lines.add(f"    {self._out}.append({joint})")
            if counted and not asked:
                self.lines.add(f"{first} = False")
        for own, path in companions.items():
            self.lines.statement(f"{own} = ", path)
        self.body(each.body)
        if asked and not always_rejects(each.body):
            self.lines.add(f"{first} = False")
        if len(self.lines) == before:
            self.lines.add("pass")
        self.lines.dedent()

    def _joined(self, joined: t.Joined) -> None:
        ends = next((at for at, s in enumerate(joined.body.statements) if rejects(s)), None)
        if not any(map(_may_print, joined.body.statements[:ends])):
            self._statements(joined.body.statements)
            return
        separator = self._e.module.fixed((LiteralPiece(joined.separator, self._e.module.site(joined.span)),))
        name = self._e.fresh("joined")
        self.lines.add(f"{name} = {self._e.module.helper('Joined')}({self._out}, {separator})")
        for statement in joined.body.statements:
            self._statement(statement)
            self._flush()
            if rejects(statement):
                return
            if _may_print(statement):
                self.lines.add(f"{name}.end_part()")

    def _match(self, match: t.Match) -> None:
        chosen, lifts = self._lifting.out_of(match.subject)
        self._lift(lifts)
        subject = self._e.string(chosen) if isinstance(present(chosen.type), TextType) else self._e.value(chosen)
        self.lines.add(f"# {self._e.module.cite(match.span)} match")
        levels = self._arms(replace(match, subject=chosen), subject)
        for _ in range(levels):
            self.lines.dedent()

    def _arms(self, match: t.Match, subject: Code) -> int:
        """The arms of a match, and how many levels deeper the last of them stands."""
        of = present(match.subject.type)
        left = kinds_told_apart(match.subject.type) or frozenset()
        choices = set(of.choices) if isinstance(of, TextType) and of.choices is not None else None
        word, levels = "if ", 0
        for arm in match.arms:
            taken = arm.kinds
            if choices is not None and choices <= set(arm.texts):
                taken |= {JsonKind.TEXT}
            closes = arm.other or left <= taken
            if closes and arm.condition is None:
                if word == "if ":
                    self.body(arm.body)
                else:
                    self.lines.add(f"else:  # :{self._line(arm.span)}")
                    self.block(arm.body)
                return levels
            condition, lifts = self._guard(match, arm)
            if lifts and word == "elif ":
                self.lines.add("else:")
                self.lines.indent()
                word, levels = "if ", levels + 1
            self._lift(lifts)
            test = self._arm_test(replace(arm, condition=condition), match.subject, subject, choices, closes)
            self._head(word, test.text, f":{self._line(arm.span)}")
            self.block(arm.body)
            word = _next_word(word, arm.body)
            if arm.condition is None:
                left -= taken
                choices = None if choices is None else choices - set(arm.texts)
        if word == "if ":
            self._raise("no arm fits this value", "T102", match.span)
            return levels
        self.lines.add("else:")
        self.lines.indent()
        self._raise("no arm fits this value", "T102", match.span)
        self.lines.dedent()
        return levels

    def _guard(self, match: t.Match, arm: t.MatchArm) -> tuple[t.Expr | None, list[Lift]]:
        """The condition of an arm, and what gets a name for it where the value fits."""
        if arm.condition is None:
            return None, []
        subject, span = match.subject, arm.span
        fits: list[t.Expr] = [
            t.Compare(Operator.EQUAL, subject, t.TextConst(text, type=LITERAL, span=span), type=BoolType(), span=span)
            for text in arm.texts
        ]
        if arm.kinds:
            fits.append(t.IsJson(subject, arm.kinds, type=BoolType(), span=span))
        guard = fits[0] if len(fits) == 1 else t.Or(tuple(fits), type=BoolType(), span=span)
        always = arm.kinds == kinds_told_apart(subject.type)
        return self._lifting.out_of(arm.condition, () if always else (guard,))

    def _arm_test(self, arm: t.MatchArm, value: t.Expr, subject: Code, left: set[str] | None, closes: bool) -> Code:
        """When a value comes to an arm; `left` are the texts that it may be, where it has choices."""
        if closes and arm.condition is not None:
            return self._e.condition(arm.condition)
        tests: list[Code] = []
        if isinstance(value, t.FieldOf) and isinstance(value.base.type, TaggedType) and arm.texts:
            tests.append(self._e.has_tag(value, value.base.type, arm.texts, left or set()))
        elif len(arm.texts) == 1:
            tests.append(Code(f"{subject.within(ATOM)} == {string(arm.texts[0])}", COMPARE))
        elif arm.texts:
            tests.append(Code(f"{subject.within(ATOM)} in {tuple_of(map(string, arm.texts))}", COMPARE))
        if arm.kinds:
            tests.append(self._e.is_of(value, arm.kinds))
        test = tests[0] if len(tests) == 1 else Code(" or ".join(c.within(OR) for c in tests), OR)
        if arm.condition is None:
            return test
        guard = self._e.condition(arm.condition)
        return Code(f"{test.within(NOT)} and {guard.within(NOT)}", AND)

    # ---- messages

    def _take(self, take: t.Take) -> None:
        e = self._e
        name = e.declare(take.variable)
        read = take.otherwise is not None or e.reads(take.variable) or e.reads_place(take.variable)
        what = "all" if take.all else "leading"
        self.lines.add(
            f"# {self._e.module.cite(take.span)} take {what} {', '.join(take.roles)} as {take.variable.name}"
        )
        of = e.python_type(present(take.variable.type))
        if take.all:
            test = e.has_role("m", take.roles)
            if read:
                value = f"[(at, m) for at, m in {e.messages} if {test.text}]"
                self.lines.statement(f"{name}: {of} = ", value)
            rest = f"without_{'_'.join(take.roles)}"
            alone = len(take.roles) == 1
            other = e.has_other_role("m", take.roles[0]).text if alone else f"not {test.within(NOT)}"
            self.lines.statement(f"{rest} = ", f"[(at, m) for at, m in {e.messages} if {other}]")
            e.messages = rest
            empty = f"not {name}"
        else:
            if read:
                self.lines.add(f"{name}: {of} | None = None")
            place = f"{name}_at"
            if e.reads_place(take.variable):
                self.lines.add(f"{place} = -1")
            bound = f"{e.messages}[0][1]"
            bound = f"first := {bound}" if read or len(take.roles) > 1 else bound
            leads = e.has_role("first", take.roles).within(NOT).replace("first", bound, 1)
            self.lines.statement("if ", f"{e.messages} and {leads}", ":")
            if read:
                self.lines.add(f"    {name} = first")
            if e.reads_place(take.variable):
                self.lines.add(f"    {place} = {e.messages}[0][0]")
            self.lines.add(f"    {e.messages} = {e.messages}[1:]")
            empty = f"{name} is None"
        if take.otherwise is not None:
            self.lines.add(f"if {empty}:")
            self.block(take.otherwise)

    def _walk(self, walk: t.Walk) -> None:
        e = self._e
        answered: list[t.Query] = []
        for query in steady_queries(walk, e.declared):
            same = next((one for one in answered if asks_the_same(one, query)), None)
            if same is None:
                self._answer(query)
                answered.append(query)
            else:
                e.answers[query.variable.number] = e.answers[same.variable.number]
        name = e.declare(walk.variable)
        runs = any(a.run is not None for a in walk.arms)
        place = f"{name}_at" if e.reads_place(walk.variable) else "_"
        self.lines.add(f"# {self._e.module.cite(walk.span)} each {walk.variable.name} in messages")
        if runs:
            self.lines.add("walked = 0")
        if runs or e.index in e.needed:
            self.lines.add(f"for {e.index}, ({place}, {name}) in enumerate({e.messages}):")
        else:
            self.lines.add(f"for {place}, {name} in {e.messages}:")
        self.lines.indent()
        if runs:
            self.lines.add(f"if {e.index} < walked:")
            self.lines.add("    continue")
        for arm in walk.arms:
            if arm.run is not None and arm.condition is not None:
                self.lines.add(self._take_run(arm))
        arms = [self._with_names(walk, arm) for arm in walk.arms]
        assert isinstance(walk.variable.type, MessageType)
        left = set(walk.variable.type.roles)
        word = "if "
        for arm in arms:
            self._walk_arm(arm, name, word, only=left <= set(arm.roles))
            left -= set() if arm.condition is not None else set(arm.roles)
            word = _next_word(word, arm.body)
        self._no_arm(walk, name, alone=word == "if ")
        self.lines.dedent()

    def _with_names(self, walk: t.Walk, arm: t.WalkArm) -> t.WalkArm:
        """An arm whose condition asks about names; those that it needs are given before, where the message fits."""
        if arm.condition is None:
            return arm
        message = t.Var(walk.variable, type=walk.variable.type, span=arm.span)
        always = walk.variable.type == arm.variable.type
        guard = t.IsRole(message, arm.roles, type=BoolType(), span=arm.span)
        condition, lifts = self._lifting.out_of(arm.condition, () if always else (guard,))
        self._lift(lifts)
        return replace(arm, condition=condition)

    def _no_arm(self, walk: t.Walk, name: str, *, alone: bool) -> None:
        """What comes to a message that no arm fits; `alone` where nothing is behind the arms but their errors."""
        assert isinstance(walk.variable.type, MessageType)
        covered = {r for a in walk.arms if a.condition is None for r in a.roles}
        if not alone:
            self.lines.add("else:")
            self.lines.indent()
        if set(walk.variable.type.roles) <= covered:
            self._e.module.use("typing", "assert_never")
            self.lines.add(f"assert_never({name})")
        else:
            self._raise("no arm fits this message", "T101", walk.span)
        if not alone:
            self.lines.dedent()

    def _take_run(self, arm: t.WalkArm) -> str:
        """Binds the run of an arm."""
        e = self._e
        assert arm.run is not None
        role = arm.then if arm.then is not None else arm.roles[0]
        start = e.index if arm.is_run else f"{e.index} + 1"
        return f"{e.declare(arm.run)} = {e.module.helper('run_from')}({e.messages}, {start}, {e.classes((role,))})"

    def _walk_arm(self, arm: t.WalkArm, name: str, word: str, only: bool) -> None:
        """A guarded run is bound before all arms, since its guard asks about it; any other run inside its arm.

        `only` says that no other role is left, so that a guard alone decides.
        """
        e = self._e
        take_run = self._take_run(arm) if arm.run is not None and arm.condition is None else ""
        test = e.has_role(name, arm.roles)
        if arm.condition is not None:
            guard = e.condition(arm.condition)
            test = guard if only else Code(f"{test.within(AND)} and {guard.within(NOT)}", AND)
        self._head(word, test.text, f":{self._line(arm.span)} when {_pattern(arm)}")
        if take_run:
            self.lines.add(f"    {take_run}")
        self.block(arm.body)
        if arm.run is not None and not always_rejects(arm.body):
            own = "" if arm.is_run else "1 + "
            self.lines.add(f"    walked = {e.index} + {own}len({e.name(arm.run)})")


def _ends_in_raise(block: t.Block) -> bool:
    """Whether the last line of a block is a `raise`, so that no `else` need stand behind it."""
    last = next((s for s in block.statements if rejects(s)), None)
    return _ends_in_raise(last) if isinstance(last, t.Block) else isinstance(last, t.Reject)


def _next_word(word: str, body: t.Block) -> str:
    """How the branch behind one begins."""
    return "if " if word == "if " and _ends_in_raise(body) else "elif "


def _may_print(statement: t.Statement) -> bool:
    return not isinstance(statement, (t.Let, t.Capture, t.Drop, t.Begin, t.Advance))


def _pattern(arm: t.WalkArm) -> str:
    roles = ", ".join(arm.roles)
    if arm.run is None:
        return roles
    return f"{roles}+ as {arm.run.name}" if arm.is_run else f"{roles} then {arm.then}* as {arm.run.name}"
