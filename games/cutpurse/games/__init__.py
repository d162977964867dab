"""The games that can be played, and their rules; it knows nothing of bots, servers or files."""
