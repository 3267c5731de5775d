"""What the notebooks of the course use of the lab, as `explorer.course`."""

from __future__ import annotations

from explorer.lab.engines import SharedTable
from explorer.lab.exercises import doctor as sick
from explorer.lab.exercises.course import read_run
from explorer.lab.exercises.exercise import shared_bench
from explorer.lab.exercises.layout_costs import points_table
from explorer.lab.exercises.tree import folder_files
from explorer.lab.hive_tables import AnalyzedTable, FolderTable, HiveFolder
from explorer.lab.interleave import outcome, serial_rows
from explorer.lab.listing import FarTable
from explorer.lab.stepper import Run, replay
from explorer.questions import lab
from explorer.spec.commits.operations import CLASSES, KINDS, PROTECTS, Operation

__all__ = [
    "CLASSES", "KINDS", "PROTECTS", "AnalyzedTable", "FarTable", "FolderTable", "HiveFolder", "Operation", "Run",
    "SharedTable", "folder_files", "lab", "outcome", "points_table", "read_run", "replay", "serial_rows",
    "shared_bench", "sick",
]  # fmt: skip
