"""The league: queries about games, ladders, bots and matches, and the management of ladders.

`league_queries` decides who may see what. `ladder_service` and `game_service` answer over gRPC, and `file` without a
server.
"""
