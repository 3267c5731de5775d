"""All questions, each defined once: Python, the command line, the page, notebooks and agents ask them from here."""

from explorer.questions import catalog, check, data, history, inspect, lab, maintain, readers, scan, storage, writers
from explorer.questions.registry import GROUPS, QUESTIONS, Parameter, Question

__all__ = [
    "GROUPS",
    "QUESTIONS",
    "Parameter",
    "Question",
    "catalog",
    "check",
    "data",
    "history",
    "inspect",
    "lab",
    "maintain",
    "readers",
    "scan",
    "storage",
    "writers",
]
