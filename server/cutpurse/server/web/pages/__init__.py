"""The pages, a module each: what is asked for it, and which template shows it."""
