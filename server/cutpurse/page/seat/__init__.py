"""A seat in the browser: a person plays as a bot of the server, and the browser gets what that bot is sent."""
