"""The command line: thin commands over explorer.Table. Data goes to stdout, messages to stderr."""

# Help lists the commands in this order.
# isort: off
from explorer.cli import tables as tables
from explorer.cli import pages as pages
from explorer.cli import doctor as doctor
from explorer.cli import health as health
from explorer.cli import overview as overview
from explorer.cli import changes as changes
from explorer.cli import rows as rows
from explorer.cli import plans as plans
from explorer.cli import writes as writes
from explorer.cli import lab as lab
from explorer.cli import course as course
from explorer.cli.base import main

__all__ = ["main"]
