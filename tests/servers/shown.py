"""Everything that a person, a saved notebook or a log gets to see of a table, as text: to look for secrets in."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from explorer.app.answer_states import CompareState, DeletesState
from explorer.app.graph_state import GraphState, ViewState
from explorer.app.hosts.file import export
from explorer.app.hosts.notebook import TableWidget
from explorer.app.standalone import of_table
from explorer.cli import main
from explorer.errors import ExplorerError
from explorer.spark_engine import gateway
from explorer.spark_engine.read_queue import ReadSession
from tests.servers.page import on_the_page
from tests.support import direct


def on_screen(full: str) -> list[str]:
    """A table's exports, its graphs with each node chosen once, and what a notebook stores of it."""
    table = direct.open_table(full)
    states: list[GraphState] = [ViewState(table), CompareState(table, "snapshot-1", "main"), DeletesState(table, None)]
    shown = [json.dumps(TableWidget(table)._repr_mimebundle_()[0], default=str), json.dumps(of_table(table).data)]
    for state in states:
        shown += [export(state.graph, kind).decode() for kind in ("svg", "html", "dot", "json")]
        for node in [node.id for node in state.graph.nodes]:
            state.handle({"type": "select", "ids": [node]})
            shown.append(json.dumps(state.state()))
    assert full.rpartition(".")[2] in "".join(shown)
    return shown


def by_spark(reads: ReadSession) -> list[str]:
    """What Spark's pages show, whether they are served or not (settings, statements, plans, jobs), and Java's log."""
    spark: Any = reads.engine.session()
    sessions: list[Any] = [spark, reads.session()]
    shown = [repr(session.conf.getAll) for session in sessions] + [repr(spark.sparkContext.getConf().getAll())]
    shown += [str(spark._jsc.hadoopConfiguration()), str(spark._jvm.java.lang.System.getProperties())]
    entries = spark._jsc.hadoopConfiguration().iterator()
    while entries.hasNext():
        shown.append(str(entries.next()))
    for session in sessions:
        executions = session._jsparkSession.sharedState().statusStore().executionsList()
        for i in range(executions.size()):
            one = executions.apply(i)
            shown += [str(one.description()), str(one.details()), str(one.physicalPlanDescription())]
            shown.append(str(one.modifiedConfigs()))
    status = spark._jsc.sc().statusStore()
    shown.append(str(status.environmentInfo()))
    jobs = status.jobsList(None)
    shown += [f"{jobs.apply(i).name()} {jobs.apply(i).description()}" for i in range(jobs.size())]
    log = Path(f"/proc/{gateway.pid()}/fd/1")
    shown.append(log.read_bytes().decode(errors="replace") if log.exists() else "")
    return shown


def when_refused(full: str, reads: ReadSession, refuse: Callable[[], None], page: bool) -> list[str]:
    """What is said where the store refuses everything, and says in its answer what it was asked with: once a table is
    open `refuse` is called; `page` says whether the page is looked at too."""
    table = direct.open_table(full)
    shown = on_the_page(full, reads, refuse) if page else []
    assert not page or "PermissionDenied" in "".join(shown)
    refuse()
    with pytest.raises(ExplorerError) as unread:
        table.rows(session=reads)
    shown += traceback.format_exception(unread.value)
    table.files("snapshot-1")
    shown += [str(problem) for problem in table.problems]
    assert table.problems
    for command in ("show", "inspect entries"):
        for output in ("text", "json"):
            result = CliRunner().invoke(main, [*command.split(), full, "--output", output])
            assert result.exit_code != 0
            shown.append(result.output)
    return shown
