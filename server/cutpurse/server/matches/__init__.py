"""Matches: pairing, play with clocks, and storing of results.

Start reading at `lobby`. `match_start` begins matches, `matchmaking` chooses their bots, `server_match` plays one, and
`storing` passes its result on. Nothing here knows a stream, a socket or a thread.
"""
