"""What the arena does in a second, what it costs, and how long bots wait: real processes over loopback."""
