"""A bot in a folder, told of by bot.toml, packed, and handed in to a server that runs it."""
