"""Which field of a message or record a name means."""

from __future__ import annotations

from katapi.language import syntax as s
from katapi.model.request import Field, Request
from katapi.model.resolve.findings import Findings, Unresolved, nearest
from katapi.model.types import OptionalType, TaggedType, TextType, Trust, describe


class Fields:
    """Looks fields up in one request; raises Unresolved after noting a finding."""

    def __init__(self, findings: Findings, request: Request) -> None:
        self._findings = findings
        self._request = request
        self.may_read_ignored = False
        """Whether names may mean fields that the template never prints."""

    def of_record(self, record_name: str, name: s.Name) -> Field:
        """The field of a record."""
        record = self._request.record(record_name)
        assert record is not None, "the request was resolved before"
        field = record.field(name.text)
        if field is None and not self._findings.untyped.isdisjoint((name.text, record_name)):
            raise Unresolved
        if field is None:
            known = [f.name for f in record.fields]
            raise self._findings.fail(
                "K104", name.span, f"`{record_name}` has no field `{name.text}`", help=nearest(name.text, known)
            )
        self._readable(field, name)
        return field

    def of_tagged(self, of: TaggedType, name: s.Name) -> Field:
        """The tag, or the field that each of some records has."""
        found = [self.of_record(record, name) for record in of.records] if self._in_all(of, name) else []
        if not found:
            raise self._findings.fail(
                "K104",
                name.span,
                f"not each of {describe(of)} has a field `{name.text}`",
                help=f"tell them apart with `match … .{of.tag}`",
            )
        if name.text == of.tag:
            return Field(name.text, TextType(Trust.CONTENT, of.values), False, found[0].span)
        if any(field.type != found[0].type for field in found):
            raise self._findings.fail("K201", name.span, f"`{name.text}` has not one type in {describe(of)}")
        return found[0]

    def _in_all(self, of: TaggedType, name: s.Name) -> bool:
        records = [self._request.record(record) for record in of.records]
        return all(record is not None and record.field(name.text) is not None for record in records)

    def of_message(self, roles: tuple[str, ...], name: s.Name) -> Field:
        """The field that messages of all these roles have."""
        found: Field | None = None
        for role_name in roles:
            role = self._request.role(role_name)
            assert role is not None, "message types come from the request"
            field = role.field(name.text)
            if field is None and not self._findings.untyped.isdisjoint((name.text, role_name)):
                raise Unresolved
            if field is None:
                known = [f.name for f in role.fields if not f.ignored] + ["role"]
                raise self._findings.fail(
                    "K104",
                    name.span,
                    f"a message of role `{role_name}` has no field `{name.text}`",
                    help=nearest(name.text, known)
                    if len(roles) == 1
                    else f"the message here is one of {', '.join(roles)}; narrow it with `is` or an arm",
                )
            self._readable(field, name)
            if found is None or found.type == field.type or field.optional:
                found = field
            elif found.type != OptionalType(field.type):
                raise self._findings.fail("K201", name.span, f"`{name.text}` has another type in role `{role_name}`")
        assert found is not None, "a message has a role"
        return found

    def _readable(self, field: Field, name: s.Name) -> None:
        if field.ignored and not self.may_read_ignored:
            raise self._findings.fail(
                "K118",
                name.span,
                f"`{name.text}` is declared `ignore`",
                help="remove `ignore` in the request to use it",
            )
