"""The speed, cost and latency of the arena, measured with real processes over loopback."""
