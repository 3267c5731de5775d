"""Credentials in what a person gives as a table: in no error, message or saved notebook."""

from __future__ import annotations

import traceback
from typing import Any

import pytest
from click.testing import CliRunner
from IPython import get_ipython
from IPython.testing.globalipapp import start_ipython

import explorer
from explorer.cli import main
from explorer.errors import ExplorerError

SECRETS = ("hunter2hunter2", "hush-token-123456", "AKIAIOSFODNN7EXAMPLE")
URLS = [
    "s3://AKIAIOSFODNN7EXAMPLE:hunter2hunter2@bucket/t",
    "s3://me:hunter2hunter2@bucket/t",
    "https://me:hunter2hunter2@no.invalid/t/metadata.json",
    "https://no.invalid/t/metadata.json?token=hush-token-123456",
]


def assert_hidden(text: str) -> None:
    assert not [secret for secret in SECRETS if secret in text], text


@pytest.mark.parametrize("url", URLS)
def test_of_a_python_error(url: str) -> None:
    """As a notebook keeps it: the error and its causes, without the line that was typed."""
    with pytest.raises(ExplorerError) as refused:
        explorer.open_table(url)
    assert_hidden(str(refused.value))
    assert_hidden(repr(refused.value))
    shown = [line for line in traceback.format_exception(refused.value) if "open_table(" not in line]
    assert_hidden("".join(line for line in shown if not line.lstrip().startswith("File ")))


@pytest.mark.parametrize("url", URLS)
def test_of_the_command_line(url: str) -> None:
    assert_hidden(CliRunner().invoke(main, ["show", url]).output)


@pytest.mark.parametrize("url", URLS)
def test_of_a_magic(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    shell: Any = start_ipython() or get_ipython()  # type: ignore[no-untyped-call]
    shell.run_line_magic("load_ext", "explorer")
    shell.run_cell(f"%iceberg show {url}")
    told = capsys.readouterr()
    assert_hidden((told.out + told.err).replace(url, ""))
