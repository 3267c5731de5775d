"""What Spark, Java or py4j raised, in a sentence that a person can act on."""

from __future__ import annotations

import re
from collections.abc import Iterator

from explorer.errors import MENDED_BY, MISSING, EngineError, ExplorerError, StatementFailed
from explorer.spark_engine import gateway

LOST = "Spark was lost: its Java process has ended. Restart it to go on"
_WORD, _SCHEME = re.compile(r"[^\s'\",]+"), re.compile(r"[a-z][a-z0-9+.-]{0,19}\Z")
_ENDS = (".parquet", ".avro", ".orc", ".puffin", ".metadata.json")


def failure(error: Exception, lost: bool, what: str = "") -> ExplorerError:
    """The error to raise for what Spark or py4j raised while `what` was done: an EngineError when Spark was lost."""
    reason = explain(error, lost)
    return EngineError(reason) if reason == LOST else StatementFailed(f"{what}: {reason}" if what else reason)


def explain(error: Exception, lost: bool) -> str:
    """What went wrong in a sentence: which file, and why."""
    text, kind = str(error), type(error).__name__
    broken = kind == "Py4JError" or isinstance(error, (OSError, EOFError))  # Java may be about to end
    if lost or kind in ("Py4JNetworkError", "ConnectionRefusedError") or (broken and gateway.has_ended(1.0)):
        return LOST
    if kind in ("AnalysisException", "ParseException"):
        return " ".join(text.strip().splitlines()[0].split())[:700]
    files = list(_files(text))
    if files and re.search(r"(FileNotFoundException|NotFoundException|does not exist|FILE_NOT_EXIST)", text):
        return f"{files[0]}: {MISSING}{MENDED_BY}"
    if kind == "PythonException":  # what a worker's Python raised ends its traceback
        lines = [
            line for line in re.split(r"\n[ \t]*(?:JVM stacktrace|at )", text)[0].splitlines() if re.match(r"\w", line)
        ]
        return lines[-1][:700] if lines else kind
    causes = re.findall(r"^(?:: |Caused by: )?[\w.$]+(?:Exception|Error): (.+)$", text, re.MULTILINE)
    cause = (causes[-1] if causes else text.strip().splitlines()[0] if text.strip() else kind).strip()
    return f"{files[0]}: {cause[:600]}" if files and files[0] not in cause else cause[:700]


def _files(text: str) -> Iterator[str]:
    """The files that a text names. (One pattern for all of it takes minutes for a stranger's path of a thousand
    slashes.)"""
    for word in _WORD.findall(text):
        end = max(word.rfind(ending) + len(ending) if ending in word else 0 for ending in _ENDS)
        before, slash, after = word[:end].partition("/")
        if slash:
            *others, first = before.split(":")
            scheme = _SCHEME.search(others[-1][-20:]) if others else None
            yield f"{scheme[0]}:{first}/{after}" if scheme else f"{first}/{after}"
