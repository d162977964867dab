"""The arena: it admits bots, seats them, sends them decisions, and stores the results."""
