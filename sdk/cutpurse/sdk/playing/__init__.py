"""Matches played on this machine: seats, worker processes, and the cleanup after a run."""
