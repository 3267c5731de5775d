"""Work that would hold up the page goes to a thread; the page looks for its end."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any

import panel as pn

from explorer.engines.reads import explain
from explorer.engines.spark import shared_engine
from explorer.errors import ExplorerError


def in_background(
    pool: Executor,
    work: Callable[[], Any],
    done: Callable[[Any], None],
    failed: Callable[[str], None],
    ended: Callable[[], None] = lambda: None,
    waiting: Callable[[], None] = lambda: None,
    period: int = 200,
) -> None:
    """Carry out `work` on a thread of the pool; `waiting()` is called each `period` ms until it is over, then
    `ended()`, and `done(result)` or `failed(words)`, all on the page's own thread."""
    future = pool.submit(work)

    def look() -> None:
        if not future.done():
            waiting()
            return
        ticking.stop()
        ended()
        try:
            result = future.result()
        except ExplorerError as error:
            failed(str(error))
            return
        except Exception as error:  # nobody else would tell the person
            logging.getLogger(__name__).exception("work in the background failed")
            failed(explain(error, shared_engine().lost))
            return
        done(result)

    ticking = pn.state.add_periodic_callback(look, period=period)
