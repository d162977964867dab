"""Playing: what a match needs that is played here: its seats, its processes, and an end of all that it started."""
