"""Exceptions of signal handlers that are raised later than their handlers ran."""

from __future__ import annotations

import signal as _signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

#: Those that may carry an exception. A signal whose handler was not set by Python is left alone.
_CARRIERS = (_signal.SIGINT, _signal.SIGURG, _signal.SIGWINCH)


def carrier(error: BaseException) -> int:
    """A signal whose handler raises *error* when it runs next, and is then what it was before.

    To be called by the main thread, where handlers run.
    """
    number = next(number for number in _CARRIERS if _signal.getsignal(number) is not None)
    before = _signal.getsignal(number)
    # The frame of the handler is part of the traceback, and shall not refer back to the exception.
    pending = [error]

    def handler(_number: int, _frame: FrameType | None) -> None:
        _signal.signal(number, before)
        raise pending.pop()

    _signal.signal(number, handler)
    return number
