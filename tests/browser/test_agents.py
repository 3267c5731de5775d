"""An answer of an agent links to the page, where a person sees the same."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Browser, expect

from tests.support.agent import DEMO, Agent, served


def test_a_link_of_an_answer_shows_the_same_on_the_page(sandbox: Path, browser: Browser) -> None:
    links: list[str] = []

    async def ask(agent: Agent) -> None:
        data = await agent.ask("plan", table=f"{DEMO}sorted_files", where="name = 'jack'")
        assert "The scan reads 1 of 4 data files" in data["parts"][0]["items"][0]
        links.append(data["page"])

    with served() as server:
        server.run(ask)
        context = browser.new_context()
        page = context.new_page()
        page.goto(links[0])  # without the cookie of this start
        expect(page.get_by_text("open the URL, with its token")).to_be_visible()
        page.goto(server.page)
        page.goto(links[0])
        expect(page.get_by_text(re.compile(r"The scan reads 1 of 4 data files")).first).to_be_visible()
        context.close()
