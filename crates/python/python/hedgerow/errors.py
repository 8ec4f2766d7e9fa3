"""The exceptions of this package. Where the system said no, it is the :class:`OSError` for that, with
``errno`` and ``filename``."""

from __future__ import annotations


class Error(Exception):
    """The base of all others here."""


class ImageError(Error, OSError):
    """An image is broken, or of a kind that cannot be read. ``errno`` is ``EBADMSG``."""


class GitError(Error):
    """Git's data or arguments do not allow it; in git's words where git has some."""


class CheckoutRejected(GitError):
    """A checkout would lose something. Nothing was touched."""

    def __init__(self, message: str, paths: list[str]) -> None:
        super().__init__(message)
        #: The paths that would lose something.
        self.paths = paths

    def __str__(self) -> str:
        return f"{self.args[0]}: {', '.join(self.paths[:5])}"


class PartialFailure(Error):
    """Some entries failed; the others are done. ``failures`` has pairs of path and reason."""

    def __init__(self, message: str, failures: list[tuple[str, str]]) -> None:
        super().__init__(message)
        #: What failed.
        self.failures = failures

    def __str__(self) -> str:
        path, reason = self.failures[0]
        return f"{self.args[0]}; the first: {path}: {reason}"


class InternalError(Error, RuntimeError):
    """A defect of this package."""
