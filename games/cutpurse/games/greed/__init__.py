"""Greed: raid the other hands card by card, and stop before the same number comes twice."""
