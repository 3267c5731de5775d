"""`python -m explorer.cli`."""

from explorer.cli import main

main()
