"""OnceGate in machine code: `python -m compiling` makes a copy of the tree in which the hot path is compiled by mypyc."""
