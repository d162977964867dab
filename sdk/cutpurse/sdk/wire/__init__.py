"""The wire in both directions: what a match tells a bot as bytes, and those bytes as a view again."""
