"""How much luck is in the cards of each game, what boards of several matches save, what a ladder begins with."""
