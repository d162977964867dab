"""Hosting: an arena as a process.

`open_arena` builds an arena and `arena` runs it. The other modules are its settings and address, the programs that it
starts, and its metrics and health checks.
"""
