"""Exceptions of signal handlers that are raised later than their handlers ran."""

from __future__ import annotations

import signal as _signal
import sys as _sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType, TracebackType

#: Those that may carry an exception. A signal whose handler was not set by Python is left alone.
_CARRIERS = (_signal.SIGINT, _signal.SIGURG, _signal.SIGWINCH)


def carrier(error: BaseException) -> int:
    """A signal whose handler raises *error* when it runs next, and is then what it was before.

    To be called by the main thread, where handlers run.
    """
    number = next(number for number in _CARRIERS if _signal.getsignal(number) is not None)
    before = _signal.getsignal(number)
    show = _sys.excepthook
    # The frame of the handler is part of the traceback, and shall not refer back to the exception.
    pending = [error]

    def handler(_number: int, frame: FrameType | None) -> None:
        _signal.signal(number, before)
        if _sys.excepthook is excepthook:
            _sys.excepthook = show
        if frame is None or frame.f_code is not excepthook.__code__:
            raise pending.pop()

    def excepthook(
        kind: type[BaseException], uncaught: BaseException, traceback: TracebackType | None
    ) -> None:
        # The handler has just run, if no other Python code has since.
        if pending:
            _show(pending.pop(), uncaught)
        else:
            show(kind, uncaught, traceback)

    _signal.signal(number, handler)
    # Where nobody catches what the stream ended with, this is the next Python code to run.
    _sys.excepthook = excepthook
    return number


def _show(error: BaseException, uncaught: BaseException) -> None:
    """Ends the program as if *error* were what nobody has caught, and not *uncaught*."""
    if isinstance(error, SystemExit):
        raise error
    error.__context__ = uncaught
    _sys.excepthook(type(error), error, error.__traceback__)
    is_interactive = hasattr(_sys, "ps1") or _sys.flags.inspect
    if isinstance(error, KeyboardInterrupt) and not is_interactive:
        # What a shell shows of a program that SIGINT has ended.
        raise SystemExit(128 + _signal.SIGINT)
