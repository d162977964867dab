"""The yardstick: how strong an agent is, from 0 to 100, on fixed deals against fixed opponents."""
