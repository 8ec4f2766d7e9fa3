"""The exceptions of this package. Where the system said no, it is the :class:`OSError` for that, with
``errno`` and ``filename``."""

from __future__ import annotations


class Error(Exception):
    """The base of all others here."""


class ImageError(Error, OSError):
    """An image is broken, or of a kind that cannot be read. ``errno`` is ``EBADMSG``."""


class ListingError(Error, OSError):
    """A part of a listing, or a list of directories, is damaged. ``errno`` is ``EBADMSG``."""


class IncompleteListing(Error):
    """Directories are in none of the parts that were to be merged."""

    def __init__(self, message: str, count: int, examples: list[str]) -> None:
        super().__init__(message)
        #: Number of the missing directories.
        self.count = count
        #: The first of them; unusual bytes are escaped.
        self.examples = examples

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.args[0], self.count, self.examples), self.__dict__


class GitError(Error):
    """Git's data or arguments do not allow it; in git's words where git has some."""


class CheckoutRejected(GitError):
    """A checkout would lose something. Nothing was touched."""

    def __init__(self, message: str, paths: list[str]) -> None:
        super().__init__(message)
        #: The paths that would lose something.
        self.paths = paths

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.args[0], self.paths), self.__dict__

    def __str__(self) -> str:
        return f"{self.args[0]}: {', '.join(self.paths[:5])}"


class PartialFailure(Error):
    """Some entries failed; the others are done. ``failures`` has pairs of path and reason."""

    def __init__(self, message: str, failures: list[tuple[str, str]]) -> None:
        super().__init__(message)
        #: What failed.
        self.failures = failures

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.args[0], self.failures), self.__dict__

    def __str__(self) -> str:
        if not self.failures:
            return str(self.args[0])
        path, reason = self.failures[0]
        return f"{self.args[0]}; the first: {path}: {reason}"


class Cancelled(Error):
    """The event that was given as ``cancel`` was set. What is left is what an interruption leaves."""


class InternalError(Error, RuntimeError):
    """A defect of this package."""
