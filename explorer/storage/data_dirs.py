"""Where this program keeps things: a data folder (the sandbox catalog) and a cache folder (jars, decoded manifests)."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

from platformdirs import user_cache_path, user_data_path

from explorer.errors import AccessRefused

PREFIX = "ICEDIVE_"
"""Of the environment variables of this program."""
HOME_VARIABLE = f"{PREFIX}HOME"
VARIABLES = {
    "HOME": "the folder of the sandbox",
    "CACHE": "the folder of jars and decoded manifests",
    "MEMORY": "how much memory a question may use, such as 600M or 4G",
    "SECONDS": "how many seconds of the processor a command may use for a table",
    "TIMEZONE": "the zone in which text shows times of metadata",
    "SPARK_MASTER": "the master of Spark",
    "SPARK_CONF": "settings of Spark, as JSON",
    "PASSWORD": "the password of a shared server",
    "QUOTAS": "the quotas of a shared server",
    "AUDIT": "the audit log of a shared server",
    "CLASS": "the folder of a class, to which exercises report",
    "STUDENT": "the name under which a class sees a student",
    "METRICS_TOKEN": "the token that reads a server's metrics",
}
"""What each environment variable sets, by its name without the prefix."""
SECRET_VARIABLES = ("PASSWORD", "METRICS_TOKEN")
"""Those whose values are never shown."""


def data_home() -> Path:
    """$ICEDIVE_HOME, or the platform's user data folder. Raises AccessRefused when others could have put
    something there: its spark.json and catalog are trusted."""
    folder = data_folder()
    if not os.environ.get(HOME_VARIABLE):
        _move_once(user_data_path("iceberg-explorer"), folder)
    if (reason := not_private(folder)) is not None:
        raise AccessRefused(f"{folder}: {reason}; mend that, or choose another folder with ${HOME_VARIABLE}")
    return folder


def data_folder() -> Path:
    """$ICEDIVE_HOME, or the platform's user data folder, whoever may write to it."""
    chosen = os.environ.get(HOME_VARIABLE)
    return Path(chosen) if chosen else user_data_path("icedive")


def _move_once(former: Path, folder: Path) -> None:
    """Move there once what stands in the folder of this program's former name."""
    if former.is_dir() and not folder.exists():
        with contextlib.suppress(OSError):  # another process was faster, or it is in use
            former.rename(folder)


def cache_home() -> Path:
    """$ICEDIVE_CACHE, or the platform's user cache folder: everything in it can be made again."""
    chosen = os.environ.get(f"{PREFIX}CACHE")
    return Path(chosen) if chosen else user_cache_path("icedive")


def sandbox_home() -> Path:
    """The folder of the embedded catalog: `catalog.db` and `warehouse/`."""
    return data_home() / "sandbox"


def private(folder: Path) -> None:
    """Make a folder that nobody else may look into; one that is there already is left as it is."""
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)


def not_private(path: str | Path) -> str | None:
    """Why a file or folder may hold what others than this user wrote, in words with the fix; None when it cannot, or is
    not there. Who owns what is not known on Windows."""
    try:
        state = os.stat(path)
    except OSError:
        return None
    if not hasattr(os, "geteuid"):
        return None
    if state.st_uid not in (os.geteuid(), 0):
        return "it belongs to another user"
    if state.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"others may write to it (chmod go-w {path})"
    return None
