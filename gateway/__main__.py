"""`python -m gateway` is `oncegate`."""

from gateway.cli import main

main()
