"""Every test, in two processes at once: one run keeps two cores half busy, since it mostly waits for Java or a browser.

    python -m tests.halves [PYTEST OPTIONS]

One half is what asks Spark, the other all the rest; each has a sandbox of its own. Tests marked `alone` measure time,
and wait until the other half is done. Lines are printed as they come, with the half's name; the exit code is 1 when
either fails."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

ROOT = Path(__file__).parents[1]
SPARK = ("tests/spark", "tests/security/test_sql.py", "tests/security/test_before_spark.py", "tests/notebooks")
OTHER_HALF = "ICEBERG_EXPLORER_OTHER_HALF"
"""Names the file that says that the other half is done."""


def main() -> int:
    halves = {"spark": list(SPARK), "rest": ["tests", *(f"--ignore={path}" for path in SPARK)]}
    with tempfile.TemporaryDirectory() as folder:
        done = {name: Path(folder) / f"{name}-is-done" for name in halves}
        codes: dict[str, int] = {}

        def run(name: str, other: str) -> None:
            command = [sys.executable, "-u", "-m", "pytest", "-p", "no:cacheprovider", *halves[name], *sys.argv[1:]]
            environment = {**os.environ, OTHER_HALF: str(done[other])}
            with subprocess.Popen(
                command, cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
            ) as half:
                assert half.stdout
                for line in half.stdout:
                    print(f"{name:<5} {line}", end="", flush=True)
            codes[name] = half.returncode
            done[name].touch()

        threads = [threading.Thread(target=run, args=pair) for pair in (("spark", "rest"), ("rest", "spark"))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for name, code in codes.items():
        print(f"{name}: {'passed' if code == 0 else f'failed (pytest exit code {code})'}")
    return int(any(codes.values()))


if __name__ == "__main__":
    sys.exit(main())
