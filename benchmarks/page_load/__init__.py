"""Readers and people on the page, and what they cost the bots beside them."""
