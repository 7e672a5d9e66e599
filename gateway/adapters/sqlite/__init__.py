"""Operation records in one SQLite file, shared by the processes of one host."""
