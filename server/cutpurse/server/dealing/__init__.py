"""Matches that workers play, as the server sees them: dealt, put into a queue, and checked when they come back."""
