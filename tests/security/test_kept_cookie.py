"""A cookie outlives its server for minutes, in a file that only its owner reads."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from explorer.serving import kept_cookie
from explorer.serving.kept_cookie import KEPT_S, OLDEST_S, KeptCookie


def test_the_next_server_at_the_same_port_has_the_same_cookie(tmp_path: Path) -> None:
    first = KeptCookie(tmp_path / "served", "127.0.0.1", 5006).take()
    assert KeptCookie(tmp_path / "served", "127.0.0.1", 5006).take() == first
    assert KeptCookie(tmp_path / "served", "127.0.0.1", 5007).take() != first
    assert KeptCookie(tmp_path / "served", "::1", 5006).take() != first
    [file, *_] = (tmp_path / "served").glob("127*5006*")
    assert file.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "served").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("case", ["old", "of tomorrow", "open to others", "a link", "no cookie", "long"])
def test_a_cookie_that_may_be_anothers_is_not_used(case: str, tmp_path: Path) -> None:
    kept = KeptCookie(tmp_path, "localhost", 1)
    first = kept.take()
    [file] = tmp_path.iterdir()
    if case in ("old", "of tomorrow"):
        then = time.time() + (3600 if case == "of tomorrow" else -KEPT_S - 5)
        os.utime(file, (then, then))
    elif case == "open to others":
        file.chmod(0o644)
    elif case == "a link":
        file.rename(tmp_path / "elsewhere")
        file.symlink_to(tmp_path / "elsewhere")
    else:
        file.write_text("short" if case == "no cookie" else file.read_text() * 2)
    again = kept.take()
    assert again != first
    assert len(again) == 43
    assert not file.is_symlink()
    assert KeptCookie(tmp_path, "localhost", 1).take() == again


def test_other_terms_are_another_cookie(tmp_path: Path) -> None:
    kept = KeptCookie(tmp_path, "localhost", 1)
    first = kept.take("password 1")
    assert kept.take("password 1") == first
    assert kept.take("password 2") != first
    assert kept.take("password 1") != first


def test_a_cookie_grows_no_older_than_half_a_day(tmp_path: Path) -> None:
    kept = KeptCookie(tmp_path, "localhost", 1)
    first = kept.take()
    [file] = tmp_path.iterdir()
    cookie, born, _ = file.read_text().split()
    old = str(int(born) - OLDEST_S - 1)
    file.write_text(f"{cookie} {old} {kept_cookie._sign(cookie, old, '')}")
    assert kept.take() != first


def test_a_server_that_lives_keeps_it_young(tmp_path: Path) -> None:
    kept = KeptCookie(tmp_path, "localhost", 1)
    first = kept.take()
    [file] = tmp_path.iterdir()
    os.utime(file, (1, 1))
    kept.beat()
    assert KeptCookie(tmp_path, "localhost", 1).take() == first


def test_where_nothing_can_be_kept_a_server_starts_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert len(KeptCookie(tmp_path / "file" / "folder", "localhost", 1).take()) == 43


def test_files_of_servers_that_ended_are_removed(tmp_path: Path) -> None:
    """The next server removes them, at whichever port; one that lives says so each minute."""
    for port in range(5):
        KeptCookie(tmp_path, "127.0.0.1", port).take()
    lives, *ended = sorted(tmp_path.iterdir())
    for file in (lives, *ended):
        os.utime(file, (time.time() - KEPT_S - 5,) * 2)
    (tmp_path / "dangling.cookie").symlink_to(tmp_path / "nowhere")
    os.utime(tmp_path / "dangling.cookie", (0, 0), follow_symlinks=False)
    (tmp_path / "other").write_text("not ours")
    KeptCookie(tmp_path, "127.0.0.1", 0).beat()
    KeptCookie(tmp_path, "127.0.0.1", 77).take()
    assert {path.name for path in tmp_path.iterdir()} == {lives.name, "127.0.0.1-77.cookie", "other"}
