"""A process and its decoder processes in which polars cannot be imported."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from explorer.storage import polars_decoder
from explorer.storage.decoder_process import client, panics

MISSING = "raise ModuleNotFoundError(\"No module named 'polars'\", name='polars')\n"


def hide_polars(folder: Path) -> str:
    """Write what stands for polars, and give the folder that must be the first of sys.path."""
    (folder / "hidden").mkdir()
    (folder / "hidden" / "polars.py").write_text(MISSING)
    return str(folder / "hidden")


@contextmanager
def without_polars(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Decode as where there is no polars; children are new ones, and end."""
    with monkeypatch.context() as patched:
        patched.syspath_prepend(hide_polars(folder))
        patched.setattr(polars_decoder, "module", lambda: None)
        patched.setattr(panics, "_seen", [])
        patched.setattr(client, "_idle", [])
        try:
            yield
        finally:
            for worker in client._idle:
                worker.kill()
