"""Errors say whose fault it is: each kind, from where it comes, with the exit code that docs/cli.md gives it."""

from __future__ import annotations

import inspect
import time
from pathlib import Path

import pytest

from explorer import cli, errors
from explorer.spark_engine import java
from explorer.spark_engine.failures import LOST, explain, failure

KINDS = {
    name: kind
    for name, kind in vars(errors).items()
    if inspect.isclass(kind) and issubclass(kind, errors.ExplorerError)
}


def leave(error: Exception, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """The exit code and the words when a command ends with an error."""

    @cli.main.command("fails")
    def fails() -> None:
        raise error

    try:
        with pytest.raises(SystemExit) as caught:
            cli.main(["fails"])
    finally:
        cli.main.commands.pop("fails")
    return int(caught.value.code or 0), capsys.readouterr().err


@pytest.mark.parametrize("name", sorted(KINDS))
def test_exit_codes(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    kind = KINDS[name]
    error = kind("a/file", "is gone") if issubclass(kind, errors.UnreadableFile) else kind("words")
    code, told = leave(error, capsys)
    assert code == {errors.EngineError: 4, errors.NotInstalled: 4, errors.WrongUsage: 2}.get(kind, 1)
    assert str(error) in told


def test_a_lost_spark_is_nobodys_statement() -> None:
    lost = failure(RuntimeError("x"), lost=True)
    assert isinstance(lost, errors.EngineError)
    assert str(lost) == LOST
    wrong = failure(RuntimeError("the column is missing"), lost=False, what="expire")
    assert isinstance(wrong, errors.StatementFailed)
    assert str(wrong) == "expire: the column is missing"


def test_the_file_of_an_error_is_found_in_linear_time() -> None:
    began = time.process_time()
    explain(RuntimeError("a/" * 50_000), lost=False)
    assert time.process_time() - began < 5
    for said, file in (
        ("File file:/w/t/data/a.parquet does not exist", "file:/w/t/data/a.parquet"),
        ("does not exist: 's3://b/x:y/m.avro', and more", "s3://b/x:y/m.avro"),
        ("Error:x:/t/v1.metadata.json does not exist", "x:/t/v1.metadata.json"),
    ):
        assert explain(RuntimeError(said), lost=False) == f"{file}: the file does not exist{errors.MENDED_BY}"


def test_no_java_is_an_engine_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(java, "_version", lambda command: None)
    with pytest.raises(errors.EngineError, match="none was found"):
        java.find_java()


def test_javas_cause_is_told() -> None:
    said = (
        "An error occurred while calling z:org.apache.iceberg.TableMetadataParser.read.\n"
        ": org.apache.iceberg.exceptions.ValidationException: Cannot find source column for sort field: 3\n"
        "\tat org.apache.iceberg.TableMetadataParser.fromJson(TableMetadataParser.java:1)"
    )
    assert explain(RuntimeError(said), lost=False) == "Cannot find source column for sort field: 3"
