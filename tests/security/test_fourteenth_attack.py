"""What an attack on the notebook, Panel's pages, exported files and the shell found: each hole, and others alike."""

from __future__ import annotations

import json
import os
import queue
import random
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.shell_completion import BashComplete

from explorer.app import kept_tables, session
from explorer.app.hosts.component import ExplorerComponent
from explorer.app.rights import Rights
from explorer.app.session import Session
from explorer.cli import main
from explorer.serving import open_pages
from explorer.serving.open_pages import OpenPages, visitor_at
from explorer.storage import limits
from explorer.storage.formats import json_text
from explorer.storage.python_children import module_command
from explorer.table import open_table
from tests.security.dimensions import base
from tests.support.small_tables import edit_metadata

PLANTED = """
import importlib.util, os, sysconfig
open({marker!r}, "w").close()
real = importlib.util.spec_from_file_location("random", sysconfig.get_path("stdlib") + "/random.py")
module = importlib.util.module_from_spec(real)
real.loader.exec_module(module)
globals().update(vars(module))
"""


# -- the working folder -----------------------------------------------------------------------------------------------
@pytest.fixture
def strange_folder(tmp_path: Path) -> Path:
    """A table whose author put a module of Python's own name beside its metadata; it tells when it is imported."""
    base(tmp_path / "t").write()
    (tmp_path / "t" / "random.py").write_text(PLANTED.format(marker=str(tmp_path / "imported")))
    return tmp_path / "t"


@pytest.mark.parametrize("module", ["explorer.lab.race_workers", "jupyterlab"])
def test_a_child_imports_nothing_from_the_working_folder(module: str, strange_folder: Path) -> None:
    """Whoever began a race or the course in the folder of a table ran what its author had put there."""
    marker = strange_folder.parent / "imported"
    options = ["--version"] if module == "jupyterlab" else []

    def run(command: list[str]) -> None:  # a writer of a race ends all of its session when nobody waits for it
        subprocess.run(
            [*command, *options], cwd=strange_folder, capture_output=True, timeout=120, start_new_session=True
        )

    run(module_command(module))
    assert not marker.exists()
    run([sys.executable, "-m", module])
    assert marker.exists()  # as it was


@pytest.mark.usefixtures("engine")
def test_sparks_workers_import_nothing_from_the_working_folder(strange_folder: Path) -> None:
    command = [sys.executable, "-c", "from explorer.cli import main; main()", "doctor", ".", "--engine", "spark"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "PYTHONSAFEPATH": ""}
    code = "import sys; sys.path.remove(''); " + command[2]
    done = subprocess.run(
        [sys.executable, "-c", code, *command[3:]],
        cwd=strange_folder,
        env=environment,
        capture_output=True,
        timeout=300,
    )
    assert done.returncode in (0, 5, 6), done.stderr.decode()[-2000:]
    assert not (strange_folder.parent / "imported").exists()


# -- the shell --------------------------------------------------------------------------------------------------------
def test_no_name_is_offered_that_a_shell_would_run(tmp_path: Path) -> None:
    """TAB put `release$(…)` into the command line of bash, and ENTER ran it."""
    base(tmp_path / "t").write()
    names = [
        "r$(id)",
        "r`id`",
        "r;id",
        "r id",
        "r|id",
        "r&id",
        "r>x",
        "r'",
        'r"',
        "r\\",
        "r{a,b}",
        "r*",
        "r!1",
        "r\nid",
    ]
    edit_metadata(
        tmp_path / "t",
        lambda data: data["refs"].update(
            {name: {"snapshot-id": 101, "type": "branch"} for name in [*names, "--help", "release-1.2/é"]}
        ),
    )
    completion = BashComplete(main, {}, "icedive", "_ICEDIVE_COMPLETE")  # type: ignore[arg-type]

    def offered(begun: str) -> list[str]:
        return [item.value for item in completion.get_completions(["diff", str(tmp_path / "t")], begun)]

    assert offered("r") == ["release-1.2/é"]
    assert offered("") == ["main", "release-1.2/é", "snapshot-1", "snapshot-2", "snapshot-3"]


# -- one long text ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("escape", [b"\\n", b"\\u00e9", b'\\"', b"\\\\", b"x"])
def test_others_run_while_a_long_string_is_looked_through(escape: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """One expression went through all of it, 29 s for 100 MB of escapes, and no click was answered meanwhile."""
    looks: list[None] = []
    monkeypatch.setattr(json_text, "check_cancellation", lambda: looks.append(None))
    text = b'{"a": "' + b"[" + escape * (json_text.PIECE // len(escape)) * 20 + b'x", "b": [[]]}'
    assert json_text.nesting(text) == 3
    # what is escaped by itself is one run, which no other thread could look into
    assert len(looks) >= (20 if escape != b"\\\\" else 1)


@pytest.mark.parametrize("piece", [1, 2, 3, 7, 64])
def test_the_nesting_of_pieces_is_that_of_the_whole(piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_text, "PIECE", piece)
    chosen = random.Random(piece)
    for _ in range(500):
        parts = ["", 'a"', "\\", "[", '\\"{', "]\\n", {'k["': ["x\\"]}, [[]], 1]
        value = [chosen.choice(parts) for _ in range(chosen.randrange(6))]
        assert json_text.nesting(json.dumps(value).encode()) == _depth(value)


def _depth(value: Any) -> int:
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inside is None else 1 + max(map(_depth, inside), default=0)


# -- visitors and their pages -----------------------------------------------------------------------------------------
def test_all_addresses_of_a_network_are_one_visitor() -> None:
    """Of IPv6 somebody has 2**64 addresses, and each could open as many pages as a visitor may."""
    assert visitor_at("2001:db8:1:2::1") == visitor_at("2001:db8:1:2:ffff::9") != visitor_at("2001:db8:1:3::1")
    assert visitor_at("::ffff:192.0.2.1") == visitor_at("192.0.2.1") == "192.0.2.1"
    assert visitor_at(None) == ""


def test_nobody_keeps_others_out_by_opening_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three addresses had all pages of a server open, and nobody else came in."""
    monkeypatch.setattr(open_pages, "MOST_OPEN", 6)
    monkeypatch.setattr(open_pages, "MOST_TOGETHER", 10)
    pages, ended = OpenPages(), list[str]()

    def opens(visitor: str, number: int) -> bool:
        return pages.add(visitor, partial(ended.append, f"{visitor}{number}"))

    assert [opens("a", number) for number in range(7)] == [True] * 6 + [False]
    assert [opens("b", number) for number in range(4)] == [True] * 4
    assert opens("c", 0)
    assert opens("c", 1)
    assert ended == ["a0", "a1"]
    assert len(pages) == 10
    assert not opens("a", 7)  # whose page ended comes in for no page of others
    assert opens("d", 0)
    assert len(ended) == 3
    assert "c0" not in ended


class Heard(ExplorerComponent):
    """Panel's component, and what it sends."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[Any] = []

    def send(self, data: Any) -> None:
        self.sent.append(data)


def test_one_message_of_a_page_of_panels_is_not_answered_by_gigabytes() -> None:
    """180 KB asked 3,900 times for the app, of 200 KB: 800 MB."""
    component = Heard()
    for first in range(0, 4_000, 1_000):
        component.outbox = [{"number": first + n, "view": f"v{n % 500}", "wants": "app"} for n in range(1, 1_001)]
    assert 1 <= sum("app" in message for message in component.sent) <= 10
    component.outbox = [{"number": 1, "view": f"{n}{'x' * 1_000}", "wants": "app"} for n in range(1_000)]
    component.outbox = [{"number": 1, "view": f"w{n}"} for n in range(150)]
    assert len(component._taken) <= 100
    assert all(len(view) <= 40 for view in component._taken)


def test_the_sessions_of_a_component_are_of_one_visitor() -> None:
    """Each view has one; without a visitor, eight views took all threads that open tables, and nobody else's opened."""
    component = Heard()
    views = [component._begin(lambda _: None) for _ in range(2)]
    assert views[0]._visitor == views[1]._visitor != ""
    assert Heard()._begin(lambda _: None)._visitor != views[0]._visitor


# -- what pages keep --------------------------------------------------------------------------------------------------
class Asker:
    """A page of a visitor."""

    def __init__(self, visitor: str) -> None:
        self.answers: queue.Queue[dict[str, Any]] = queue.Queue()
        self.session = Session(lambda text: self.answers.put(json.loads(text)), Rights(), visitor=visitor)
        self._number = 0

    def ask(self, **message: Any) -> dict[str, Any]:
        self._number += 1
        self.session.handle(json.dumps({"id": self._number, **message}))
        while (answer := self.answers.get(timeout=60))["type"] == "progress":
            pass
        return answer


def test_the_tables_of_all_pages_together_have_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of six pages of one visitor kept 350 MiB of a table of 1.9 MB, and of its other tables as much."""
    base(tmp_path / "t").write()
    place = str(tmp_path / "t")
    size = kept_tables.ANSWERS * open_table(place).metadata.memory
    assert size > 2 * 1_000
    kept = kept_tables.KeptTables()
    monkeypatch.setattr(session, "KEPT_TABLES", kept)
    monkeypatch.setattr(limits, "share", lambda part: 7 * size // part)
    askers = [Asker("one") for _ in range(5)]
    for asker in askers:
        assert asker.ask(type="open", table=place)["type"] == "answer"
        assert asker.ask(type="ask", question="overview", table=place)["type"] == "answer"
        assert asker.ask(type="graph", table=place)["type"] == "answer"
    assert [len(asker.session._tables) for asker in askers] == [0, 0, 1, 1, 1]
    assert [len(asker.session._answers) for asker in askers] == [0, 0, 1, 1, 1]
    assert [len(asker.session._graphs) for asker in askers] == [0, 0, 1, 1, 1]
    assert askers[0].ask(type="ask", question="overview", table=place)["type"] == "answer"  # which opens it again
    assert [len(asker.session._tables) for asker in askers] == [1, 0, 0, 1, 1]
    others = [Asker(f"other {number}") for number in range(4)]
    for asker in others:
        assert asker.ask(type="open", table=place)["type"] == "answer"
    assert kept.sizes() == {"one": 3 * size, **{f"other {number}": size for number in range(4)}}
    late = Asker("late")
    assert late.ask(type="open", table=place)["type"] == "answer"
    assert kept.sizes() == {"one": 2 * size, **{f"other {number}": size for number in range(4)}, "late": size}
    for asker in (*askers, *others, late):
        asker.session.close()
    assert not kept.sizes()


# -- a terminal without the command line ------------------------------------------------------------------------------
TITLE = "\x1b]0;ours\x07\u202e"


def test_what_python_prints_commands_no_terminal(tmp_path: Path) -> None:
    """A traceback, a warning and the text of a table set the title of the terminal that they stood in."""
    folder = tmp_path / f"t{TITLE}"
    table = base(folder)
    table.md["schemas"][-1]["fields"][1]["name"] = f"v{TITLE}"
    table.md["snapshots"][0]["manifest-list"] = f"{table.location}/metadata/lost{TITLE}.avro"
    table.write()
    (folder / "metadata" / f"00009-{TITLE}.metadata.json").write_text("{")
    code = (
        "import sys, traceback, warnings, explorer\n"
        "table = explorer.open_table(sys.argv[1])\n"
        "print(repr(table)); print(table.engine._repr_mimebundle_()['text/plain'])\n"
        "for ask in (lambda: table.plan('other = 1'), lambda: table.diff(101, 103), table.history.lifecycle):\n"
        "    try: print(repr(ask()))\n"
        "    except Exception: traceback.print_exc()\n"
        "warnings.warn(explorer.errors.IncompleteAnswer(sys.argv[2]))\n"
    )
    command = [sys.executable, "-c", code, str(folder), f"lost{TITLE}"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(command, env=environment, capture_output=True, timeout=120, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    said = done.stdout + done.stderr
    for what in ("FilterError", "NotFoundInTable", "UnreadableFile", "IncompleteAnswer", "metadata-3"):
        assert what in said
    assert not [sign for sign in said if not sign.isprintable() and sign != "\n"]
