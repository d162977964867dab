"""The HTTP API of a league: JSON and CSV."""
