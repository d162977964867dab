"""The sample bots; each sees only what its seat may see."""
