"""Results of matches, kept for good, and the TrueSkill ratings that follow from them."""
