"""The page for spectators: who leads and how sure that is, how each match went and why it was lost."""
