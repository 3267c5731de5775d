"""How text is shown: in colour, by pages, in wide tables, with times in a zone; and how far work is.

The options stand before or after the name of a command; the later one counts."""

from __future__ import annotations

import datetime
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any, TextIO

import click

from explorer.progress import Watch, listener

WIDTH = 220
"""Columns of text that goes to no terminal."""
COLORS: dict[str, bool | None] = {"auto": None, "always": True, "never": False}
HUES = {
    "+": "green", "ADDED": "green", "ok": "green", "−": "red", "-": "red", "DELETED": "red", "error": "red",
    "fatal": "red", "icedive": "red", "!!": "red", "⚠": "yellow", "warning": "yellow", "incomplete": "yellow",
    "∅": "yellow", "x": "yellow", "=": "bright_black", "EXISTING": "bright_black",
}  # fmt: skip
"""Colours of statuses (see graph.vocabulary), levels and problems."""
COLORED = re.compile(
    r"(?:^[│ ]*[├└]─ |^)(?P<mark>[+−-])(?= )|^[│ ]*[├└]─ (?P<leaf>[=x∅])(?= )"
    r"|(?:^|  )(?P<level>icedive|ok|error|fatal|warning|incomplete)(?=  |:|$| [\w-]+ \(\d+\):)"
    r"|(?<!\S)(?P<word>ADDED|EXISTING|DELETED|⚠|!!)(?!\S)",
    re.MULTILINE,
)


def screen_options(is_global: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add --wide, --timezone, --color and --no-pager. Those before a command are global, and have variables."""
    variable = "ICEDIVE_TIMEZONE" if is_global else None

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in (
            click.option("--no-pager", is_flag=True, callback=_keep, expose_value=False, help="Show no pager."),
            click.option(
                "--color", type=click.Choice([*COLORS]), callback=_keep, expose_value=False,
                help="Whether text has colour: auto is on terminals, without NO_COLOR.",
            ),
            click.option(
                "--timezone", metavar="ZONE", envvar=variable, callback=_keep_zone, expose_value=False,
                shell_complete=_zones,
                help="Show times of metadata in this zone, such as Europe/Berlin or local, instead of UTC. "
                "A time that you give is UTC unless it has a zone. JSON stays UTC.",
            ),
            click.option(
                "--wide", is_flag=True, callback=_keep, expose_value=False, help="Show all columns, and cut no cell."
            ),
        ):  # fmt: skip
            command = option(command)
        return command

    return decorate


def _keep(context: click.Context, option: click.Parameter, value: Any) -> None:
    if value:
        context.meta[f"screen.{option.name}"] = value


def _keep_zone(context: click.Context, option: click.Parameter, value: str | None) -> None:
    """Keep the zone with a name; None is that of this machine. Raises BadParameter."""
    from zoneinfo import ZoneInfo

    if value:
        try:
            zone = None if value == "local" else datetime.timezone.utc if value == "UTC" else ZoneInfo(value)
        except (LookupError, ValueError, OSError) as error:
            raise click.BadParameter(f"no time zone {value!r}: say Europe/Berlin, UTC or local") from error
        context.meta["screen.timezone"] = zone


def _zones(_: click.Context, __: click.Parameter, begun: str) -> list[str]:
    from zoneinfo import available_timezones

    return sorted(zone for zone in {"local", *available_timezones()} if zone.startswith(begun))


def chosen(name: str, default: Any = None) -> Any:
    """Return what was given for an option."""
    context = click.get_current_context(silent=True)
    return context.meta.get(f"screen.{name}", default) if context else default


@contextmanager
def text_settings() -> Iterator[None]:
    """Text that is made in the block has the zone and the width that were asked for."""
    from explorer.render.text import WIDE
    from explorer.spec.text.units import TIME_ZONE

    zone, wide = TIME_ZONE.set(chosen("timezone", datetime.timezone.utc)), WIDE.set(chosen("wide", False))
    try:
        yield
    finally:
        TIME_ZONE.reset(zone)
        WIDE.reset(wide)


def width() -> int:
    """Return how many columns text has."""
    return shutil.get_terminal_size((160, 24)).columns if sys.stdout.isatty() else WIDTH


def show(texts: Iterable[str], in_pages: bool = True) -> None:
    """Print texts, without terminal commands of others: in colour, and in pages if a terminal has no room for them."""
    color = _has_color(sys.stdout)
    cleaned: Iterator[str] = (f"{_paint(printable(text)) if color else printable(text)}\n" for text in texts)
    if in_pages and sys.stdin.isatty() and sys.stdout.isatty() and not chosen("no_pager"):
        columns, left = shutil.get_terminal_size()
        first: list[str] = []
        for text in cleaned:
            first.append(text)
            left -= sum(1 + max(0, len(line) - 1) // columns for line in click.unstyle(text).splitlines())
            if left < 1:
                if isinstance(watch := listener(), Teller):
                    watch.is_silent = True  # the screen is the pager's
                click.echo_via_pager(chain(first, cleaned), color or None)
                return
        cleaned = iter(first)
    for text in cleaned:
        click.echo(text, nl=False, color=color)


def _has_color(file: TextIO) -> bool:
    is_plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not file.isatty()
    given = COLORS[chosen("color", "auto")]
    return not is_plain if given is None else given


def _paint(text: str) -> str:
    """Color statuses, levels and problems in lines of text."""

    def paint(match: re.Match[str]) -> str:
        word = match[match.lastgroup or 0]
        return match[0].removesuffix(word) + click.style(word, fg=HUES[word])

    return COLORED.sub(paint, text)


class Teller(Watch):
    """Prints on stderr, once, what is to be known of an answer; on a terminal also how far the work is."""

    is_silent = False

    def say(self, text: str) -> None:
        if text != self.note:
            say(text)
        super().say(text)

    def tell(self, done: int, total: int, what: str) -> None:
        super().tell(done, total, what)
        if sys.stderr.isatty() and not self.is_silent:
            number = f"{done:,} of {total:,} " if total else f"{done:,} " if done else ""
            text = printable(f"{number}{what}")[: shutil.get_terminal_size().columns - 1]
            click.echo(f"\r\x1b[K{text}", err=True, nl=False, color=True)


def say(message: str) -> None:
    """Print a message on stderr, without terminal commands and credentials, whatever a table or an error contains."""
    color = _has_color(sys.stderr)
    text = safe(message)
    click.echo(_paint(text) if color else text, err=True, color=color)


def safe(message: str) -> str:
    """Return a message without terminal commands and credentials."""
    from explorer.spec.secrets.redaction import redact

    return printable(redact(message))


def printable(text: str) -> str:
    """Return lines of text without terminal commands."""
    from explorer.spec.text.printable import printable_lines

    return printable_lines(text)
