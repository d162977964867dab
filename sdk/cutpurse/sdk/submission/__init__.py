"""Submissions: a folder with a bot, described by bot.toml, packed, and sent to a server that runs it."""
