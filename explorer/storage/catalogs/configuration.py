"""pyiceberg's configuration: of $PYICEBERG_HOME, the home folder, the environment; of the working folder only when that
is trusted.

A `.pyiceberg.yaml` may name classes to import (`py-catalog-impl`, `py-io-impl`, `auth.impl`,
`write.py-location-provider.impl`) and servers to send credentials to, so one that came with a downloaded folder runs
whatever its author likes. The working folder's counts when $ICEDIVE_TRUST names the folder (several: separated
as in $PATH) and nobody else can write to the folder or the file; else it is left out, which is told."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import strictyaml
from pyiceberg.utils import config as pyiceberg

from explorer.errors import ExplorerError
from explorer.spec.text.printable import printable_lines
from explorer.storage.data_dirs import not_private

TRUST_VARIABLE = "ICEDIVE_TRUST"
_told: set[str] = set()


def configuration() -> Mapping[str, Any]:
    """What pyiceberg itself would read, but for a working folder that is not trusted; a warning says so, once. Raises
    ExplorerError for a file that is no such configuration."""
    own = [os.environ.get(pyiceberg.PYICEBERG_HOME), os.path.expanduser("~")]
    if (notice := trust_notice()) is None:
        own.append(os.getcwd())
    elif notice not in _told:
        _told.add(notice)
        warnings.warn(printable_lines(notice), stacklevel=2)
    files = next(filter(None, (_of(folder) for folder in own if folder)), {})
    merged: Mapping[str, Any] = pyiceberg.merge_config(files, pyiceberg.Config._from_environment_variables(files))
    return merged


def trust_notice() -> str | None:
    """Why the working folder's file is left out, and how to have it read; None when there is none, or it is trusted."""
    folder = Path.cwd()
    file = folder / pyiceberg.PYICEBERG_YML
    own = (os.environ.get(pyiceberg.PYICEBERG_HOME), os.path.expanduser("~"))
    if not file.is_file() or any(p and os.path.realpath(p) == os.path.realpath(folder) for p in own):
        return None
    trusted = [os.path.realpath(p) for p in os.environ.get(TRUST_VARIABLE, "").split(os.pathsep) if p]
    if os.path.realpath(folder) not in trusted:
        reason: str | None = f"set {TRUST_VARIABLE}={folder} if you wrote it: such a file can run code"
    else:
        reason = not_private(folder) or not_private(file)
    return None if reason is None else f"{file} is not read: {reason}"


def _of(folder: str) -> dict[str, Any] | None:
    file = Path(folder) / pyiceberg.PYICEBERG_YML
    if not file.is_file():
        return None
    try:
        data = strictyaml.load(file.read_text(encoding="utf-8")).data
        return dict(pyiceberg._lowercase_dictionary_keys(data))
    except (OSError, UnicodeDecodeError, strictyaml.YAMLError, AttributeError) as error:
        raise ExplorerError(f"{file}: no configuration of pyiceberg: {str(error).splitlines()[0]}") from error
