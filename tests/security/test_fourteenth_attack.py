"""What an attack on the notebook, Panel's pages, exported files and the shell found: each hole, and others of its kind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import BashComplete

from explorer.cli import main
from explorer.storage.python_children import module_command
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
    options = [] if module != "jupyterlab" else ["--version"]
    subprocess.run([*module_command(module), *options], cwd=strange_folder, capture_output=True, timeout=120)
    assert not marker.exists()
    subprocess.run([sys.executable, "-m", module, *options], cwd=strange_folder, capture_output=True, timeout=120)
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
