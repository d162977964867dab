"""Permanently stored match results, and the TrueSkill ratings that follow from them."""
