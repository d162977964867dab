"""Tournaments: a fixed list of bots, a format, and a table at the end.

`written` reads the file, `formats` says who meets whom, `seats` who sits where, `here` and `there` play (in this
process, or on a server), `journal` keeps what was played, `standings` makes the table, and `course` ties them together.
"""
