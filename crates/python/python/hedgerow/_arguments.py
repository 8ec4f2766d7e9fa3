"""Checks of arguments that Python would take for something else."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypeVar

    _T = TypeVar("_T")


def several(name: str, values: Iterable[_T]) -> list[_T]:
    """The list of *values*. A single text is refused: it would be taken for a list of its characters."""
    if isinstance(values, (str, bytes)):
        raise TypeError(f"{name} is a sequence, not {type(values).__name__}")
    return list(values)
