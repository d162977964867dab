"""The arena: where bots are let in, seated and asked, and what they do is kept."""
