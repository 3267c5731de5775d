"""Catalogs of one's own: add one, with a test of its connection, and remove it."""

from __future__ import annotations

import sys
from collections.abc import Mapping

import click

from explorer.cli.base import FAILED, fail, group, pairs
from explorer.cli.output import FORMATS, output_option, print_object
from explorer.errors import ExplorerError, WrongUsage

catalog = group("catalog")


@catalog.command()
@click.argument("name")
@click.option("--type", "kind", type=click.Choice(["rest", "glue", "hive", "sql", "dynamodb"]), required=True)
@click.option("--uri", default="", help="The address of its server or database.")
@click.option("--warehouse", default="", help="Its warehouse.")
@click.option(
    "--property", "-p", "properties", multiple=True, metavar="KEY=VALUE", help="A catalog or storage property."
)
@click.option(
    "--secret", "secrets", multiple=True, metavar="KEY[=env:VARIABLE]",
    help="A secret property, such as token: it is asked for, and kept in the system's keyring. With env:VARIABLE it is "
    "read from the environment each time.",
)  # fmt: skip
@click.option("--no-test", is_flag=True, help="Add it without a test of the connection.")
@output_option(*FORMATS)
def add(
    name: str, kind: str, uri: str, warehouse: str, properties: tuple[str, ...], secrets: tuple[str, ...],
    no_test: bool, output: str,
) -> None:  # fmt: skip
    """Add a catalog under NAME, for every question and the page.

    Its properties are written to a file of the data folder; a secret among them is refused (--secret). First its
    connection is tested: what cannot be reached is not added."""
    from explorer.render.text import render_fields
    from explorer.storage.catalogs.added_catalogs import KEYRING, check_catalog
    from explorer.storage.catalogs.new_catalogs import add_new

    given = {"type": kind, "uri": uri, "warehouse": warehouse, **pairs(properties, "--property", "KEY=VALUE")}
    given = {key: value for key, value in given.items() if value}
    places = {key: place or KEYRING for key, _, place in (secret.partition("=") for secret in secrets)}
    try:
        check_catalog(name, given, places)  # before anything is asked for
        typed = {key: _ask(key) for key, place in places.items() if place == KEYRING}
        file, namespaces = add_new(name, given, places, typed, not no_test)
    except WrongUsage as error:
        raise click.UsageError(str(error)) from None
    except ExplorerError as error:
        fail(error, FAILED)
    told: Mapping[str, object] = {
        "catalog": name, "file": str(file), "properties": given, "secrets": places, "namespaces": namespaces,
    }  # fmt: skip
    print_object(told, output, lambda: render_fields(_fields(told)))


@catalog.command()
@click.argument("name")
@output_option(*FORMATS)
def remove(name: str, output: str) -> None:
    """Remove a catalog that was added, and its secrets from the system's keyring."""
    from explorer.storage.catalogs.added_catalogs import remove_catalog

    try:
        remove_catalog(name)
    except WrongUsage as error:
        raise click.UsageError(str(error)) from None
    except ExplorerError as error:
        fail(error, FAILED)
    print_object({"removed": name}, output, lambda: f"{name} is no catalog here any more.")


def _ask(key: str) -> str:
    """The value of a secret: typed where nobody sees it, or the first line of what is piped in."""
    if sys.stdin.isatty():
        return str(click.prompt(key, hide_input=True))
    value = sys.stdin.readline().rstrip("\n")
    if not value:
        raise WrongUsage(f"{key}: type it, or pipe it in, or name a variable that has it (KEY=env:VARIABLE)")
    return value


def _fields(told: Mapping[str, object]) -> dict[str, str]:
    """What was added, for people; no secret is among it."""
    namespaces = told["namespaces"]
    properties, places = told["properties"], told["secrets"]
    assert isinstance(properties, Mapping)
    assert isinstance(places, Mapping)
    fields = {
        "catalog": str(told["catalog"]),
        "properties": ", ".join(f"{key}={value}" for key, value in properties.items()),
        "secrets": ", ".join(f"{key} from {place}" for key, place in places.items()),
        "tested": "no" if namespaces is None else f"it answers, with {namespaces} namespaces",
        "file": str(told["file"]),
    }
    return {key: value for key, value in fields.items() if value}
