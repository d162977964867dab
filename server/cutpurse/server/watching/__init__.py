"""Watching: matches are followed as they are played."""
