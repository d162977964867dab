"""Access: tokens, and the authentication and authorization of calls."""
