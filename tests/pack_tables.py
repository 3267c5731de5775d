"""Builds the teaching tables by real commits of Spark in a folder of its own, and packs them into the package."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from explorer.storage.data_dirs import HOME_VARIABLE, sandbox_home


def main() -> None:
    from explorer.lab.scenarios import SCENARIOS, build_all
    from explorer.lab.scenarios.packed import FOLDER, pack
    from explorer.spark_engine.spark import SparkEngine

    with tempfile.TemporaryDirectory() as home:
        os.environ[HOME_VARIABLE] = home
        engine = SparkEngine()
        build_all(engine, SCENARIOS, lambda name, done, of: print(f"{done} of {of} {name}", flush=True))
        engine.stop()
        for old in FOLDER.glob("*.tar.zst"):
            old.unlink()
        pack(sandbox_home(), [s.name for s in SCENARIOS])
    size = sum(file.stat().st_size for file in Path(FOLDER).iterdir())
    print(f"{len(SCENARIOS)} tables in {size:,} bytes")


if __name__ == "__main__":
    main()
