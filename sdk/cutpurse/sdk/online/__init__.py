"""Online: a bot plays on a server.

`client` keeps the connection and `session` what is said on it, without I/O; `remote` has the bots of the open matches.
"""
