"""`python -m katapi`: the same as the `katapi` command."""

from katapi.cli import main

main()
