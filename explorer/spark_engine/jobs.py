"""What one question has Spark do: under its name, beside others' jobs, watched and cancelled."""

from __future__ import annotations

import contextlib
import itertools
import threading
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from explorer.progress import Cancelled, Watch, listener
from explorer.spark_engine import workers
from explorer.spark_engine.java_names import java_names

if TYPE_CHECKING:
    from pyspark import SparkContext

LOCAL = ("spark.jobGroup.id", "spark.job.description", "spark.scheduler.pool", "spark.job.interruptOnCancel")
"""What a question says of the jobs of its thread."""
POOLS = 16
"""Spark's pools share its cores evenly, and are never forgotten: so many serve all questions in turn."""
LOOK_S = 0.25
"""How often who waits is told how far Spark is."""
_numbers = itertools.count()


def share_fairly(context: SparkContext) -> None:
    """What this thread has Spark do from now on shares its cores with what others do, instead of waiting for it (with
    `spark.scheduler.mode` FAIR)."""
    context.setLocalProperty("spark.scheduler.pool", f"questions-{next(_numbers) % POOLS}")


@contextlib.contextmanager
def question(context: SparkContext, name: str) -> Iterator[None]:
    """What this thread has Spark do in the block is one question's, called so on Spark's pages. Who waits for it is
    told of its tasks, and may cancel them. Raises EngineError and StatementFailed, which name the worker that failed,
    and Cancelled."""
    group, watch, over = f"icedive-{uuid.uuid4().hex[:12]}", listener(), threading.Event()
    before: dict[str, str | None] = {}
    try:
        before = {key: context.getLocalProperty(key) for key in LOCAL}
        context.setJobGroup(group, name, interruptOnCancel=True)
        share_fairly(context)
        if watch is not None:
            threading.Thread(target=_look_after, args=(context, group, watch, over), daemon=True).start()
        yield
    except Exception as error:  # Spark, py4j and the network raise many kinds
        if watch is not None and watch.cancelled:
            raise Cancelled("cancelled") from error
        raise workers.failure(error, name) from error
    finally:
        over.set()
        with contextlib.suppress(Exception):  # Spark was lost
            for key, value in before.items():
                context.setLocalProperty(key, value)  # type: ignore[arg-type]


def _look_after(context: SparkContext, group: str, watch: Watch, over: threading.Event) -> None:
    with contextlib.suppress(Exception):  # Spark is being lost: the question itself will say so
        while not over.wait(LOOK_S):
            if watch.cancelled:
                context.cancelJobGroup(group)
            watch.tell(*tasks(context.statusTracker(), group), "tasks")


def tasks(tracker: Any, group: str) -> tuple[int, int]:
    """How many tasks of a group of jobs are done, and how many there are."""
    done = total = 0
    for job in tracker.getJobIdsForGroup(group):
        info = tracker.getJobInfo(job)
        for stage in info.stageIds if info else ():
            if running := tracker.getStageInfo(stage):
                done, total = done + running.numCompletedTasks, total + running.numTasks
    return done, total


def have_threads(context: Any, group: str) -> bool:
    """Whether a task of a job group has a thread in this Java, also when it was cancelled: what computes and looks at
    nothing else goes on."""
    tracker = context.statusTracker()
    stages = [stage for job in tracker.getJobIdsForGroup(group) for stage in tracker.getJobInfo(job).stageIds]
    names = [str(thread.getName()) for thread in java_names(context._jvm).java.lang.Thread.getAllStackTraces().keySet()]
    return any(f" in stage {stage}." in name for stage in stages for name in names)
