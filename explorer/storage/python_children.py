"""Children that are Python and run a module. By `python -m` they would import from the working folder before all
others: somebody may stand in the folder of a table, and whoever wrote the table may have put a `random.py` there."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

_RUN = (
    "import sys; sys.path[:] = [folder for folder in sys.path if folder]; import runpy; "
    "runpy.run_module(sys.argv.pop(1), run_name='__main__', alter_sys=True)"
)
SAFE = {"PYTHONSAFEPATH": "1"}
"""What keeps Python 3.11 and later from it, and all that they start: for children whose command others make."""
HAS_SAFE = sys.version_info >= (3, 11)
"""Whether it does in children of this Python."""
KILLED = tuple(-int(getattr(signal, name)) for name in ("SIGKILL", "SIGXCPU") if hasattr(signal, name))
"""What ends a child that took too much of the processor's time."""


def module_command(module: str) -> list[str]:
    """Return the command that runs a module, to which its arguments are added.

    Args:
        module: Its name.
    """
    return [sys.executable, "-c", _RUN, module]


# The package's __init__ would load Spark and Panel.
_BARE = """import sys, types
folder, module, *sys.path[:] = sys.argv[1:]
package = types.ModuleType("explorer")
package.__path__ = [folder]
sys.modules["explorer"] = package
import runpy
runpy.run_module(module, run_name="__main__", alter_sys=True)"""


def bare_command(module: str) -> list[str]:
    """Return the command that runs a module of ours without loading what the package loads, and without Python's
    variables of the environment.

    Args:
        module: Its name.
    """
    folder = str(Path(__file__).parents[1])
    return [sys.executable, "-I", "-c", _BARE, folder, module, *filter(None, sys.path)]
