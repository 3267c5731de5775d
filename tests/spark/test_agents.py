"""Agents read rows through Spark, which their server starts."""

from __future__ import annotations

from pathlib import Path

import psutil

from tests.support.agent import DEMO, Agent, over_stdio


def test_an_agent_reads_rows(sandbox: Path) -> None:
    """Java takes nothing of what the agent says, and ends with the server."""
    children: list[psutil.Process] = []

    async def read(agent: Agent) -> None:
        data = await agent.ask("rows", table=f"{DEMO}three_inserts", where="fruit > 'b'", provenance=True)
        (rows,) = (part["items"] for part in data["parts"] if part["kind"] == "rows")
        assert sorted(row["fruit"] for row in rows) == ["banana", "cherry"]
        assert all(any(value.endswith(".parquet") for value in row.values()) for row in rows)
        children.extend(psutil.Process(agent.pid).children(recursive=True))
        assert any("java" in child.name() for child in children)
        again = await agent.ask("count", table=f"{DEMO}three_inserts")
        assert again["parts"]

    over_stdio(read)
    _, alive = psutil.wait_procs(children, timeout=60)
    assert not alive
