"""What is imported only when it is used: libraries that take seconds, and that most commands do not need."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import grimp
import pytest

LARGE = {
    "IPython", "ipywidgets", "bokeh", "fastavro", "fsspec", "numpy", "pandas", "panel", "param", "polars", "pyarrow",
    "pydantic", "pyiceberg", "pyspark", "py4j", "rich", "sqlalchemy", "strictyaml", "tornado",
}  # fmt: skip
READS = {"fastavro", "numpy", "pandas", "polars", "pyarrow", "rich"}
"""What reading and printing a table takes. pandas is imported by pyarrow, where it is installed."""
ASK = (
    "import sys; sys.argv = ['icedive', *sys.argv[1:]]\n"
    "from explorer.cli import main\n"
    "try:\n    main()\n"
    "finally:\n    print(*sorted(m for m in sys.modules if '.' not in m), file=sys.stderr)"
)


def imported(*command: str) -> set[str]:
    """The large libraries that Python has imported after running `-c` and what follows."""
    done = subprocess.run([sys.executable, "-c", *command], capture_output=True, text=True)
    return LARGE.intersection(done.stderr.split())


def test_the_package_imports_none_of_them() -> None:
    assert imported("import sys, explorer; print(*sys.modules, file=sys.stderr)") == set()


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["plan", "--help"], ["doctor", "-h"]])
def test_help_imports_none_of_them(arguments: list[str]) -> None:
    assert imported(ASK, *arguments) == set()


@pytest.mark.parametrize("command", ["show", "snapshots", "metadata", "entries"])
def test_a_table_of_a_folder_needs_no_catalog(command: str, whole: Path) -> None:
    assert imported(ASK, command, str(whole)) <= READS


def test_names_are_found_when_they_are_used() -> None:
    code = (
        "import explorer, sys\n"
        "assert 'OpenTable' in dir(explorer) and 'numpy' not in sys.modules\n"
        "assert 'course' in dir(explorer) and 'SharedTable' in explorer.course.__all__\n"
        "assert explorer.OpenTable.__name__ == 'OpenTable' and explorer.OpenTable is vars(explorer)['OpenTable']\n"
        "try:\n    explorer.nothing\nexcept AttributeError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "module 'explorer' has no attribute 'nothing'\n"


def test_no_module_imports_itself_by_way_of_others() -> None:
    """Imports for type checkers count."""
    graph = grimp.build_graph("explorer", cache_dir=None)
    below = {m: graph.find_modules_directly_imported_by(m) for m in graph.modules}
    left = set(below)
    while free := {m for m in left if not below[m] & left}:
        left -= free
    assert left == set()
