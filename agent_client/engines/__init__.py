"""Engines that run many tasks on many machines. Each is imported by its own name, with the extra of that name."""
