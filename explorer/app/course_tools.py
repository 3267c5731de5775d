"""What the notebooks of the course use of the lab, for one line of import."""

from __future__ import annotations

from explorer.lab.exercises import doctor as sick
from explorer.lab.exercises.course import read_run
from explorer.lab.exercises.exercise import shared_bench
from explorer.lab.hive_tables import AnalyzedTable, FolderTable, HiveFolder
from explorer.lab.interleave import outcome, serial_rows
from explorer.lab.listing import FarTable
from explorer.lab.stepper import Run, replay
from explorer.questions import lab
from explorer.spec.commits.operations import CLASSES, KINDS, PROTECTS, Operation

__all__ = [
    "CLASSES", "KINDS", "PROTECTS", "AnalyzedTable", "FarTable", "FolderTable", "HiveFolder", "Operation", "Run", "lab",
    "outcome", "read_run", "replay", "serial_rows", "shared_bench", "sick",
]  # fmt: skip
