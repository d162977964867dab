"""Matches of a league or of a file, read: for commands, the page and research."""
