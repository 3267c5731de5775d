"""Children that are Python and run a module. By `python -m` they would import from the working folder before all
others: somebody may stand in the folder of a table, and whoever wrote the table may have put a `random.py` there."""

from __future__ import annotations

import sys

_RUN = (
    "import sys; sys.path[:] = [folder for folder in sys.path if folder]; import runpy; "
    "runpy.run_module(sys.argv.pop(1), run_name='__main__', alter_sys=True)"
)
SAFE = {"PYTHONSAFEPATH": "1"}
"""What keeps Python 3.11 and later from it, and all that they start: for children whose command others make."""
HAS_SAFE = sys.version_info >= (3, 11)
"""Whether it does in children of this Python."""


def module_command(module: str) -> list[str]:
    """Return the command that runs a module, to which its arguments are added.

    Args:
        module: Its name.
    """
    return [sys.executable, "-c", _RUN, module]
