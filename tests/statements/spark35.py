"""What Spark 3.5 with Iceberg 1.12 accepts of the statements that we print.

CALL is parsed there by Iceberg's own grammar (IcebergSqlExtensions.g4), whose arguments are constants, `map(...)`
and `array(...)` of constants, and nothing else. `parser35.py` asks the real parser;
test_statements.py compares."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from explorer.spark_engine.sql_guard.sql_allowlist import PROCEDURES

PARAMETERS: Mapping[str, tuple[str, ...]] = {
    **{name: parameters for name, parameters in PROCEDURES.items() if name != "ancestors_of"},  # which is not printed
    "add_files": ("table", "source_table", "partition_filter", "check_duplicate_files", "parallelism"),
    "register_table": ("table", "metadata_file"),
}
"""By procedure: its parameters in order, as Iceberg 1.12 for Spark 3.5 names them."""
STRING = r"'(?:[^'\\]|\\.)*'"
PART = r"(?:`(?:[^`]|``)+`|[A-Za-z0-9_]+)"
NAME = rf"{PART}(?:\.{PART})*"
NUMBER = r"-?(?:[0-9]+(?:L|S|Y|BD|D|F)?|[0-9]*\.[0-9]+(?:E[+-]?[0-9]+)?(?:BD|D|F)?)"
TYPED = rf"(?:DATE|TIMESTAMP|TIMESTAMP_NTZ|TIMESTAMP_LTZ|X|INTERVAL)\s*{STRING}"
CONSTANT = rf"(?:{TYPED}|{STRING}(?:\s+{STRING})*|{NUMBER}|TRUE|FALSE)"
SEVERAL = rf"(?:MAP|ARRAY)\s*\(\s*{CONSTANT}(?:\s*,\s*{CONSTANT})*\s*\)"
ARGUMENT = rf"(?:({PART})\s*=>\s*)?({SEVERAL}|{CONSTANT})"
CALL = re.compile(rf"CALL\s+({NAME})\s*\((.*)\)", re.DOTALL | re.IGNORECASE)
ONE = re.compile(rf"\s*{ARGUMENT}\s*(,|$)", re.IGNORECASE)
TEST = rf"{PART} (?:=|>=|<=) (?:(?:DATE )?{STRING}|-?[0-9]+)"
OTHERS = re.compile(
    rf"(?:ALTER TABLE {NAME} (?:(?:CREATE (?:BRANCH|TAG) {PART} AS OF VERSION -?[0-9]+)|(?:DROP (?:BRANCH|TAG) {PART})"
    rf"|(?:SET TBLPROPERTIES \({STRING} = {STRING}\))|(?:UNSET TBLPROPERTIES \({STRING}\))"
    rf"|(?:ALTER COLUMN {NAME} DROP NOT NULL)|(?:DROP PARTITION FIELD {PART}))"
    rf"|INSERT OVERWRITE {NAME} SELECT (?:DISTINCT )?\* FROM {NAME}"
    rf"|DELETE FROM {NAME} WHERE {TEST}(?: AND {TEST})*"
    rf"|UPDATE {NAME} SET {PART} = NULL WHERE {PART} = {STRING})",
    re.DOTALL,
)


def fault(statement: str) -> str:
    """Return why Spark 3.5 would refuse a statement; empty where it would parse and resolve it.

    Args:
        statement: As it is printed.
    """
    call = CALL.fullmatch(statement)
    if call is None:
        return "" if OTHERS.fullmatch(statement) else "no statement that is printed has this form"
    *catalog, system, procedure = (part.strip("`") for part in re.findall(PART, call[1]))
    if not catalog or system != "system":
        return f"{call[1]} is no catalog.system.procedure"
    if procedure not in PARAMETERS:
        return f"there is no procedure {procedure}"
    try:
        names = list(_argument_names(call[2]))
    except ValueError as error:
        return str(error)
    return _misfit(names, PARAMETERS[procedure])


def _argument_names(arguments: str) -> Iterator[str]:
    """The name of each argument; empty for one without. Raises ValueError where it does not parse."""
    at = 0
    while at < len(arguments) or arguments[:at].rstrip().endswith(","):
        found = ONE.match(arguments, at)
        if found is None:
            raise ValueError(f"an argument is no constant, map or array of constants: {arguments[at:]}")
        value = found[2]
        if value[:3].upper() == "MAP" and len(re.findall(CONSTANT, value[3:], re.IGNORECASE)) % 2:
            raise ValueError(f"a map has a key without a value: {value}")
        yield (found[1] or "").strip("`")
        at = found.end()


def _misfit(names: list[str], parameters: tuple[str, ...]) -> str:
    """Why arguments of these names do not fit the parameters of a procedure; empty where they do."""
    named = [name for name in names if name]
    if named and len(named) < len(names):
        return "arguments with a name are mixed with others"
    if len(set(named)) < len(named):
        return "an argument is given twice"
    if unknown := set(named) - set(parameters):
        return f"there is no parameter {', '.join(sorted(unknown))}"
    if not named and len(names) > len(parameters):
        return "there are too many arguments"
    return "" if "table" in named or (names and not named) else "the table is not given"
