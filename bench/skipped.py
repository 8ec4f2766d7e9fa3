"""How a case says that it cannot run here."""


class Skipped(Exception):
    """The message says what is missing."""
