"""Errors a person can act on. Every message names the thing that is wrong and, where there is one, the fix."""

from __future__ import annotations


class ExplorerError(Exception):
    """Base of all errors this package raises on purpose."""


class TableNotFound(ExplorerError):
    """No table, metadata file or catalog goes by that name."""


class NotFoundInTable(ExplorerError, LookupError):
    """The table is there, but not the snapshot, ref, manifest or file that was asked for."""


class UnreadableFile(ExplorerError):
    """One file of the table cannot be read; `path` is that file and `cause` says what is wrong with it."""

    def __init__(self, path: str, cause: str) -> None:
        super().__init__(f"{path}: {cause}")
        self.path = path
        self.cause = cause


class NotNow(UnreadableFile):
    """A file that could not be read this time: its store did not answer or refused, or there was no memory for it. It
    is asked for anew when it is needed again."""


class IncompleteAnswer(UserWarning):
    """A manifest list or manifest cannot be read whole: answers that need it lack what is lost there."""


class AccessRefused(ExplorerError):
    """Reading outside the allowed roots, or a write that was not allowed."""


class OutsideRoots(UnreadableFile, AccessRefused):
    """A file that the table names, but that lies outside the folders that may be read."""


class EngineError(ExplorerError):
    """Spark, or the Java it needs, could not be had; the message says what is missing and how to get it."""


class StatementFailed(ExplorerError):
    """Spark or Iceberg could not carry out a statement, a read or a commit: the message is their reason."""


class WrongUsage(ExplorerError):
    """Parameters that do not go together, or a required one that is missing."""


class NotPossible(ExplorerError):
    """What was asked for cannot be done as things stand; the message says what is in the way."""


class NotSupported(ExplorerError):
    """What was asked for is not done here, for this kind of table or storage."""
