"""Events: tournaments, series of seasons and version tests, which the server plays by itself."""
