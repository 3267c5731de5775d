"""What programs that look after a server ask it: whether it is well, and how much it does."""

from __future__ import annotations

import hmac
import json
import os
import sys
from collections.abc import Callable
from typing import Any

from tornado.web import RequestHandler

from explorer.serving.pools import Pool
from explorer.spark_engine.spark import shared_engine
from explorer.spark_engine.sql_guard import quotas

VARIABLE = "ICEDIVE_METRICS_TOKEN"
COUNTERS: list[Callable[[], int]] = []
"""What counts the pages that are open: a function for each kind of server."""


class HealthHandler(RequestHandler):
    """200 while pages are answered, and how Spark is: nothing of any table. Whoever reaches the port may ask."""

    def get(self) -> None:
        """As JSON."""
        engine = shared_engine()
        self.set_header("Content-Type", "application/json")
        self.finish(json.dumps({"status": "ok", "spark": "lost" if engine.is_lost else engine.state.phase}))

    head = get  # as some load balancers ask


class MetricsHandler(RequestHandler):
    """Numbers as Prometheus reads them, for who has the token of $ICEDIVE_METRICS_TOKEN; without one there
    are none."""

    def get(self) -> None:
        """As text."""
        token = os.environ.get(VARIABLE, "")
        given = self.request.headers.get("Authorization", "")
        if not token or not hmac.compare_digest(given.encode(), f"Bearer {token}".encode()):
            self.set_status(404)
            self.finish("There is no such page.")
            return
        self.set_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
        self.finish(metrics())


def metrics() -> str:
    """Sessions, questions under way and waiting, statements by outcome, Spark, memory."""
    samples: list[tuple[str, str, dict[str, str], float]] = [
        ("sessions", "gauge", {}, sum(count() for count in COUNTERS)),
        *(("questions_running", "gauge", {"pool": pool.name}, pool.counts()[0]) for pool in Pool.every),
        *(("questions_waiting", "gauge", {"pool": pool.name}, pool.counts()[1]) for pool in Pool.every),
        *(
            ("statements_total", "counter", {"kind": kind, "outcome": outcome}, number)
            for (kind, outcome), number in sorted(quotas.outcomes.items())
        ),
        ("spark_ready", "gauge", {}, float(shared_engine().state.phase == "ready" and not shared_engine().is_lost)),
        *((("resident_bytes", "gauge", {}, memory),) if (memory := _resident()) else ()),
    ]
    lines: list[str] = []
    for name, kind, labels, value in samples:
        if (head := f"# TYPE icedive_{name} {kind}") not in lines:
            lines.append(head)
        told = ",".join(f'{key}="{text}"' for key, text in labels.items())
        lines.append(f"icedive_{name}{{{told}}} {value:g}" if told else f"icedive_{name} {value:g}")
    return "\n".join(lines) + "\n"


def _resident() -> int:
    """Bytes of this process; 0 where the system does not say."""
    if not sys.platform.startswith("linux"):
        return 0
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


HANDLERS: dict[str, Any] = {"/health": HealthHandler, "/metrics": MetricsHandler}
