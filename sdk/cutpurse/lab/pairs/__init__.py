"""Pairs of bots that gain together: tests over the results and records of a ladder, with a false discovery rate."""
