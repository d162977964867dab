"""Streams: how a bot is admitted, and how its session lives through any number of streams.

`link` holds the rules of a stream and `server_session` what outlasts it, both without I/O. `arena_service` is the gRPC
side. `match_port` lists everything that they require of the matches.
"""
