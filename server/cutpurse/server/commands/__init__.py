"""The server's commands, one module each; what they import is imported when they run."""
