"""Tournaments: a fixed list of bots, a format, and a table at the end.

`tournament_file` reads the file, `formats` and `schedule` decide who meets whom, `seats` who sits where.
`local_backend` and `server_backend` play, `progress_log` stores what was played, `tournament_table` makes the table,
and `runner` ties them together.
"""
