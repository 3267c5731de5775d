"""Errors that a person can act on. Every message names the problem and, if there is one, the remedy."""

from __future__ import annotations

from explorer.spec.secrets.redaction import redact
from explorer.spec.text.printable import printable_lines


class PrintableError(Exception):
    """What Python itself prints on a terminal or keeps in a notebook: names of strangers in it command nothing there,
    and no credential of a URL is in it."""

    def __str__(self) -> str:
        return redact(printable_lines(super().__str__()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"


class ExplorerError(PrintableError):
    """Base of all errors this package raises on purpose."""


class TableNotFound(ExplorerError):
    """No table, metadata file or catalog has that name."""


class NotFoundInTable(ExplorerError, LookupError):
    """The table exists, but the requested snapshot, ref, manifest or file does not."""


MISSING = "the file does not exist"
"""How the words on a file begin that is not there."""
MENDED_BY = " (icedive doctor TABLE --files says what helps)"
"""After the words on a file that is missing."""


class UnreadableFile(ExplorerError):
    """One file of the table cannot be read; `path` is that file and `cause` says what is wrong with it. The message may
    have a `hint` after it."""

    def __init__(self, path: str, cause: str, hint: str = "") -> None:
        super().__init__(f"{path}: {cause}{hint}")
        self.path = path
        self.cause = cause


class NotNow(UnreadableFile):
    """A file that could not be read this time: its store did not answer or refused, or there was not enough memory. It
    is read again when it is needed again."""


class NotReadHere(UnreadableFile):
    """A file that nothing is wrong with, but whose contents cannot be read here: it is encrypted, or of a kind that
    only the spec has so far."""


class IncompleteAnswer(PrintableError, UserWarning):
    """A manifest list or manifest could not be read completely; its entries are missing from the answer."""


class AccessRefused(ExplorerError):
    """Reading outside the allowed roots, or a write that was not allowed."""


class OutsideRoots(UnreadableFile, AccessRefused):
    """A file that the table names, but that lies outside the folders that may be read."""


class EngineError(ExplorerError):
    """Spark, or the Java that it needs, is not available; the message says what is missing and how to get it."""


class NotInstalled(EngineError):
    """A package that only some answers need (Spark's or another) is not installed; the message has the command that
    installs it."""


class StatementFailed(ExplorerError):
    """Spark or Iceberg refused a statement, a read or a commit; the message is their reason."""


class WrongUsage(ExplorerError):
    """Parameters that do not go together, or a required one that is missing."""


class NotPossible(ExplorerError):
    """The request is not possible in the present state; the message says why."""


class NotSupported(ExplorerError):
    """The request is not supported for this kind of table or storage."""
