"""The command line: commands generated from the registry, and those that host the product. Data goes to stdout,
messages to stderr."""

from explorer.cli import agents, catalogs, course, documents, export, sandbox, setup
from explorer.cli.base import main
from explorer.cli.commands import add_commands

add_commands()

__all__ = ["agents", "catalogs", "course", "documents", "export", "main", "sandbox", "setup"]
