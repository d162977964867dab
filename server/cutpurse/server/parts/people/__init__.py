"""People's seats: people play on the server's page, against house bots, with friends, or rated as owners."""
