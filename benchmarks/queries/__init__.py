"""The read side of the leaderboard at a million matches."""
