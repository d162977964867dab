"""Bots that are handed in: taken apart, built, checked, and kept running on the ladders."""
