"""The grammar of a model's replies: the inverse of what its template prints for a message of the assistant."""

from __future__ import annotations

from katapi.derive.conversations import needles
from katapi.derive.fold import Constant
from katapi.derive.reply_forms import Forms, Known, NotInvertible, either
from katapi.derive.reply_moment import Moment, openings, reasoning_field
from katapi.derive.stability import settings
from katapi.model.program import Program
from katapi.runtime.reply import grammar as g


def reply_of(program: Program) -> g.Reply:
    """How a reply of a model is read: as `parse` blocks say, and as the template prints it.

    Raises NotInvertible where there is no `parse` block, and what the template prints cannot be read backwards.
    """
    moment = Moment(program)
    forms = Forms(program)
    options: list[g.Form] = []
    for arm in moment.declared():
        forms.message(arm.variable)
        options.append(forms.of(arm.residue, arm.folder, Known()))
    try:
        options += _printed(moment, forms)
    except NotInvertible:
        if not options:
            raise
    if not options:
        raise NotInvertible(program.template.span, "no arm prints something that is sampled")
    reasoning = reasoning_field(program)
    return g.Reply(
        either(*options),
        prefixes=_prefixes(program, moment, forms),
        controls=program.vocabulary.control_spellings(),
        rules=forms.rules,
        reasoning=None if reasoning is None else reasoning.name,
        marks=() if reasoning is None or reasoning.ignored else tuple(needles(program)),
    )


def _printed(moment: Moment, forms: Forms) -> list[g.Form]:
    """What the arms of the template print, read backwards."""
    options: list[g.Form] = []
    known = Known()
    for arm in moment.arms():
        forms.message(arm.variable)
        inside = known if arm.condition is None else forms.learned(arm.condition, known, holds=True)
        options.append(forms.of(arm.residue, arm.folder, inside))
        if arm.condition is None:
            break
        known = forms.learned(arm.condition, known, holds=False)
    return options


def _prefixes(program: Program, moment: Moment, forms: Forms) -> tuple[g.Prefix, ...]:
    """The generation prefixes, that of the parameters' defaults first."""
    by_name = {variable.name: variable.number for variable in program.template.variables}
    defaults: dict[int, Constant | None] = {
        by_name[param.name]: param.default for param in program.request.params if not param.required
    }
    found: dict[g.Prefix, None] = {}
    for setting in ({}, *settings(program)):
        constants = {**defaults, **{by_name[name]: value for name, value in setting.items()}}
        for residue, folder in moment.prefixes(constants):
            found |= dict.fromkeys(_constants(forms.of(residue, folder, Known())))
    for arm in moment.arms():
        forms.message(arm.variable)
        # A reply that is taken out of a history begins where the arm of the template says so.
        for residue in openings(arm.residue):
            found |= dict.fromkeys(_constants(forms.of(residue, arm.folder, Known())))
    return tuple(found) or ((),)


def _constants(form: g.Form) -> list[g.Prefix]:
    """The prefixes that a form stands for; what holds anything but texts and tokens is none."""
    match form:
        case tuple():
            out: list[g.Prefix] = [()]
            for part in form:
                out = [(*one, *more) for one in out for more in _constants(part)]
            return out
        case g.Either(options=options):
            return [one for option in options for one in _constants(option)]
        case (
            g.FreeText()
            | g.JsonText()
            | g.JsonMembers()
            | g.Number()
            | g.Constant()
            | g.Items()
            | g.Members()
            | g.Call()
        ):
            return []
        case _:
            return [(form,)]
