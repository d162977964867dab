"""Hosting: an arena as a process.

`open_arena` puts one together and `host` runs it. The rest is its settings and its address, the programs that it
starts, and what is shown to whoever runs it.
"""
