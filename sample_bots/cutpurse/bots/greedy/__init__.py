"""What the greedy bot answers, a module a game.

Each has `ANSWERS`: by the name of a question the function that answers it. Such a function looks at the view and the
decision in front of it, and remembers, tries out and guesses nothing. Beat it.
"""

__all__: list[str] = []
