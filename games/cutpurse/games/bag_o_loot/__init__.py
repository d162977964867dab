"""Bag-O-Loot: open, steal and bag sets of five, find the looters again, and be the first to empty the hand."""
