"""Where programs of strangers run: one contract, and what keeps it, with isolation or without."""
