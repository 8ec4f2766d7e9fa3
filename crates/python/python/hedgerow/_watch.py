"""How who makes a call watches it, and ends it from another thread."""

from __future__ import annotations

from typing import Callable, Optional, Protocol

#: Called about ten times a second with the name of a stage, the steps done, the steps in all (0 while
#: that is unknown) and bytes. An exception ends the operation, and is raised by it.
Progress = Optional[Callable[[str, int, int, int], object]]


class Event(Protocol):
    """What is set once, like :class:`threading.Event` and :class:`multiprocessing.Event`."""

    def is_set(self) -> bool: ...


#: Asked about fifty times a second. Once it is set, the operation ends with :class:`hedgerow.errors.Cancelled`.
Cancel = Optional[Event]
