"""Formats of events, as arithmetic alone: the server and local runs share them. Nothing of the project is imported."""
