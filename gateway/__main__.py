"""`python -m gateway` is `oncegate`."""

from gateway.cli.group import main

main()
