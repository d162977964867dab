"""Calls that an arena passes on to the arena that plays their ladder."""
