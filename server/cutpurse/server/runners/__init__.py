"""Runners for untrusted programs: one contract, and its implementations with and without isolation."""
