"""`katapi.runtime.dataclass` beside the standard library's: the same classes, declared by both, do the same."""

import copy
import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import dataclass as standard
from dataclasses import field

import pytest

from katapi.runtime.dataclass import dataclass as quick


@standard(frozen=True)
class StandardPoint:
    """Two required fields, one that does not count in comparisons."""

    x: int
    y: int
    note: str = field(default="", compare=False)


@quick(frozen=True)
class QuickPoint:
    """The same."""

    x: int
    y: int
    note: str = field(default="", compare=False)


@standard(frozen=True, slots=True)
class StandardSlots:
    """Slots, a factory, a field that is computed and not shown."""

    items: list[int] = field(default_factory=list, hash=False)
    size: int = field(init=False, repr=False)
    memo: dict[int, int] = field(init=False, default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", len(self.items))


@quick(frozen=True, slots=True)
class QuickSlots:
    """The same."""

    items: list[int] = field(default_factory=list, hash=False)
    size: int = field(init=False, repr=False)
    memo: dict[int, int] = field(init=False, default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", len(self.items))


@standard(frozen=True, kw_only=True)
class StandardNamed:
    """Fields by name only."""

    x: int
    y: int = 2


@quick(frozen=True, kw_only=True)
class QuickNamed:
    """The same."""

    x: int
    y: int = 2


@standard(frozen=True, eq=False)
class StandardIdentity(StandardPoint):
    """Inherits fields; its own method stays."""

    z: int = 3

    def __repr__(self) -> str:
        return f"<{self.x}>"


@quick(frozen=True, eq=False)
class QuickIdentity(QuickPoint):
    """The same."""

    z: int = 3

    def __repr__(self) -> str:
        return f"<{self.x}>"


@standard(frozen=True)
class StandardMixed(StandardSlots):
    """Inherits slots; a factory stands between two defaults."""

    x: int = 1
    more: list[int] = field(default_factory=list)
    y: int = 2


@quick(frozen=True)
class QuickMixed(QuickSlots):
    """The same."""

    x: int = 1
    more: list[int] = field(default_factory=list)
    y: int = 2


@standard(frozen=True)
class StandardEmpty:
    """No field."""


@quick(frozen=True)
class QuickEmpty:
    """The same."""


@quick(frozen=True)
class OtherEmpty:
    """No field, and another class."""


PAIRS = [
    (StandardPoint, QuickPoint),
    (StandardSlots, QuickSlots),
    (StandardNamed, QuickNamed),
    (StandardIdentity, QuickIdentity),
    (StandardMixed, QuickMixed),
    (StandardEmpty, QuickEmpty),
]
CALLS: list[tuple[tuple[object, ...], dict[str, object]]] = [
    ((), {}),
    ((1,), {}),
    ((1, 2), {}),
    ((1, 2), {"x": 1}),
    ((1, 2, "n"), {}),
    ((1, 2, "n", 4), {}),
    ((1, 2, "n", 4, 5), {}),
    (([1, 2],), {}),
    (([1, 2], 3, [4]), {}),
    (([1, 2], 3, [4], 5), {}),
    ((), {"x": 1}),
    ((), {"y": 1, "x": 2}),
    ((), {"items": [3]}),
    ((), {"size": 3}),
    ((), {"unknown": 3}),
]


def outcome(make: Callable[[], object]) -> object:
    """What an instance shows of itself, or the kind of error."""
    try:
        made = make()
    except TypeError as error:
        return type(error)
    names = [part.name for part in dataclasses.fields(made)]  # type: ignore[arg-type]  # a dataclass
    return repr(made).partition("(")[2], [(name, getattr(made, name)) for name in names]


@pytest.mark.parametrize(("standard_class", "quick_class"), PAIRS)
@pytest.mark.parametrize(("values", "named"), CALLS)
def test_instances(
    standard_class: type, quick_class: type, values: tuple[object, ...], named: dict[str, object]
) -> None:
    expected = outcome(lambda: standard_class(*values, **named))
    assert outcome(lambda: quick_class(*values, **named)) == expected


@pytest.mark.parametrize("calls", [[(1, 2), (1, 2, "other"), (1, 3), (2, 2)]])
@pytest.mark.parametrize(("standard_class", "quick_class"), [PAIRS[0], PAIRS[3]])
def test_comparisons(standard_class: type, quick_class: type, calls: list[tuple[object, ...]]) -> None:
    def relations(cls: type) -> list[tuple[bool, bool]]:
        made = [cls(*call) for call in calls]
        return [(a == b, len({a, b}) == 1) for a in made for b in made]

    assert relations(quick_class) == relations(standard_class)


def test_classes_without_fields_differ() -> None:
    empty: list[object] = [QuickEmpty(), OtherEmpty(), QuickPoint(1, 2), (1, 2, "")]
    assert QuickEmpty() == QuickEmpty()
    assert [empty.count(each) for each in empty] == [1, 1, 1, 1]


@pytest.mark.parametrize("made", [QuickPoint(1, 2), QuickSlots([1]), QuickNamed(x=1), QuickIdentity(1, 2)])
def test_nothing_is_assigned(made: object) -> None:
    name = dataclasses.fields(made)[0].name  # type: ignore[arg-type]  # a dataclass
    with pytest.raises(dataclasses.FrozenInstanceError, match=f"assign to field '{name}'"):
        setattr(made, name, 5)
    with pytest.raises(dataclasses.FrozenInstanceError, match="more"):
        made.more = 5  # type: ignore[attr-defined]  # what must fail
    with pytest.raises(dataclasses.FrozenInstanceError, match=f"delete field '{name}'"):
        delattr(made, name)


def test_a_subclass_may_have_more() -> None:
    class Sub(QuickPoint):
        more: int

    sub = Sub(1, 2)
    sub.more = 3
    assert sub.more == 3
    with pytest.raises(dataclasses.FrozenInstanceError):
        sub.x = 3  # type: ignore[misc]  # what must fail


@pytest.mark.parametrize("made", [QuickPoint(1, 2, "n"), QuickSlots([1, 2]), QuickNamed(x=1), QuickEmpty()])
def test_copies(made: object) -> None:
    for copied in (copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert copied is not made
        assert copied == made


def test_replace_and_match() -> None:
    assert dataclasses.replace(QuickPoint(1, 2, "n"), x=5) == QuickPoint(5, 2)
    match QuickPoint(1, 2):
        case QuickPoint(x, y):
            assert (x, y) == (1, 2)


def test_frozen_is_asked_for() -> None:
    with pytest.raises(TypeError, match="frozen"):
        quick(frozen=False)
