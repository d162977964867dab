"""What `cutpurse bot init` writes: a bot for each game, its tests and a page, as text with places to fill."""
