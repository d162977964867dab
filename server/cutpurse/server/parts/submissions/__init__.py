"""Submitted bots: unpacked, built, checked, and run on the ladders by the server."""
