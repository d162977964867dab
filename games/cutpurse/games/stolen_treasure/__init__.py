"""Stolen Treasure: bury treasure before somebody steals it, and answer piracy with piracy."""
