"""The league: what is told to whom of games, ladders, bots and matches, and how ladders are steered.

`league` says who may see what; `ladder_service` and `game_service` say it over gRPC, and `file` without a server.
"""
