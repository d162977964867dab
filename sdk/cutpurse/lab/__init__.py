"""Matches by the thousand with a question: is a version better, and who wins a tournament."""
