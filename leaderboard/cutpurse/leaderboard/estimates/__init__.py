"""Estimates: ratings fitted to all results of a ladder at once, with intervals."""
