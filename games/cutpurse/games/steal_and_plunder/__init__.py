"""Steal & Plunder: form packs of ill-gotten wealth, and take the packs of the others before they are covered."""
