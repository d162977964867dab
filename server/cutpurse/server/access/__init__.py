"""Access: tokens, whom they let in, and for what."""
