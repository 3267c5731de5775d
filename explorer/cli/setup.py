"""What is configured here, and completion for shells."""

from __future__ import annotations

import os
from typing import Any

import click

from explorer.cli.base import COMMAND, main
from explorer.cli.output import FORMATS, output_option, print_object


@main.command()
@output_option(*FORMATS)
def config(output: str) -> None:
    """Show which folders, catalogs, Java and environment variables are used here; no secret is shown."""
    from explorer.render.text import render_fields
    from explorer.storage.catalogs.catalogs import catalog_names, default_name
    from explorer.storage.data_dirs import PREFIX, SECRET_VARIABLES, VARIABLES, cache_home, data_home

    data: dict[str, Any] = {
        "sandbox": str(data_home()),
        "cache": str(cache_home()),
        "catalogs": catalog_names(),
        "default_catalog": default_name(),
        "java": _java(),
    }
    for name, about in VARIABLES.items():
        value = os.environ.get(f"{PREFIX}{name}")
        data[f"{PREFIX}{name}"] = (
            f"not set: {about}" if value is None else "(set)" if name in SECRET_VARIABLES else value
        )
    print_object(data, output, lambda: render_fields(data | {"catalogs": ", ".join(data["catalogs"])}))


def _java() -> str:
    from explorer.errors import EngineError
    from explorer.spark_engine.java import find_java

    try:
        return f"{(java := find_java()).command} (version {java.version}, {java.origin})"
    except EngineError as error:
        return str(error)


@main.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print what a shell needs to complete commands and options, to be put into its start file."""
    from click.shell_completion import get_completion_class

    script_class = get_completion_class(shell)
    assert script_class is not None  # click has these
    variable = f"_{COMMAND.upper().replace('-', '_')}_COMPLETE"
    click.echo(script_class(main, {}, COMMAND, variable).source())
