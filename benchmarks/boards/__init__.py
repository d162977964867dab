"""The luck of the cards in each game, the savings by boards of several matches, and initial parameters of ladders."""
