"""Checks of arguments: what Python would take for something else, and numbers."""

from __future__ import annotations

from operator import index as _index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import SupportsIndex, TypeVar

    _T = TypeVar("_T")


def several(name: str, values: Iterable[_T]) -> list[_T]:
    """The list of *values*. A single text is refused: it would be taken for a list of its characters."""
    if isinstance(values, (str, bytes)):
        raise TypeError(f"{name} is a sequence, not {type(values).__name__}")
    return list(values)


#: What native code takes for a number.
_MOST = 2**64 - 1


def number(name: str, value: SupportsIndex, least: int = 0, most: int = _MOST) -> int:
    """*value* as an ``int`` from *least* to *most*."""
    found = _index(value)
    if found < least:
        raise ValueError(f"{name} must be at least {least}, not {found}")
    if found > most:
        raise ValueError(f"{name} must be at most {most}, not {found}")
    return found


def number_or_none(
    name: str, value: SupportsIndex | None, least: int = 0, most: int = _MOST
) -> int | None:
    """The same for what need not be given."""
    return None if value is None else number(name, value, least, most)


def threads_of(value: SupportsIndex | None) -> int | None:
    """The argument *threads*."""
    return number_or_none("threads", value, 1)
