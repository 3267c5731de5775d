"""Files that are written whole or not at all, and what is said where the system refuses: in real processes that may
write no more than so many bytes to a file, as on a full disk."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from explorer.storage.whole_files import whole_file, write_whole
from tests.support.small_tables import make_table

ROOM = 8 << 10
NEVER = ("Traceback", "Exception ignored", 'File "')


def run(words: list[str], room: int = -1, stdout: Any = subprocess.PIPE, **environment: str) -> Any:
    """Run a command in a process whose files may have so many bytes."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        if room >= 0:
            resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

    command = [sys.executable, "-m", "explorer.cli", *words]
    return subprocess.run(
        command, stdout=stdout, stderr=subprocess.PIPE, text=True, preexec_fn=limit, env={**os.environ, **environment}
    )


def check_sentence(told: Any, *words: str) -> None:
    assert told.returncode == 1, told
    [sentence] = told.stderr.strip().splitlines()
    assert sentence.startswith("icedive: ")
    assert not any(never in told.stderr for never in NEVER), told.stderr
    for word in words:
        assert word in sentence


@pytest.mark.parametrize("words", [
    ["export", "page", "TABLE", "TARGET.html"], ["export", "graph", "TABLE", "--file", "TARGET.svg"],
    ["inspect", "deletes", "TABLE", "--picture", "TARGET.html"],
], ids=lambda words: " ".join(words[:2]))  # fmt: skip
def test_a_full_disk_leaves_the_earlier_file(words: list[str], tmp_path: Path) -> None:
    table, target = make_table(tmp_path), tmp_path / "out" / "x"
    target.parent.mkdir()
    command = [word.replace("TABLE", str(table)).replace("TARGET", str(target)) for word in words]
    file = next(Path(word) for word in command if word.startswith(str(target)))
    assert run(command).returncode == 0
    earlier = file.read_bytes()
    assert len(earlier) > 100
    check_sentence(run(command, room=min(ROOM, len(earlier) // 2), ICEDIVE_CACHE=str(tmp_path / "none")), str(file))
    assert file.read_bytes() == earlier
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_output_that_has_no_room_is_a_sentence(tmp_path: Path) -> None:
    table = str(make_table(tmp_path))
    for words in (["show"], ["inspect", "files"], ["inspect", "entries", "-o", "jsonl"], ["export", "graph"]):
        with open("/dev/full", "wb") as full:
            check_sentence(run([*words, table], stdout=full), "No space left on device", "free some room")


def test_a_place_that_is_no_folder_is_a_sentence(tmp_path: Path) -> None:
    table, file = str(make_table(tmp_path)), tmp_path / "file"
    file.write_text("mine")
    told = run(["export", "page", table, str(file / "x.html")])
    assert told.returncode in (1, 2)
    assert "Traceback" not in told.stderr
    assert "file" in told.stderr
    check_sentence(run(["demo"], ICEDIVE_HOME=str(file)), str(file), "ICEDIVE_HOME")
    check_sentence(run(["demo"], room=ROOM, ICEDIVE_HOME=str(tmp_path / "home")), str(tmp_path / "home"))
    assert file.read_text() == "mine"


def test_a_link_is_followed_and_rights_stay(tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_text("old")
    file.chmod(0o640)
    link.symlink_to(file)
    write_whole(link, "new")
    assert (file.read_text(), file.stat().st_mode & 0o777, link.is_symlink()) == ("new", 0o640, True)
    with pytest.raises(TypeError), whole_file(file) as part:
        part.write(b"half" + part)  # type: ignore[operator]
    assert file.read_text() == "new"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "link"]
    write_whole("/dev/null", b"nothing")
