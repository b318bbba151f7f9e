"""What is printed one after the other: neighbours that never change become one constant of the generated module."""

from __future__ import annotations

from katapi.emit.module import Module, Piece, RolePiece


class Held:
    """Holds back what is printed until something else must be emitted."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._items: list[str] = []
        self._pieces: list[Piece] = []
        self._role = ""

    def code(self, code: str) -> None:
        """Prints the value of an expression."""
        self._close()
        self._items.append(code)

    def piece(self, piece: Piece) -> None:
        """Prints what never changes."""
        self._pieces.append(piece)

    def role(self, piece: RolePiece, role: str) -> None:
        """Prints a role; `role` is the expression that says which. A constant depends on one role at most."""
        if self._role:
            self._close()
        self._pieces.append(piece)
        self._role = role

    def take(self) -> list[str]:
        """The expressions of all that was held back, in order."""
        self._close()
        items, self._items = self._items, []
        return items

    def _close(self) -> None:
        if self._pieces:
            name = self._module.fixed(tuple(self._pieces))
            self._items.append(f"{name}[{self._role}]" if self._role else name)
        self._pieces.clear()
        self._role = ""
