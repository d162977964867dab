"""The files that `cutpurse bot init` writes: a bot for each game, its tests and a page, as text templates."""
