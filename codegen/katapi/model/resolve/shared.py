"""Records, `def`s and formulas that several files share.

Those records and `def`s that a file needs become parts of its request and its template; formulas stay what they are.

Where they come from other files, their spans lie in the texts that the `Source` of the file holds behind its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from katapi.language import syntax as s
from katapi.language.nodes import moved, nodes
from katapi.language.source import Source
from katapi.language.syntax_formulas import Apply
from katapi.model.resolve.findings import Findings
from katapi.model.resolve.program import Used

#: What tells shared parts apart: a record and a `def` may have one name.
Key: TypeAlias = tuple[type[s.RecordDecl] | type[s.Def] | type[s.Formula], str]


def with_shared(source: Source, file: s.File, used: Sequence[Used], findings: Findings) -> tuple[Source, s.File]:
    """A file and its text, with the shared records and `def`s of the files that it uses behind its own."""
    lenders = [other for other in used if other.program.file.shared]
    whole = replace(source, shared=tuple(other.program.source for other in lenders))
    shared: dict[Key, s.Shared] = {}
    for node in file.shared:
        first = shared.setdefault(_key(node), node)
        if first is not node:
            findings.add("K107", node.name.span, f"`{node.name.text}` is declared twice", first=first.name.span)
    for other, (_, base) in zip(lenders, whole.bases(), strict=True):
        for lent in other.program.file.shared:
            node = moved(lent, base)
            first = shared.setdefault(_key(node), node)
            if whole.place(first.span.start) != whole.place(node.span.start):
                message = f"`{node.name.text}` comes from another place already"
                findings.add("K107", other.place, message, first=first.name.span)
    return whole, replace(file, shared=tuple(shared.values()))


def check_place(file: s.File, findings: Findings) -> None:
    """Records and `def`s for other files stand in files that others can use."""
    for node in file.shared if has_template(file) else ():
        if isinstance(node, s.Formula):
            message = f"the formula `{node.name.text}` is for images, which stand in files without a template"
            findings.add("K120", node.name.span, message, help="put it into a file of images")
            continue
        word, block = ("record", "request") if isinstance(node, s.RecordDecl) else ("def", "template")
        message = f"a `{word}` outside of a {block} is for other files, and none can use this one"
        help = f"put it into the {block}, or into a file that has none"
        findings.add("K120", node.name.span, message, help=help)


def needed(file: s.File) -> s.File:
    """The file with those of its shared parts alone that its request and its template need."""
    own = {_key(node) for node in _own(file)}
    shared = {_key(node): node for node in file.shared}
    asked = {key for declaration in file.declarations for key in _asked(declaration)} - own
    found: set[Key] = set()
    while asked:
        key = asked.pop()
        if key in shared and key not in found:
            found.add(key)
            asked |= _asked(shared[key])
    return replace(file, shared=tuple(node for node in file.shared if _key(node) in found))


def has_template(file: s.File) -> bool:
    """Whether a file declares a template or the request of one, and not only what others use."""
    return any(isinstance(declaration, s.Request | s.Template) for declaration in file.declarations)


def adopted(file: s.File, findings: Findings) -> s.File:
    """The file with the shared parts that it needs in its request and its template; what it has already is reported."""
    shared = needed(file).shared
    own = {_key(node): node for node in _own(file)}
    for node in shared:
        if (first := own.get(_key(node))) is not None:
            message = f"`{node.name.text}` comes from another file already"
            findings.add("K107", first.name.span, message, first=node.name.span)
            findings.untyped.add(node.name.text)
    new = [node for node in shared if _key(node) not in own]
    records = tuple(node for node in new if isinstance(node, s.RecordDecl))
    definitions = tuple(node for node in new if isinstance(node, s.Def))

    def whole(declaration: s.Declaration) -> s.Declaration:
        match declaration:
            case s.Request():
                return replace(declaration, records=(*declaration.records, *records))
            case s.Template():
                return replace(declaration, parts=(*definitions, *declaration.parts))
            case _:
                return declaration

    return replace(file, declarations=tuple(map(whole, file.declarations)), shared=())


def _key(node: s.Shared) -> Key:
    return type(node), node.name.text


def _own(file: s.File) -> Iterator[s.Shared]:
    """The records and `def`s that stand in a request or template."""
    for declaration in file.declarations:
        match declaration:
            case s.Request(records=records):
                yield from records
            case s.Template(parts=parts):
                yield from (part for part in parts if isinstance(part, s.Def))
            case _:
                pass


def _asked(node: s.Node) -> set[Key]:
    """The records, `def`s and formulas that a node names."""
    records = {(s.RecordDecl, one.name.text) for one in nodes(node) if isinstance(one, s.NamedType)}
    formulas = {(s.Formula, one.name.text) for one in nodes(node) if isinstance(one, Apply)}
    return records | formulas | {(s.Def, one.name.text) for one in nodes(node) if isinstance(one, s.Call)}
