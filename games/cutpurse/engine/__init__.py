"""What every game is made of: zones of cards, an agenda of steps, one stream of chance.

Time is handed in and never read. This package knows no network, no database, no protobuf and no game.
"""
