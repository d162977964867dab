"""The server's commands, one module each. What a command needs is imported when it runs."""
