"""Catalogs that a person adds: tested, used by questions, and without a secret in any file or output."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends import fail
from keyring.errors import PasswordDeleteError

from explorer.errors import NotPossible, WrongUsage
from explorer.storage.catalogs import catalogs
from explorer.storage.catalogs.added_catalogs import (
    FILE,
    add_catalog,
    added_names,
    added_properties,
    remove_catalog,
)
from tests.support.small_tables import in_catalog, make_table
from tests.unit.test_cli import run

SECRET = "hunter2-canary-8471"


class Memory(KeyringBackend):
    """A keyring of this process: the machine of the tests has none."""

    priority = 1.0  # type: ignore[assignment]

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        if self.kept.pop((service, username), None) is None:
            raise PasswordDeleteError("not there")


@pytest.fixture
def ring() -> Iterator[Memory]:
    before, ring = keyring.get_keyring(), Memory()
    keyring.set_keyring(ring)
    yield ring
    keyring.set_keyring(before)


@pytest.fixture
def no_ring() -> Iterator[None]:
    before = keyring.get_keyring()
    keyring.set_keyring(fail.Keyring())
    yield
    keyring.set_keyring(before)


def sql_options(tmp_path: Path) -> list[str]:
    given = in_catalog(make_table(tmp_path), "mine")
    return ["--type", "sql", "--uri", given["uri"], "--warehouse", given["warehouse"]]


def test_a_catalog_that_is_added_answers_every_question(home: Path, tmp_path: Path) -> None:
    done = run("catalog", "add", "Mine", *sql_options(tmp_path), "-o", "json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["namespaces"] == 1
    assert stat.S_IMODE((home / FILE).stat().st_mode) == 0o600
    assert "mine" in catalogs.catalog_names()
    assert "mine" in run("config").output
    assert "db.t" in run("catalog", "tables", "mine").output
    assert "snapshot-3" in run("inspect", "snapshots", "mine.db.t").output
    assert run("catalog", "remove", "mine").exit_code == 0
    assert "mine" not in catalogs.catalog_names()
    assert run("inspect", "snapshots", "mine.db.t").exit_code == 1
    assert run("catalog", "remove", "mine").exit_code == 2


def test_what_cannot_be_reached_is_not_added(home: Path, tmp_path: Path) -> None:
    options = ["--type", "rest", "--uri", "http://127.0.0.1:9"]
    done = run("catalog", "add", "far", *options)
    assert done.exit_code == 1
    assert added_names() == []
    assert run("catalog", "add", "far", *options, "--no-test").exit_code == 0
    assert added_names() == ["far"]


@pytest.mark.parametrize(
    "options",
    [
        ["-p", f"token={SECRET}"],
        ["-p", f"s3.secret-access-key={SECRET}"],
        ["--uri", f"postgresql://me:{SECRET}@localhost/x"],
        ["-p", f"credential=me:{SECRET}"],
    ],
)
def test_no_secret_is_written(options: list[str], home: Path) -> None:
    done = run("catalog", "add", "mine", "--type", "rest", "--no-test", *options)
    assert done.exit_code == 2
    assert "--secret" in done.output
    assert SECRET not in done.output
    assert not (home / FILE).exists()


def test_a_secret_of_the_environment_is_read_each_time(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_TOKEN", SECRET)
    done = run("catalog", "add", "mine", *sql_options(tmp_path), "--secret", "token=env:MY_TOKEN")
    assert done.exit_code == 0, done.output
    assert "token from env:MY_TOKEN" in done.output
    assert catalogs.properties("mine")["token"] == SECRET
    monkeypatch.delenv("MY_TOKEN")
    with pytest.raises(NotPossible, match="the environment has no MY_TOKEN"):
        added_properties("mine")
    told = run("inspect", "snapshots", "mine.db.t")
    assert told.exit_code == 1
    assert "the environment has no MY_TOKEN" in told.output
    assert SECRET not in done.output + (home / FILE).read_text()


def test_a_secret_is_piped_in_and_kept_in_the_keyring(home: Path, tmp_path: Path, ring: Memory) -> None:
    done = run("catalog", "add", "mine", *sql_options(tmp_path), "--secret", "token", input=f"{SECRET}\n")
    assert done.exit_code == 0, done.output
    assert list(ring.kept.values()) == [SECRET]
    assert catalogs.properties("mine")["token"] == SECRET
    assert SECRET not in done.output + (home / FILE).read_text() + run("config").output
    assert run("catalog", "remove", "mine").exit_code == 0
    assert ring.kept == {}
    assert run("catalog", "add", "mine", *sql_options(tmp_path / "b"), "--secret", "token", input="").exit_code == 2


def test_without_a_keyring_a_variable_is_asked_for(home: Path, tmp_path: Path, no_ring: None) -> None:
    done = run("catalog", "add", "mine", *sql_options(tmp_path), "--secret", "token", input=f"{SECRET}\n")
    assert done.exit_code == 1
    assert "(KEY=env:VARIABLE)" in done.output
    assert SECRET not in done.output
    assert added_names() == []


@pytest.mark.parametrize("name", ["", "sandbox", "Sandbox", "../x", "a.b", "9a", "a" * 65, "a b", "-x"])
def test_names_that_are_none(name: str, home: Path) -> None:
    with pytest.raises(WrongUsage):
        add_catalog(name, {"type": "rest"}, {})


def test_a_file_that_others_may_write_or_that_is_none_is_an_error(home: Path) -> None:
    add_catalog("mine", {"type": "rest"}, {})
    (home / FILE).chmod(0o666)
    with pytest.raises(NotPossible, match="others may write"):
        added_names()
    (home / FILE).chmod(0o600)
    for text in ("[]", "{", '{"a": []}', "[" * 100_000, '{"a": {"properties": 3}}'):
        (home / FILE).write_text(text)
        with pytest.raises(NotPossible, match="is no list of catalogs"):
            added_names()
    assert run("catalog", "tables", "mine").exit_code == 1


def test_a_configured_catalog_is_not_taken_over(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYICEBERG_CATALOG__OWN__URI", "http://127.0.0.1:9")
    assert run("catalog", "add", "own", "--type", "rest", "--no-test").exit_code == 2
    with pytest.raises(WrongUsage, match="was added"):
        remove_catalog("own")
