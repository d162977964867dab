"""Answers of the greedy bot, one module per game.

Each module has `ANSWERS`: for each kind of decision, the function that answers it. The function looks only at the view
and the decision. It remembers nothing, and neither searches nor guesses. Beat it.
"""

__all__: list[str] = []
