"""Streams: how a bot is let in, and its session lives through any number of streams.

`link` holds the rules of a stream and `session` what outlasts it, both without I/O; `service` is gRPC. What all of it
asks of the matches stands in `matches`.
"""
