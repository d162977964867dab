"""What a bot author uses: the bot class, local play and the command line; it knows no server code."""
